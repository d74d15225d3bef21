#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/hdf5.h"
#include "compiler/compile.h"
#include "compiler/ops/op.h"
#include "isa/machine_config.h"
#include "sim/run_image.h"
#include "tests/generated/program.h"
#include "tests/generated/random.h"
#include "tests/generated/stablehlo_text.h"
#include "tests/generated/tensors.h"

namespace superstep {
namespace {

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}
std::uint64_t first_seed() { return number_from("SUPERSTEP_GENERATED_SEED", 1); }
std::uint64_t programs() { return number_from("SUPERSTEP_GENERATED", 1000); }

// A broken invariant ends the process: the seed must be known then too.
char seed_text[64];
void print_seed(int signal) {
  [[maybe_unused]] const auto written = write(STDERR_FILENO, seed_text, std::strlen(seed_text));
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

RunOptions options(std::uint32_t calls, RaceChecks which) {
  RunOptions run;
  run.calls = calls;
  run.check_races = which;
  run.check_repeats = 8;
  return run;
}

/// Looking for races takes the slow path of each access.
bool same(const RunResult& a, const RunResult& b) {
  return a.totals.cycles == b.totals.cycles &&
         std::ranges::equal(a.results, b.results, {}, &HostTensor::data, &HostTensor::data);
}

std::string wrong_element(const Bounded& expected, const HostTensor& found, std::size_t result) {
  if (found.type != expected.value.type) {
    return fmt::format("result {} is {}, expected {}", result, found.type.text(),
                       expected.value.type.text());
  }
  const auto element = first_wrong(expected, found);
  if (!element) return {};
  return fmt::format("result {} ({}), element {}: {}, expected {} within {:g}", result,
                     found.type.text(), *element, element_text(found, *element),
                     element_text(expected.value, *element), expected.error.get<float>(*element));
}

/// What is wrong with one call of the program on the machine; empty when nothing is.
std::string disagreement(const Program& program, const MachineConfig& machine) {
  const Graph& graph = program.module.main;
  try {
    const ProgramImage image = compile(program.module, machine);
    const RunResult run = run_image(image, program.arguments, options(1, RaceChecks::kAlways));
    if (run.trap) return run.trap->text();
    if (!same(run, run_image(image, program.arguments, options(1, RaceChecks::kNever)))) {
      return "it runs otherwise where nobody looks for races";
    }
    if (run.results.size() != graph.results().size()) {
      return fmt::format("{} results, expected {}", run.results.size(), graph.results().size());
    }
    for (std::size_t r = 0; r < run.results.size(); ++r) {
      const Bounded& expected = program.values[index(graph.results()[r])];
      std::string wrong = wrong_element(expected, run.results[r], r);
      if (!wrong.empty()) return wrong;
    }
  } catch (const UserError& error) {
    return error.what();
  }
  return {};
}

/// Slice `call` of a tensor with an extra leading axis.
HostTensor slice(const TensorType& type, const HostTensor& tensor, std::size_t call) {
  HostTensor result(type);
  if (!result.data.empty()) {
    std::memcpy(result.data.data(), tensor.data.data() + call * type.bytes(), type.bytes());
  }
  return result;
}

/// What is wrong with three calls: some arguments sent slice by slice, donated ones kept on the
/// machine. A call whose values have no bound ends the comparison.
std::string disagreement_of_calls(const Program& program, const MachineConfig& machine,
                                  std::uint64_t seed) {
  constexpr std::uint32_t kCalls = 3;
  Random random(seed);
  const Graph& graph = program.module.main;
  const auto& alias = program.module.argument_alias;
  std::vector<HostTensor> sent = program.arguments;
  std::vector<Bounded> arguments;
  std::vector<bool> sliced(sent.size()), kept(graph.results().size());
  for (std::size_t a = 0; a < sent.size(); ++a) {
    arguments.push_back(exactly(sent[a]));
    if (alias[a]) kept[*alias[a]] = true;
    sliced[a] = !alias[a] && random.chance(50);
    if (!sliced[a]) continue;
    TensorType type = sent[a].type;
    type.shape.insert(type.shape.begin(), kCalls);
    sent[a] = random_tensor(random, type);
  }
  const RunResult run =
      run_image(compile(program.module, machine), sent, options(kCalls, RaceChecks::kFirst));
  if (run.trap) return run.trap->text();

  for (std::uint32_t call = 0; call < kCalls; ++call) {
    for (std::size_t a = 0; a < sent.size(); ++a) {
      if (sliced[a]) arguments[a] = exactly(slice(program.arguments[a].type, sent[a], call));
    }
    const auto values = propagate(graph, arguments);
    if (!values) return {};
    for (std::size_t r = 0; r < graph.results().size(); ++r) {
      if (kept[r] && call + 1 < kCalls) continue;
      const Bounded& expected = (*values)[index(graph.results()[r])];
      const HostTensor found =
          kept[r] ? run.results[r] : slice(expected.value.type, run.results[r], call);
      const std::string wrong = wrong_element(expected, found, r);
      if (!wrong.empty()) return fmt::format("call {}: {}", call, wrong);
    }
    for (std::size_t a = 0; a < alias.size(); ++a) {
      if (alias[a]) arguments[a] = (*values)[index(graph.results()[*alias[a]])];
    }
  }
  return {};
}

/// The first value of a program that is wrong when it is the only result, with what leads to it.
std::string smallest(const Program& program, const MachineConfig& machine) {
  for (std::uint32_t v = 0; v < program.values.size(); ++v) {
    const Program small = only_result(program, ValueId{v});
    const std::string wrong = disagreement(small, machine);
    if (!wrong.empty()) return "already wrong in\n" + text_of(small.module) + wrong + "\n";
  }
  return "no value is wrong when it is the only result\n";
}

void run_programs(const std::string& machine_name) {
  constexpr int kMostFailures = 5;
  const MachineConfig machine = load_machine(machine_name);
  std::signal(SIGABRT, print_seed);
  std::signal(SIGSEGV, print_seed);
  fmt::print("{} programs from seed {}\n", programs(), first_seed());
  int failures = 0;
  for (std::uint64_t seed = first_seed(); seed < first_seed() + programs(); ++seed) {
    std::snprintf(seed_text, sizeof seed_text, "seed %" PRIu64 " on %s\n", seed,
                  machine_name.c_str());
    const Program program = generate_program(seed);
    std::string wrong = disagreement(program, machine);
    if (!wrong.empty()) {
      wrong += "\n" + smallest(program, machine);
    } else if (seed % 2 == 0) {
      wrong = disagreement_of_calls(program, machine, seed);
    }
    if (wrong.empty()) continue;
    ADD_FAILURE() << "seed " << seed << " on " << machine_name << "\n"
                  << text_of(program.module) << wrong;
    if (++failures == kMostFailures) return;
  }
}

TEST(GeneratedPrograms, AgreeWithTheReferenceOnTiny4) { run_programs("tiny4"); }
TEST(GeneratedPrograms, AgreeWithTheReferenceOnSmall64) { run_programs("small64"); }

TEST(GeneratedPrograms, FollowFromTheirSeed) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    EXPECT_EQ(text_of(generate_program(seed).module), text_of(generate_program(seed).module));
  }
}

TEST(GeneratedPrograms, HaveTheValuesThatTheGraphEvaluatesTo) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const Program program = generate_program(seed);
    const Graph& graph = program.module.main;
    const std::vector<HostTensor> results = evaluate(graph, program.arguments);
    for (std::size_t r = 0; r < results.size(); ++r) {
      EXPECT_EQ(results[r].data, program.values[index(graph.results()[r])].value.data) << seed;
    }
  }
}

/// Whether numbers follow from the place of an op in a text.
bool draws(const Graph& graph) {
  return std::ranges::any_of(graph.ops(), [](const Op& op) {
    return op.definition->name == "stablehlo.rng" || std::ranges::any_of(op.regions, draws);
  });
}

TEST(GeneratedPrograms, MeanTheSameAsText) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const Program program = generate_program(seed);
    if (draws(program.module.main)) continue;
    const std::string text = stablehlo_text(program.module);
    const Module module = import_stablehlo(text, "generated.mlir");
    const std::vector<HostTensor> results = evaluate(module.main, program.arguments);
    ASSERT_EQ(results.size(), program.module.main.results().size()) << seed;
    for (std::size_t r = 0; r < results.size(); ++r) {
      const Bounded& expected = program.values[index(program.module.main.results()[r])];
      EXPECT_EQ(results[r].data, expected.value.data) << "seed " << seed << "\n" << text;
    }
  }
}

/// For `tests/generated/with_jax.py`: a program as text, its arguments, and what its results must
/// be, each element within its error.
TEST(GeneratedPrograms, AreWrittenWhereTheEnvironmentSays) {
  const char* folder = std::getenv("SUPERSTEP_GENERATED_WRITE");
  if (folder == nullptr) GTEST_SKIP() << "SUPERSTEP_GENERATED_WRITE names no folder";
  for (std::uint64_t seed = first_seed(); seed < first_seed() + programs(); ++seed) {
    const Program program = generate_program(seed);
    const std::filesystem::path path = std::filesystem::path(folder) / std::to_string(seed);
    std::ofstream(path.string() + ".mlir") << stablehlo_text(program.module);
    TensorFile tensors;
    for (std::size_t a = 0; a < program.arguments.size(); ++a) {
      tensors[fmt::format("arg{}", a)] = program.arguments[a];
    }
    const std::vector<ValueId>& results = program.module.main.results();
    for (std::size_t r = 0; r < results.size(); ++r) {
      const Bounded& result = program.values[index(results[r])];
      tensors[fmt::format("result{}", r)] = result.value;
      tensors[fmt::format("error{}", r)] = result.error;
    }
    write_tensors(path.string() + ".h5", tensors);
  }
}

}  // namespace
}  // namespace superstep
