// Infeeds, outfeeds and transfers through channels: what a machine exchanges with the host inside a
// call is what the reference does.

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "base/error.h"
#include "compiler/compile.h"
#include "compiler/ops/feeds.h"
#include "compiler/ops/op.h"
#include "sim/run_image.h"
#include "sim/trace/recorder.h"
#include "tests/scratch_folder.h"

namespace superstep {
namespace {

/// Visits of one tensor, with other numbers each; booleans are 0 or 1.
HostTensor visits_of(TensorType type, std::int64_t visits) {
  const bool is_truth = type.dtype == DType::kI1;
  type.shape.insert(type.shape.begin(), visits);
  HostTensor tensor(type);
  for (std::size_t i = 0; i < tensor.data.size(); ++i) {
    tensor.data[i] = static_cast<std::byte>(is_truth ? i % 3 == 0 : (i * 37 + 11) % 60);
  }
  return tensor;
}

HostTensor visit_of(const HostTensor& all, std::size_t visit) {
  TensorType type = all.type;
  type.shape.erase(type.shape.begin());
  HostTensor one(type);
  std::memcpy(one.data.data(), all.data.data() + visit * one.data.size(), one.data.size());
  return one;
}

const MachineConfig& tiny4() {
  static const MachineConfig kMachine = load_machine("tiny4");
  return kMachine;
}

RunResult run(const ProgramImage& image, FeedTensors infeeds,
              const std::vector<HostTensor>& arguments = {}, std::uint32_t calls = 1) {
  RunOptions options;
  options.calls = calls;
  options.infeeds = std::move(infeeds);
  return run_image(image, arguments, options);
}

/// Runs a program whose infeeds are all of the same types, which take `values` visit by visit, on a
/// machine and by the reference.
RunResult agrees(const std::string& text, const std::vector<HostTensor>& values,
                 const std::vector<HostTensor>& arguments = {}) {
  const Module module = import_stablehlo(text, "feeds.mlir");
  FeedHost host;
  for (std::size_t v = 0; !values.empty() && v < static_cast<std::size_t>(values[0].type.shape[0]);
       ++v) {
    std::vector<HostTensor>& visit = host.in.emplace_back();
    for (const HostTensor& all : values) visit.push_back(visit_of(all, v));
  }
  std::vector<HostTensor> expected;
  {
    const ReferenceHost scope(host);
    expected = evaluate(module.main, arguments);
  }
  FeedTensors infeeds;
  for (std::uint32_t i = 0; i < values.size(); ++i) infeeds[i] = values[i];
  RunResult result = run(compile(module, tiny4()), infeeds, arguments);
  EXPECT_FALSE(result.trap) << result.trap->text();
  EXPECT_EQ(result.results.size(), expected.size());
  for (std::size_t r = 0; r < expected.size(); ++r) {
    EXPECT_EQ(result.results[r].data, expected[r].data) << "result " << r;
  }
  std::vector<std::byte> given, found;
  for (const auto& tensors : host.out) {
    EXPECT_EQ(tensors.size(), result.outfeeds.size()) << "of one queue";
  }
  for (auto& [position, all] : result.outfeeds) {
    std::vector<std::byte> bytes;
    for (const auto& tensors : host.out) {
      bytes.insert(bytes.end(), tensors[position].data.begin(), tensors[position].data.end());
    }
    EXPECT_EQ(all.data, bytes) << "outfeed " << position;
    EXPECT_EQ(all.type.shape[0], static_cast<std::int64_t>(host.out.size()));
  }
  return result;
}

TEST(Feeds, EachInfeedTakesTheNextVisitAndOutfeedsKeepTheirOrder) {
  const RunResult result =
      agrees(R"(
func.func @main(%x: tensor<5xf32>) -> tensor<5xf32> {
  %t = stablehlo.after_all : !stablehlo.token
  %a:3 = "stablehlo.infeed"(%t) <{infeed_config = "", layout = [[0], []]}> : (!stablehlo.token) -> (tensor<5xf32>, tensor<i32>, !stablehlo.token)
  %b:3 = "stablehlo.infeed"(%a#2) <{infeed_config = ""}> : (!stablehlo.token) -> (tensor<5xf32>, tensor<i32>, !stablehlo.token)
  %d = stablehlo.subtract %a#0, %b#0 : tensor<5xf32>
  %n = stablehlo.subtract %a#1, %b#1 : tensor<i32>
  %u = "stablehlo.outfeed"(%d, %n, %b#2) <{outfeed_config = ""}> : (tensor<5xf32>, tensor<i32>, !stablehlo.token) -> !stablehlo.token
  %v = "stablehlo.outfeed"(%x, %a#1, %u) <{outfeed_config = ""}> : (tensor<5xf32>, tensor<i32>, !stablehlo.token) -> !stablehlo.token
  %s = stablehlo.add %b#0, %x : tensor<5xf32>
  return %s : tensor<5xf32>
})",
             {visits_of({DType::kF32, {5}}, 2), visits_of({DType::kI32, {}}, 2)},
             {visit_of(visits_of({DType::kF32, {5}}, 1), 0)});
  EXPECT_EQ(result.outfeeds.at(0).type.text(), "tensor<2x5xf32>");
}

TEST(Feeds, ElementsOfAnyTypeKeepTheirBytes) {
  for (const DType dtype : {DType::kI1, DType::kI8, DType::kF16, DType::kBF16, DType::kI32,
                            DType::kU64, DType::kF64, DType::kC64, DType::kC128}) {
    const TensorType type{dtype, {3, 7}};
    SCOPED_TRACE(type.text());
    std::string text = R"(
func.func @main() -> (TYPE, TYPE) {
  %t = stablehlo.create_token : !stablehlo.token
  %a:2 = "stablehlo.infeed"(%t) : (!stablehlo.token) -> (TYPE, !stablehlo.token)
  %b:2 = "stablehlo.infeed"(%a#1) : (!stablehlo.token) -> (TYPE, !stablehlo.token)
  %r = stablehlo.reverse %a#0, dims = [1] : TYPE
  %u = "stablehlo.outfeed"(%r, %b#1) : (TYPE, !stablehlo.token) -> !stablehlo.token
  %v = "stablehlo.outfeed"(%b#0, %u) : (TYPE, !stablehlo.token) -> !stablehlo.token
  return %b#0, %r : TYPE, TYPE
})";
    for (std::size_t at = text.find("TYPE"); at != std::string::npos; at = text.find("TYPE")) {
      text.replace(at, 4, type.text());
    }
    agrees(text, {visits_of(type, 2)});
  }
}

TEST(Feeds, LoopsAndBranchesVisitTheHostInTurn) {
  // Sums until the host says stop; what is positive goes back, and each tenth trip says its number.
  agrees(R"(
func.func @main(%most: tensor<i32>) -> (tensor<4xi32>, tensor<i32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %zeros = stablehlo.constant dense<0> : tensor<4xi32>
  %go = stablehlo.constant dense<true> : tensor<i1>
  %t = stablehlo.after_all : !stablehlo.token
  %r:4 = stablehlo.while(%n = %zero, %sum = %zeros, %goes = %go, %tok = %t) : tensor<i32>, tensor<4xi32>, tensor<i1>, !stablehlo.token
  cond {
    %c = stablehlo.compare LT, %n, %most : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %both = stablehlo.and %c, %goes : tensor<i1>
    stablehlo.return %both : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %two = stablehlo.constant dense<2> : tensor<i32>
    %f:3 = "stablehlo.infeed"(%tok) : (!stablehlo.token) -> (tensor<4xi32>, tensor<i1>, !stablehlo.token)
    %s = stablehlo.add %sum, %f#0 : tensor<4xi32>
    %next = stablehlo.add %n, %one : tensor<i32>
    %rest = stablehlo.remainder %n, %two : tensor<i32>
    %o = "stablehlo.case"(%rest) ({
      %x = "stablehlo.outfeed"(%s, %f#2) : (tensor<4xi32>, !stablehlo.token) -> !stablehlo.token
      stablehlo.return %x : !stablehlo.token
    }, {
      %d = stablehlo.add %s, %s : tensor<4xi32>
      %x = "stablehlo.outfeed"(%d, %f#2) : (tensor<4xi32>, !stablehlo.token) -> !stablehlo.token
      %y = "stablehlo.outfeed"(%f#0, %x) : (tensor<4xi32>, !stablehlo.token) -> !stablehlo.token
      stablehlo.return %y : !stablehlo.token
    }) : (tensor<i32>) -> !stablehlo.token
    stablehlo.return %next, %s, %f#1, %o : tensor<i32>, tensor<4xi32>, tensor<i1>, !stablehlo.token
  }
  return %r#1, %r#0 : tensor<4xi32>, tensor<i32>
})",
         {visits_of({DType::kI32, {4}}, 9),
          [] {
            HostTensor goes = visits_of({DType::kI1, {}}, 9);
            std::fill(goes.data.begin(), goes.data.end(), std::byte{1});
            goes.data[6] = std::byte{0};
            return goes;
          }()},
         {[] {
           HostTensor most(TensorType{DType::kI32, {}});
           most.set<std::int32_t>(0, 8);
           return most;
         }()});
}

TEST(Feeds, AConditionVisitsTheHostEachTime) {
  const RunResult result = agrees(R"(
func.func @main() -> tensor<i32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r = stablehlo.while(%n = %zero) : tensor<i32>
  cond {
    %three = stablehlo.constant dense<3> : tensor<i32>
    %t = stablehlo.after_all : !stablehlo.token
    %u = "stablehlo.outfeed"(%n, %t) : (tensor<i32>, !stablehlo.token) -> !stablehlo.token
    %c = stablehlo.compare LT, %n, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %n, %one : tensor<i32>
    stablehlo.return %next : tensor<i32>
  }
  return %r : tensor<i32>
})",
                                  {});
  EXPECT_EQ(result.outfeeds.at(0).type.text(), "tensor<4xi32>");
}

TEST(Feeds, TensorsWithoutElementsAreVisitsToo) {
  const RunResult result =
      agrees(R"(
func.func @main() {
  %t = stablehlo.after_all : !stablehlo.token
  %a:3 = "stablehlo.infeed"(%t) : (!stablehlo.token) -> (tensor<0x3xf32>, tensor<2xf32>, !stablehlo.token)
  %u = "stablehlo.outfeed"(%a#0, %a#2) : (tensor<0x3xf32>, !stablehlo.token) -> !stablehlo.token
  return
})",
             {visits_of({DType::kF32, {0, 3}}, 2), visits_of({DType::kF32, {2}}, 2)});
  EXPECT_EQ(result.outfeeds.at(0).type.text(), "tensor<1x0x3xf32>");
}

constexpr const char* kAddsToFed = R"(
func.func @main(%x: tensor<6xf32>) -> tensor<6xf32> {
  %t = stablehlo.after_all : !stablehlo.token
  %a:2 = "stablehlo.infeed"(%t) : (!stablehlo.token) -> (tensor<6xf32>, !stablehlo.token)
  %s = stablehlo.add %a#0, %x : tensor<6xf32>
  %u = "stablehlo.outfeed"(%s, %a#1) : (tensor<6xf32>, !stablehlo.token) -> !stablehlo.token
  return %s : tensor<6xf32>
})";

TEST(Feeds, StreamsOfOneQueueHaveOneType) {
  const std::string text = R"(
func.func @main() -> tensor<6xf32> {
  %t = stablehlo.after_all : !stablehlo.token
  %a:2 = "stablehlo.infeed"(%t) : (!stablehlo.token) -> (tensor<6xf32>, !stablehlo.token)
  %b:2 = "stablehlo.infeed"(%a#1) : (!stablehlo.token) -> (tensor<6xf32>, !stablehlo.token)
  %s = stablehlo.add %a#0, %b#0 : tensor<6xf32>
  return %s : tensor<6xf32>
})";
  ProgramImage image = compile(import_stablehlo(text, "feeds.mlir"), tiny4());
  EXPECT_TRUE(problems(image).empty());
  const std::uint32_t second = image.visits.at(1).phase.arguments.at(0);
  EXPECT_EQ(image.streams[second].position, 0U);
  image.streams[second].type.dtype = DType::kI32;
  EXPECT_FALSE(problems(image).empty());
}

TEST(Feeds, CallsGoOnWhereTheLastOneStopped) {
  const TensorType six{DType::kF32, {6}};
  const ProgramImage image = compile(import_stablehlo(kAddsToFed, "feeds.mlir"), tiny4());
  const HostTensor x(six), fed = visits_of(six, 3);
  const RunResult result = run(image, {{0, fed}}, {x}, 3);
  ASSERT_FALSE(result.trap) << result.trap->text();
  EXPECT_EQ(result.outfeeds.at(0).data, result.results[0].data);
  EXPECT_EQ(result.outfeeds.at(0).type.text(), "tensor<3x6xf32>");
}

TEST(Feeds, AQueueThatIsEmptyIsATrapAtTheOpAndNoFinishedVisitIsLost) {
  const TensorType six{DType::kF32, {6}};
  const ProgramImage image = compile(import_stablehlo(kAddsToFed, "feeds.mlir"), tiny4());
  const RunResult result = run(image, {{0, visits_of(six, 2)}}, {HostTensor(six)}, 3);
  ASSERT_TRUE(result.trap);
  EXPECT_EQ(result.trap->kind, TrapKind::kHost);
  EXPECT_NE(result.trap->text().find("infeed0"), std::string::npos) << result.trap->text();
  EXPECT_NE(result.trap->text().find("feeds.mlir:4"), std::string::npos) << result.trap->text();
  EXPECT_EQ(result.outfeeds.at(0).type.text(), "tensor<2x6xf32>");
}

TEST(Feeds, WhatTheHostHasMustFitTheProgram) {
  const TensorType six{DType::kF32, {6}};
  const ProgramImage image = compile(import_stablehlo(kAddsToFed, "feeds.mlir"), tiny4());
  const std::vector<HostTensor> x = {HostTensor(six)};
  EXPECT_THROW((void)run(image, {}, x), MalformedInput) << "none";
  EXPECT_THROW((void)run(image, {{0, visits_of({DType::kF32, {5}}, 2)}}, x), MalformedInput);
  EXPECT_THROW((void)run(image, {{0, visits_of({DType::kI32, {6}}, 2)}}, x), MalformedInput);
  EXPECT_THROW((void)run(image, {{0, HostTensor(six)}}, x), MalformedInput) << "no axis of visits";
  EXPECT_THROW((void)run(image, {{0, visits_of(six, 2)}, {1, visits_of(six, 2)}}, x),
               MalformedInput);
  try {
    (void)run(image, {}, x);
  } catch (const MalformedInput& error) {
    EXPECT_EQ(error.problems()[0].where.line, 4U) << error.problems()[0].message;
  }
}

TEST(Feeds, ChannelsToTheHostAreQueuesOfTheirOwn) {
  const std::string text = R"(
func.func @main(%x: tensor<3xi32>) -> tensor<3xi32> {
  %t = stablehlo.after_all : !stablehlo.token
  %u = "stablehlo.send"(%x, %t) {channel_handle = #stablehlo.channel_handle<handle = 7, type = 2>, is_host_transfer = true} : (tensor<3xi32>, !stablehlo.token) -> !stablehlo.token
  %a:2 = "stablehlo.recv"(%u) {channel_handle = #stablehlo.channel_handle<handle = 8, type = 3>, is_host_transfer = true} : (!stablehlo.token) -> (tensor<3xi32>, !stablehlo.token)
  %b:2 = "stablehlo.recv"(%a#1) {channel_handle = #stablehlo.channel_handle<handle = 9, type = 3>, is_host_transfer = true} : (!stablehlo.token) -> (tensor<3xi32>, !stablehlo.token)
  %s = stablehlo.subtract %a#0, %b#0 : tensor<3xi32>
  return %s : tensor<3xi32>
})";
  const ProgramImage image = compile(import_stablehlo(text, "feeds.mlir"), tiny4());
  EXPECT_EQ(feed_queues(image, Stream::Kind::kInfeed).size(), 2U);
  const TensorType three{DType::kI32, {3}};
  HostTensor a(TensorType{DType::kI32, {1, 3}}), b = a, x(three);
  for (std::size_t i = 0; i < 3; ++i) {
    a.set<std::int32_t>(i, 10 * static_cast<std::int32_t>(i));
    b.set<std::int32_t>(i, 1);
    x.set<std::int32_t>(i, 5);
  }
  const RunResult result = run(image, {{0, a}, {1, b}}, {x});
  ASSERT_FALSE(result.trap) << result.trap->text();
  EXPECT_EQ(result.results[0].get<std::int32_t>(2), 19);
  EXPECT_EQ(result.outfeeds.at(0).data, x.data);
}

TEST(Feeds, TransfersToDevicesAndOfWrongChannelsAreRefused) {
  const auto with = [](const std::string& attributes) {
    return "func.func @main(%x: tensor<3xi32>) {\n"
           "  %t = stablehlo.after_all : !stablehlo.token\n"
           "  %u = \"stablehlo.send\"(%x, %t) {" +
           attributes +
           "} : (tensor<3xi32>, !stablehlo.token) -> !stablehlo.token\n"
           "  return\n}";
  };
  const std::string channel = "channel_handle = #stablehlo.channel_handle<handle = 1, type = ";
  EXPECT_THROW((void)import_stablehlo(with(channel + "1>"), "m"), Unsupported);
  EXPECT_THROW((void)import_stablehlo(with(channel + "1>, is_host_transfer = false"), "m"),
               Unsupported);
  EXPECT_THROW((void)import_stablehlo(with(channel + "3>, is_host_transfer = true"), "m"),
               MalformedInput);
  EXPECT_THROW((void)import_stablehlo(with("is_host_transfer = true"), "m"), MalformedInput);
  EXPECT_NO_THROW((void)import_stablehlo(with(channel + "2>, is_host_transfer = true"), "m"));
}

/// What the report of a run says.
struct Reported {
  TraceSummary summary;
  Cycles device;
};
Reported report_of(const std::string& text, const std::vector<std::string>& settings,
                   FeedTensors infeeds, const std::vector<HostTensor>& arguments) {
  const SourcedMachine machine = load_sourced_machine("tiny4", settings);
  const ProgramImage image = compile(import_stablehlo(text, "feeds.mlir"), machine.machine);
  RunRecorder recorder(image, {.sources = machine.sources});
  RunOptions options;
  options.infeeds = std::move(infeeds);
  options.on_superstep = [&](const SuperstepRecord& record) { (void)recorder.add(record); };
  const RunResult result = run_image(image, arguments, options);
  EXPECT_FALSE(result.trap) << result.trap->text();
  const RunTotals& totals = result.totals;
  return {recorder.summary("ok"), totals.exchange + totals.compute + totals.sync};
}

// 60 us are 79,500 cycles of 1.325 GHz.
constexpr std::uint64_t kCallback = 79'500;

TEST(Feeds, APredictionHasTheirSyncsAndWhatTheTilesWaitForCallbacks) {
  const TensorType six{DType::kF32, {6}};
  const std::string loop = R"(
func.func @main(%x: tensor<6xf32>) -> tensor<6xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %five = stablehlo.constant dense<5> : tensor<i32>
  %t = stablehlo.after_all : !stablehlo.token
  %r:3 = stablehlo.while(%n = %zero, %y = %x, %k = %t) : tensor<i32>, tensor<6xf32>, !stablehlo.token
  cond {
    %c = stablehlo.compare LT, %n, %five : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %a:2 = "stablehlo.infeed"(%k) : (!stablehlo.token) -> (tensor<6xf32>, !stablehlo.token)
    %s = stablehlo.add %a#0, %y : tensor<6xf32>
    %u = "stablehlo.outfeed"(%s, %a#1) : (tensor<6xf32>, !stablehlo.token) -> !stablehlo.token
    %m = stablehlo.add %n, %one : tensor<i32>
    stablehlo.return %m, %s, %u : tensor<i32>, tensor<6xf32>, !stablehlo.token
  }
  return %r#1 : tensor<6xf32>
})";
  for (const std::string callback : {"0 ns", "60 us"}) {
    for (const std::string prefetch : {"0", "1", "2"}) {
      SCOPED_TRACE(callback + ", " + prefetch + " ahead");
      const Reported reported =
          report_of(loop, {"host.callback_latency=" + callback, "host.prefetch=" + prefetch},
                    {{0, visits_of(six, 5)}}, {HostTensor(six)});
      const auto device = static_cast<double>(reported.device.value());
      EXPECT_NEAR(static_cast<double>(reported.summary.predicted.value()), device, 0.1 * device);
    }
  }
}

TEST(Feeds, WhatCallbacksTakeIsAsKnownAsTheirLatency) {
  const TensorType six{DType::kF32, {6}};
  const auto run = [&](const std::vector<std::string>& settings) {
    return report_of(kAddsToFed, settings, {{0, visits_of(six, 1)}}, {HostTensor(six)}).summary;
  };
  // Two visits of the call and the one of the outfeed begin 300 ns after the tiles, which are 398
  // cycles; that of the infeed when its callback is done.
  const TraceSummary assumed = run({});
  EXPECT_EQ(assumed.visits.callbacks.value(), kCallback);
  EXPECT_EQ(assumed.assumed.sync.value(), kCallback + 3 * 398U);
  EXPECT_EQ(run({"host.callback_latency=60 us"}).assumed.sync.value(), 3 * 398U);
  const TraceSummary scaled = run({"sync.external_latency=x0", "host.callback_latency=60 us"});
  EXPECT_EQ(scaled.assumed.sync.value(), 0U);
}

TEST(Feeds, WhatTheTilesWaitForTheHostIsOfTheStepOfTheVisit) {
  const TensorType six{DType::kF32, {6}};
  const TraceSummary run =
      report_of(kAddsToFed, {}, {{0, visits_of(six, 1)}}, {HostTensor(six)}).summary;
  const auto sync_of = [&](std::string_view operation) {
    Cycles sync;
    for (const StepTotals& step : run.steps)
      if (step.operation_name.starts_with(operation)) sync += step.sync;
    return sync.value();
  };
  EXPECT_EQ(sync_of("infeed"), kCallback);
  EXPECT_EQ(sync_of("outfeed"), 398U);
  EXPECT_EQ(sync_of("host"), 2 * 398U);
  EXPECT_EQ(sync_of("add"), 0U);
}

TEST(Feeds, ARunGoesOnFromACheckpointWithTheVisitsThatAreLeft) {
  const TensorType six{DType::kF32, {6}};
  const ProgramImage image = compile(import_stablehlo(kAddsToFed, "feeds.mlir"), tiny4());
  const auto file = scratch_folder() / "checkpoint.h5";
  RunOptions options;
  options.calls = 4;
  options.infeeds = {{0, visits_of(six, 4)}};
  options.save_checkpoint = {file, 9};
  const std::vector<HostTensor> x = {HostTensor(six)};
  const RunResult whole = run_image(image, x, options);
  ASSERT_TRUE(whole.saved_checkpoint);
  options.save_checkpoint.reset();
  options.from_checkpoint = file;
  RunOptions others = options;
  others.infeeds = {{0, visits_of(six, 5)}};
  try {
    (void)run_image(image, x, others);
    ADD_FAILURE() << "goes on with other values";
  } catch (const MalformedInput& error) {
    ASSERT_EQ(error.problems().size(), 1U);
    EXPECT_EQ(error.problems()[0].where.file, file.string());
    EXPECT_NE(error.problems()[0].message.find("another infeed0"), std::string::npos);
  }
  const RunResult rest = run_image(image, x, options);
  ASSERT_FALSE(rest.trap) << rest.trap->text();
  EXPECT_EQ(rest.totals.cycles.value(), whole.totals.cycles.value());
  const std::vector<std::byte>&all = whole.outfeeds.at(0).data, &last = rest.outfeeds.at(0).data;
  ASSERT_LT(last.size(), all.size());
  EXPECT_TRUE(std::equal(last.rbegin(), last.rend(), all.rbegin()));
}

}  // namespace
}  // namespace superstep
