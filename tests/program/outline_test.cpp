#include "compiler/program/outline.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <set>
#include <string>

#include "compiler/compile.h"
#include "compiler/image/build.h"
#include "compiler/lower/lower.h"
#include "compiler/ops/op.h"
#include "sim/run_image.h"
#include "tests/program/plan_interpreter.h"

namespace superstep {
namespace {

/// `%y` and the number of the step: `x` divided by the mean of its elements.
std::string mean_step(int step, const std::string& x, int elements) {
  return fmt::format(
      "%r{0} = stablehlo.reduce({1} init: %z) applies stablehlo.add across dimensions = [0] : "
      "(tensor<{2}xf32>, tensor<f32>) -> tensor<f32>\n"
      "%m{0} = stablehlo.multiply %r{0}, %c : tensor<f32>\n"
      "%b{0} = stablehlo.broadcast_in_dim %m{0}, dims = [] : (tensor<f32>) -> tensor<{2}xf32>\n"
      "%y{0} = stablehlo.divide {1}, %b{0} : tensor<{2}xf32>\n",
      step, x, elements);
}

/// `steps` times: the mean of all, and all divided by it. `shrinks` by so many elements a step.
std::string chain(int steps, int elements, int shrinks = 0) {
  const int last = elements - steps * shrinks;
  std::string text = fmt::format(
      "func.func @main(%x: tensor<{}xf32>) -> tensor<{}xf32> {{\n"
      "%z = stablehlo.constant dense<0.0> : tensor<f32>\n"
      "%c = stablehlo.constant dense<{}> : tensor<f32>\n",
      elements, last, 1.0 / elements);
  std::string x = "%x";
  for (int k = 0; k < steps; ++k) {
    const int n = elements - (k + 1) * shrinks;
    if (shrinks > 0) {
      text += fmt::format(
          "%s{0} = \"stablehlo.slice\"({1}) <{{start_indices = array<i64: 0>, limit_indices = "
          "array<i64: {3}>, strides = array<i64: 1>}}> : (tensor<{2}xf32>) -> tensor<{3}xf32>\n",
          k, x, n + shrinks, n);
      x = fmt::format("%s{}", k);
    }
    text += mean_step(k, x, n);
    x = fmt::format("%y{}", k);
  }
  return text + fmt::format("return {} : tensor<{}xf32>\n}}", x, last);
}

/// Layers of a product with weights of their own, and tanh.
std::string layers(int count) {
  std::string arguments = "%x: tensor<8x16xf32>", body, x = "%x";
  for (int k = 0; k < count; ++k) {
    arguments += fmt::format(", %w{}: tensor<16x16xf32>", k);
    body += fmt::format(
        "%p{0} = stablehlo.dot_general {1}, %w{0}, contracting_dims = [1] x [0] : "
        "(tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>\n"
        "%t{0} = stablehlo.tanh %p{0} : tensor<8x16xf32>\n",
        k, x);
    x = fmt::format("%t{}", k);
  }
  return fmt::format(
      "func.func @main({}) -> tensor<8x16xf32> {{\n{}return {} : tensor<8x16xf32>\n}}", arguments,
      body, x);
}

struct Case {
  Module module;
  std::vector<HostTensor> arguments, expected;
  std::vector<TensorType> types;
};

Case case_of(const std::string& text, float scale) {
  Case c{import_stablehlo(text, "test.mlir"), {}, {}, {}};
  for (const ValueId a : c.module.main.arguments()) {
    HostTensor& tensor = c.arguments.emplace_back(c.module.main.type(a));
    for (std::size_t i = 0; i < static_cast<std::size_t>(tensor.type.elements()); ++i) {
      tensor.set(i, scale * (1 + 0.25F * std::sin(static_cast<float>(i))));
    }
  }
  for (const ValueId r : c.module.main.results()) c.types.push_back(c.module.main.type(r));
  c.expected = evaluate(c.module.main, c.arguments);
  return c;
}

void expect_near(const HostTensor& found, const HostTensor& expected, float tolerance) {
  ASSERT_EQ(found.type, expected.type);
  for (std::size_t i = 0; i < static_cast<std::size_t>(found.type.elements()); ++i) {
    const float e = expected.get<float>(i);
    ASSERT_NEAR(found.get<float>(i), e, tolerance * std::abs(e)) << "element " << i;
  }
}

TEST(Outline, StepsThatRepeatBecomeAProcedureThatComputesTheSame) {
  const Case c = case_of(chain(48, 256), 1);
  LoweredProgram program = lower(c.module, load_machine("tiny4"));
  const std::size_t executed = executions_of(program).size();
  const std::vector<HostTensor> before = PlanInterpreter(program).run(c.arguments, c.types);
  outline_repeats(program);
  EXPECT_GT(calls_of(program).size(), 8U);
  EXPECT_EQ(executions_of(program).size(), executed);
  EXPECT_LT(supersteps_of(program).size(), executed / 4);
  EXPECT_EQ(PlanInterpreter(program).run(c.arguments, c.types)[0].data, before[0].data);
}

TEST(Outline, WhatUsesTheWeightsOfALayerStaysInMain) {
  const Case c = case_of(layers(24), 0.125F);
  LoweredProgram program = lower(c.module, load_machine("tiny4"));
  const std::vector<HostTensor> before = PlanInterpreter(program).run(c.arguments, c.types);
  outline_repeats(program);
  EXPECT_EQ(PlanInterpreter(program).run(c.arguments, c.types)[0].data, before[0].data);
  for (const Procedure& procedure : program.procedures) {
    for (const BufferId formal : procedure.formals) {
      EXPECT_EQ(program.buffers[index(formal)].kind, Buffer::Kind::kTemporary);
    }
  }
}

/// A training step: layers of a product and tanh, of which all results are kept for the way back,
/// where each layer's weights change in their place.
std::string training(int count) {
  const std::string x = "tensor<8x16xf32>", w = "tensor<16x16xf32>";
  std::string arguments, results, types, body;
  std::string at = "%x", error = "%e";
  for (int k = 0; k < count; ++k) {
    arguments += fmt::format("%w{}: {} {{tf.aliasing_output = {} : i32}}, ", k, w, k);
    body += fmt::format(
        "%p{0} = stablehlo.dot_general {1}, %w{0}, contracting_dims = [1] x [0] : ({2}, {3}) -> "
        "{2}\n%t{0} = stablehlo.tanh %p{0} : {2}\n",
        k, at, x, w);
    at = fmt::format("%t{}", k);
  }
  for (int k = count; k-- > 0;) {
    body += fmt::format(
        "%h{0} = stablehlo.multiply {1}, %t{0} : {2}\n"
        "%g{0} = stablehlo.dot_general {4}, %h{0}, contracting_dims = [0] x [0] : ({2}, {2}) -> "
        "{3}\n%u{0} = stablehlo.subtract %w{0}, %g{0} : {3}\n"
        "%e{0} = stablehlo.dot_general %h{0}, %w{0}, contracting_dims = [1] x [1] : ({2}, {3}) -> "
        "{2}\n",
        k, error, x, w, k == 0 ? "%x" : fmt::format("%t{}", k - 1));
    error = fmt::format("%e{}", k);
  }
  for (int k = 0; k < count; ++k) {
    results += fmt::format("%u{}, ", k);
    types += w + ", ";
  }
  return fmt::format(
      "func.func @main({0}%x: {1}, %e: {1}) -> ({2}{1}) {{\n{3}return {4}{5} : {2}{1}\n}}",
      arguments, x, types, body, results, error);
}

std::size_t exchanges_of(const LoweredProgram& program) {
  return static_cast<std::size_t>(std::ranges::count_if(
      supersteps_of(program), [](const Superstep* step) { return !step->movements.empty(); }));
}

TEST(Outline, LayersOfATrainingStepShareCodeOnCopiesOfTheirWeights) {
  const Case c = case_of(training(12), 0.125F);
  LoweredProgram program = lower(c.module, load_machine("tiny4"));
  const std::size_t exchanges = exchanges_of(program);
  const std::vector<HostTensor> before = PlanInterpreter(program).run(c.arguments, c.types);
  outline_repeats(program, OutlineEffort::kLeastCode);
  EXPECT_LT(exchanges_of(program), exchanges / 2);
  const std::vector<HostTensor> after = PlanInterpreter(program).run(c.arguments, c.types);
  for (std::size_t r = 0; r < before.size(); ++r) EXPECT_EQ(after[r].data, before[r].data) << r;
  for (const Procedure& procedure : program.procedures) {
    for (const BufferId formal : procedure.formals) {
      EXPECT_EQ(program.buffers[index(formal)].kind, Buffer::Kind::kTemporary);
    }
  }
  ASSERT_FALSE(program.events.empty());
  EXPECT_EQ(program.events.back().operation, "repeated steps");
}

TEST(Outline, ATrainingStepThatSavesCodeRunsInLessOfIt) {
  const Case c = case_of(training(12), 0.125F);
  const MachineConfig machine = load_machine("tiny4");
  const auto image_of = [&](bool saves_code) {
    return build_image(c.module, machine, lower(c.module, machine), {}, {}, false, saves_code);
  };
  const auto code_of = [](const ProgramImage& image) {
    const auto at = std::ranges::find(image.info.memory, "exchange_code", &MemoryCategory::name);
    return std::ranges::max(at->bytes_by_tile);
  };
  const ProgramImage image = image_of(true);
  EXPECT_LT(code_of(image), code_of(image_of(false)) * 2 / 3);
  const RunResult run = run_image(image, c.arguments, {});
  ASSERT_FALSE(run.trap) << run.trap->text();
  for (std::size_t r = 0; r < c.expected.size(); ++r) {
    expect_near(run.results[r], c.expected[r], 1e-4F);
  }
}

TEST(Outline, CopiesForACallHaveThePlaceOfWhatIsCalled) {
  const Case c = case_of(training(12), 0.125F);
  const MachineConfig machine = load_machine("tiny4");
  const ProgramImage image =
      build_image(c.module, machine, lower(c.module, machine), {}, {}, false, true);
  const std::vector<StepInfo>& steps = image.info.steps;
  int copies = 0;
  for (std::size_t s = 0; s + 1 < steps.size(); ++s) {
    if (!steps[s].name.starts_with("procedure.") || !steps[s].name.ends_with(".operands")) continue;
    ++copies;
    ASSERT_TRUE(steps[s + 1].shared_code) << "the call follows";
    EXPECT_TRUE(
        steps[s].name.starts_with("procedure." + std::to_string(*steps[s + 1].shared_code)));
    EXPECT_GT(steps[s].source.module.line, 0U) << steps[s].name;
    EXPECT_EQ(steps[s].source, steps[s + 1].source) << steps[s].name;
  }
  EXPECT_GT(copies, 0);
}

TEST(Outline, ATrainingStepWithTooMuchCodeForTheMachineIsCompiledInLess) {
  const Case c = case_of(training(24), 0.125F);
  MachineConfig machine = load_machine("tiny4");
  machine.tile.region1_base = machine.tile.memory_base + 2 * machine.tile.element_bytes;
  EXPECT_THROW((void)build_image(c.module, machine, lower(c.module, machine), {}, {}, false),
               DoesNotFit);
  const ProgramImage image = compile(c.module, machine);
  ASSERT_FALSE(image.info.events.empty());
  EXPECT_EQ(image.info.events.back().operation, "repeated steps");
  const RunResult run = run_image(image, c.arguments, {});
  ASSERT_FALSE(run.trap) << run.trap->text();
  for (std::size_t r = 0; r < c.expected.size(); ++r) {
    expect_near(run.results[r], c.expected[r], 1e-4F);
  }
}

TEST(Outline, ActualBuffersOfOneFormalAreNeverInUseAtOnce) {
  LoweredProgram program = lower(case_of(chain(24, 256), 1).module, load_machine("tiny4"));
  outline_repeats(program);
  const std::vector<Lifetime> lifetimes = lifetimes_of(program);
  std::size_t bound = 0;
  for (const Step& step : program.main.steps) {
    const auto* call = std::get_if<Call>(&step);
    if (call == nullptr) continue;
    for (const auto& [formal, actual] : call->bindings) {
      ++bound;
      const Lifetime& a = lifetimes[index(formal)];
      const Lifetime& b = lifetimes[index(actual)];
      EXPECT_TRUE(a.last < b.first || b.last < a.first);
    }
  }
  EXPECT_GT(bound, 0U);
}

/// A module that calls a function of a tensor: `steps` times the mean of all, and all divided by
/// it.
std::string calling(const std::string& arguments, int steps, const std::string& main) {
  std::string f, x = "%x";
  for (int k = 0; k < steps; ++k) {
    f += mean_step(k, x, 256);
    x = fmt::format("%y{}", k);
  }
  return fmt::format(
      "func.func @main({}) -> tensor<256xf32> {{\n{}}}\n"
      "func.func private @f(%x: tensor<256xf32>) -> tensor<256xf32> {{\n"
      "%z = stablehlo.constant dense<0.0> : tensor<f32>\n"
      "%c = stablehlo.constant dense<0.004> : tensor<f32>\n"
      "{}return {} : tensor<256xf32>\n}}\n",
      arguments, main, f, x);
}
std::string call(const std::string& y, const std::string& x) {
  return fmt::format("%{} = func.call @f(%{}) : (tensor<256xf32>) -> tensor<256xf32>\n", y, x);
}
/// A loop from %x to %`y` with a body from %u`y` to %v`y`.
std::string loop(const std::string& y, const std::string& x, int trips, const std::string& body) {
  return fmt::format(
      "%n{0} = stablehlo.constant dense<{2}> : tensor<i32>\n"
      "%o{0} = stablehlo.constant dense<1> : tensor<i32>\n"
      "%s{0} = stablehlo.constant dense<0> : tensor<i32>\n"
      "%w{0}:2 = stablehlo.while(%i{0} = %s{0}, %u{0} = %{1}) : tensor<i32>, tensor<256xf32>\n"
      "cond {{\n"
      "%p{0} = stablehlo.compare LT, %i{0}, %n{0}, SIGNED : (tensor<i32>, tensor<i32>) -> "
      "tensor<i1>\nstablehlo.return %p{0} : tensor<i1>\n"
      "}} do {{\n{3}"
      "%j{0} = stablehlo.add %i{0}, %o{0} : tensor<i32>\n"
      "stablehlo.return %j{0}, %v{0} : tensor<i32>, tensor<256xf32>\n}}\n"
      "%k{0} = stablehlo.constant dense<1.5> : tensor<256xf32>\n"
      "%{0} = stablehlo.multiply %w{0}#1, %k{0} : tensor<256xf32>\n",
      y, x, trips, body);
}
std::string returned(const std::string& y) {
  return fmt::format("return %{} : tensor<256xf32>\n", y);
}

const std::string kVector = "%x: tensor<256xf32>";

/// Outlines a program, which computes the same then on the host and on tiles.
LoweredProgram expect_same_outlined(const Case& c, OutlineEffort effort) {
  const MachineConfig machine = load_machine("tiny4");
  LoweredProgram program = lower(c.module, machine);
  const std::vector<HostTensor> before = PlanInterpreter(program).run(c.arguments, c.types);
  outline_repeats(program, effort);
  EXPECT_EQ(PlanInterpreter(program).run(c.arguments, c.types)[0].data, before[0].data);
  const ProgramImage image = build_image(c.module, machine, lower(c.module, machine), {}, {}, false,
                                         effort == OutlineEffort::kLeastCode);
  const RunResult run = run_image(image, c.arguments, {});
  EXPECT_FALSE(run.trap) << run.trap->text();
  if (!run.trap) expect_near(run.results[0], c.expected[0], 1e-4F);
  return program;
}

bool has_loop(const Block& block) {
  return std::ranges::any_of(block.steps,
                             [](const Step& step) { return std::holds_alternative<Loop>(step); });
}

/// Twelve loops of three calls each, one after the other.
std::string calling_in_loops() {
  std::string main, x = "x";
  for (int k = 0; k < 12; ++k) {
    const std::string y = fmt::format("y{}", k);
    main += loop(y, x, 3, call("v" + y, "u" + y));
    x = y;
  }
  return calling(kVector, 1, main + returned(x));
}

TEST(Outline, AFunctionWithALoopInsideThatIsCalledSeveralTimesIsThereOnce) {
  const LoweredProgram program =
      expect_same_outlined(case_of(calling_in_loops(), 1), OutlineEffort::kFree);
  const auto loops = std::ranges::count_if(
      program.procedures, [](const Procedure& procedure) { return has_loop(procedure.block); });
  EXPECT_EQ(loops, 1);
  EXPECT_LE(
      std::ranges::count_if(program.main.steps,
                            [](const Step& step) { return std::holds_alternative<Loop>(step); }),
      2);
  // Two at a time: what one leaves and what the next one makes of it are alive at once.
  EXPECT_EQ(calls_of(program).size(), 6U);
}

TEST(Outline, ALayerThatTheBodyOfALoopHasSeveralTimesIsCalledThere) {
  std::string body, x = "uy";
  for (int k = 0; k < 12; ++k) {
    const std::string y = k == 11 ? "vy" : fmt::format("a{}", k);
    body += call(y, x);
    x = y;
  }
  const LoweredProgram program =
      expect_same_outlined(case_of(calling(kVector, 1, loop("y", "x", 5, body) + returned("y")), 1),
                           OutlineEffort::kFree);
  EXPECT_GE(calls_of(program).size(), 4U);
  for (const Step& step : program.main.steps) EXPECT_FALSE(std::holds_alternative<Call>(step));
}

TEST(Outline, AFunctionThatMainALoopAndBothArmsOfABranchCallIsThereOnce) {
  const std::string main =
      call("a", "x") + loop("b", "a", 3, call("vb", "ub")) +
      "%zero = stablehlo.constant dense<0.0> : tensor<f32>\n"
      "%t = stablehlo.reduce(%b init: %zero) applies stablehlo.maximum across dimensions = [0] "
      ": "
      "(tensor<256xf32>, tensor<f32>) -> tensor<f32>\n"
      "%g = stablehlo.compare LT, %t, %zero, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
      "%h = stablehlo.convert %g : (tensor<i1>) -> tensor<i32>\n"
      "%d = \"stablehlo.case\"(%h) ({\n" +
      call("e", "b") + "stablehlo.return %e : tensor<256xf32>\n}, {\n" +
      "%half = stablehlo.constant dense<0.5> : tensor<256xf32>\n"
      "%l = stablehlo.multiply %b, %half : tensor<256xf32>\n" +
      call("m", "l") +
      "stablehlo.return %m : tensor<256xf32>\n}) : (tensor<i32>) -> tensor<256xf32>\n";
  const Case c = case_of(calling(kVector, 12, main + returned("d")), 1);
  LoweredProgram plain = lower(c.module, load_machine("tiny4"));
  const LoweredProgram program = expect_same_outlined(c, OutlineEffort::kLeastCode);
  EXPECT_LT(supersteps_of(program).size(), supersteps_of(plain).size() / 2);
  const auto calls_in = [](const Block& block) {
    return std::ranges::count_if(
        block.steps, [](const Step& step) { return std::holds_alternative<Call>(step); });
  };
  EXPECT_GE(calls_in(program.main), 1);
  for (const Step& step : program.main.steps) {
    if (const auto* its_loop = std::get_if<Loop>(&step)) {
      EXPECT_GE(calls_in(its_loop->body), 1);
    }
    if (const auto* branch = std::get_if<Branch>(&step)) {
      for (const Block& arm : branch->arms) EXPECT_GE(calls_in(arm), 1);
    }
  }
}

TEST(Outline, AProgramWithLoopsAndTooMuchCodeForTheMachineIsCompiledInLess) {
  std::string main, x = "x";
  for (int k = 0; k < 40; ++k) {
    const std::string y = fmt::format("y{}", k);
    main += loop(y, x, k, call("v" + y, "u" + y));
    x = y;
  }
  const Case c = case_of(calling(kVector, 8, main + returned(x)), 1);
  MachineConfig machine = load_machine("tiny4");
  machine.tile.region1_base = machine.tile.memory_base + machine.tile.element_bytes;
  EXPECT_THROW((void)build_image(c.module, machine, lower(c.module, machine), {}, {}, false),
               DoesNotFit);
  const RunResult run = run_image(compile(c.module, machine), c.arguments, {});
  ASSERT_FALSE(run.trap) << run.trap->text();
  expect_near(run.results[0], c.expected[0], 1e-4F);
}

/// Runs a program on small64 and expects what the evaluator computes.
RunResult expect_runs(const Case& c, float tolerance,
                      const std::function<void(const SuperstepRecord&)>& on_superstep = {}) {
  const ProgramImage image = compile(c.module, load_machine("small64"));
  RunOptions options;
  options.on_superstep = on_superstep;
  RunResult run = run_image(image, c.arguments, options);
  EXPECT_FALSE(run.trap) << run.trap->text();
  if (!run.trap) expect_near(run.results[0], c.expected[0], tolerance);
  return run;
}

TEST(Outline, AThousandSmallSuperstepsRunOnSmall64) {
  expect_runs(case_of(chain(1000, 4096), 1), 1e-2F);
}

TEST(Outline, FourHundredStepsOfUnequalShapesRunOnSmall64) {
  expect_runs(case_of(chain(400, 4096, 8), 1), 1e-2F);
}

TEST(Outline, EachExecutionOfAProcedureIsNamedAfterItsOwnSteps) {
  const Case c = case_of(chain(40, 4096), 1);
  const ProgramImage image = compile(c.module, load_machine("small64"));
  ASSERT_FALSE(image.calls.empty());
  std::vector<int> seen(image.info.steps.size());
  RunOptions options;
  options.on_superstep = [&](const SuperstepRecord& record) {
    for (const ComputeShare& share : record.shares) {
      if (share.step < seen.size()) ++seen[share.step];
    }
    if (record.exchange_step < seen.size()) ++seen[record.exchange_step];
  };
  const RunResult run = run_image(image, c.arguments, options);
  ASSERT_FALSE(run.trap);
  for (std::size_t s = 1; s < seen.size(); ++s) {
    if (image.info.steps[s].kind == StepInfo::Kind::kExchange) {
      EXPECT_GE(seen[s], 1) << "step " << s << ", " << image.info.steps[s].name;
    }
  }
}

TEST(Outline, TripsOfALoopInAProcedureAreThoseOfItsCall) {
  const Case c = case_of(calling_in_loops(), 1);
  const ProgramImage image = compile(c.module, load_machine("tiny4"));
  ASSERT_FALSE(image.calls.empty());
  std::vector<std::uint64_t> seen(image.info.steps.size());
  RunOptions options;
  options.on_superstep = [&](const SuperstepRecord& record) {
    for (const ComputeShare& share : record.shares) {
      if (share.step < seen.size()) seen[share.step] += share.runs;
    }
  };
  const RunResult run = run_image(image, c.arguments, options);
  ASSERT_FALSE(run.trap);
  int loops = 0;
  std::set<std::string> names;
  std::set<std::uint32_t> lines;
  for (std::size_t s = 0; s < seen.size(); ++s) {
    const StepInfo& step = image.info.steps[s];
    if (step.kind == StepInfo::Kind::kLoop) {
      names.insert(step.name);
      lines.insert(step.source.module.line);
    }
    if (step.kind != StepInfo::Kind::kCompute || !step.name.starts_with("divide")) continue;
    ++loops;
    EXPECT_EQ(seen[s], 3U) << "step " << s;
  }
  EXPECT_EQ(loops, 12);
  EXPECT_EQ(names.size(), 12U) << "each loop has the name of its own op";
  EXPECT_EQ(lines.size(), 12U);
}

}  // namespace
}  // namespace superstep
