#include <gtest/gtest.h>

#include "base/error.h"
#include "isa/sync_zones.h"
#include "sim/host/arguments.h"
#include "tests/sim/programs.h"

namespace superstep {
namespace {

const std::string kReceive = "sync 4\n delayxpic 0, 0, 0x600\n delay 9\n sync 4\n";
const std::string kSendAndReceive =
    "sync 4\n delayxpic 0, 0, 0x600\n send 1, 0x20000, 3\n sync 4\n";

/// A program whose result0 is its arg0, a u32 pair at kData of tile 0.
ProgramImage echo(std::uint32_t visits) {
  ProgramImage image = image_of(1);
  const TensorType pair{DType::kU32, {2}};
  const std::vector<StreamPiece> pieces = {{TileId{0}, kData, 8, {{0, 0, 8}}}};
  image.streams = {{Stream::Kind::kArgument, 0, pair, pieces},
                   {Stream::Kind::kResult, 0, pair, pieces}};
  image.arguments = {pair};
  image.results = {pair};
  image.alias = {std::nullopt};
  image.first.arguments = {0};
  image.next.results = {1};
  image.next.arguments = {0};
  image.last.results = {1};
  std::string text = kReceive;
  for (std::uint32_t v = 0; v < visits; ++v) text += kSendAndReceive;
  add_program(image, 0, text + "sync 4\n");
  return image;
}

HostTensor numbers(const Shape& shape) {
  HostTensor tensor(TensorType{DType::kU32, shape});
  for (std::size_t i = 0; i < tensor.data.size() / 4; ++i) {
    tensor.set(i, static_cast<std::uint32_t>(7 * i + 3));
  }
  return tensor;
}

TEST(Host, GivesBackWhatWasSent) {
  const HostTensor argument = numbers({2});
  const Recorded run = record(echo(1), {argument});
  ASSERT_FALSE(run.result.trap) << run.result.trap->text();
  ASSERT_EQ(run.result.results.size(), 1u);
  EXPECT_EQ(run.result.results[0].type, argument.type);
  EXPECT_EQ(run.result.results[0].data, argument.data);
}

TEST(Host, APieceIsABoxOfTheTensor) {
  // The tile has the argument's columns one after the other, and gives them back as rows.
  ProgramImage image = echo(2);
  const TensorType type{DType::kU32, {2, 3}};
  const StreamBox columns{0, 0, 4, {{3, 8, 4}, {2, 4, 12}}}, rows{0, 0, 24};
  image.streams = {{Stream::Kind::kArgument, 0, type, {{TileId{0}, kData, 24, {columns}}}},
                   {Stream::Kind::kResult, 0, type, {{TileId{0}, kData, 24, {rows}}}}};
  image.arguments = image.results = {type};
  image.segments.clear();
  image.entries.clear();
  const std::string visit = "sync 4\n delayxpic 0, 0, 0x600\n send 5, 0x20000, 3\n sync 4\n";
  add_program(image, 0, kReceive + visit + visit + "sync 4\n");
  const HostTensor argument = numbers({2, 2, 3});
  const Recorded run = record(image, {argument}, 2);
  ASSERT_FALSE(run.result.trap) << run.result.trap->text();
  ASSERT_EQ(run.result.results.size(), 1u);
  for (std::size_t call = 0; call < 2; ++call) {
    for (std::size_t i = 0; i < 6; ++i) {
      EXPECT_EQ(run.result.results[0].get<std::uint32_t>(6 * call + i),
                argument.get<std::uint32_t>(6 * call + i % 2 * 3 + i / 2));
    }
  }
}

TEST(Host, APhaseTakesLatencyPacketsAndBytesRoundedUp) {
  const Recorded run = record(echo(1), {numbers({2})});
  ASSERT_GE(run.supersteps.size(), 2u);
  // 300 ns at 1.325 GHz are 397.5 cycles.
  EXPECT_EQ(run.supersteps[0].sync, 398_cycles);
  EXPECT_EQ(run.supersteps[0].end, 398_cycles);
  // (1000 ns + 10 ns for the packet + 8 B / 27.2 GB/s) at 1.325 GHz: 1338.64 cycles.
  EXPECT_EQ(run.supersteps[1].host, 1339_cycles);
  EXPECT_EQ(run.supersteps[1].host_bytes, 8u);
  EXPECT_EQ(run.supersteps[1].compute + run.supersteps[1].exchange + run.supersteps[1].sync,
            0_cycles);
}

TEST(Host, SendsOneSliceACallAndStacksTheResults) {
  const HostTensor argument = numbers({3, 2});
  const Recorded run = record(echo(3), {argument}, 3);
  ASSERT_FALSE(run.result.trap) << run.result.trap->text();
  EXPECT_EQ(run.result.results[0].type.shape, (Shape{3, 2}));
  EXPECT_EQ(run.result.results[0].data, argument.data);
}

TEST(Host, SendsAnArgumentWithoutSlicesOnce) {
  const HostTensor argument = numbers({2});
  const Recorded run = record(echo(3), {argument}, 3);
  ASSERT_FALSE(run.result.trap) << run.result.trap->text();
  EXPECT_EQ(run.result.results[0].type.shape, (Shape{3, 2}));
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(run.result.results[0].get<std::uint32_t>(i), argument.get<std::uint32_t>(i % 2));
  }
  std::uint64_t bytes = 0;
  for (const SuperstepRecord& superstep : run.supersteps) bytes += superstep.host_bytes;
  EXPECT_EQ(bytes, 8u + 3 * 8u);
}

TEST(Host, AnAliasedResultIsWrittenOnceAtTheEnd) {
  ProgramImage image = echo(3);
  image.alias = {0};
  image.next = {};
  image.segments.clear();
  image.entries.clear();
  add_program(image, 0, kReceive + kReceive + kReceive + kSendAndReceive + "sync 4\n");
  const HostTensor argument = numbers({2});
  const Recorded run = record(image, {argument}, 3);
  ASSERT_FALSE(run.result.trap) << run.result.trap->text();
  EXPECT_EQ(run.result.results[0].type.shape, (Shape{2}));
  EXPECT_EQ(run.result.results[0].data, argument.data);
}

TEST(Host, TheWordThatCallsGoOnByChangesWithTheArgumentsOfTheLast) {
  for (const std::uint32_t calls : {1U, 2U, 3U}) {
    ProgramImage image = echo(calls);
    image.streams[0].kind = Stream::Kind::kGoesOn;
    image.streams[0].type = {DType::kU32, {1}};
    image.streams[0].pieces = {{TileId{0}, kData, 4, {{0, 0, 4}}}};
    image.arguments.clear();
    image.segments.push_back({{TileId{0}}, kData, {1, 0, 0, 0, 5, 0, 0, 0}});
    const Recorded run = record(image, {}, calls);
    ASSERT_FALSE(run.result.trap) << run.result.trap->text();
    for (std::uint32_t call = 0; call < calls; ++call) {
      EXPECT_EQ(run.result.results[0].get<std::uint32_t>(2 * call), call + 1 == calls ? 0U : 1U);
      EXPECT_EQ(run.result.results[0].get<std::uint32_t>(2 * call + 1), 5U);
    }
    std::uint64_t bytes = 0;
    for (const SuperstepRecord& superstep : run.supersteps) bytes += superstep.host_bytes;
    EXPECT_EQ(bytes, 8 * calls + 4) << "one word is sent in all";
  }
}

TEST(Host, TrapsWhenATileSendsOtherBytesThanTheStreamTableSays) {
  ProgramImage image = echo(1);
  image.segments.clear();
  image.entries.clear();
  add_program(image, 0,
              kReceive + "sync 4\n delayxpic 0, 0, 0x600\n send 0, 0x20000, 3\n sync 4\n sync 4\n");
  const Recorded run = record(image, {numbers({2})});
  ASSERT_TRUE(run.result.trap);
  EXPECT_EQ(run.result.trap->context, "host link");
  EXPECT_NE(run.result.trap->cause.find("sends 4 B at 0x80000"), std::string::npos);
  EXPECT_NE(run.result.trap->cause.find("expects 8 B at 0x80000"), std::string::npos);
}

TEST(Host, AProgramThatEndsEarlySendsNothingInTheVisitThatTheHostBegins) {
  const Recorded run = record(echo(1), {numbers({2, 2})}, 2);
  ASSERT_TRUE(run.result.trap);
  EXPECT_NE(run.result.trap->cause.find("sends nothing to the host"), std::string::npos)
      << run.result.trap->text();
}

TEST(Host, TheProgramEndsAtTheSyncBehindTheLastVisit) {
  const Recorded run = record(echo(1), {numbers({2})});
  ASSERT_FALSE(run.result.trap) << run.result.trap->text();
  EXPECT_EQ(run.supersteps.back().end, run.result.totals.cycles);
  EXPECT_EQ(run.supersteps.back().zone, kZoneExternal);
  EXPECT_EQ(run.supersteps.back().sync, 0_cycles) << "nothing opens there";
}

/// Takes arg0, a u32 pair, at kData of tile 0; the text between the syncs of the visit.
Recorded receive(const std::string& text) {
  ProgramImage image = echo(0);
  image.streams.resize(1);
  image.results.clear();
  image.alias.clear();
  image.next = image.last = {};
  image.next.arguments = {0};
  image.segments.clear();
  image.entries.clear();
  add_program(image, 0, "sync 4\n" + text + " sync 4\n sync 4\n sync 4\n sync 4\n");
  return record(image, {numbers({2})});
}

TEST(Host, AWordArrivesOnlyWhileTheMuxSelectsTheHost) {
  // The visit begins in cycle 398, and the tile 4 cycles later; the packet ends 1339 after 398.
  constexpr std::uint64_t kArrival = 398 + 1339;
  const auto select_in = [](std::uint64_t cycle) {
    return "delayxpic " + std::to_string(cycle - 402) + ", 0, 0x600\n";
  };
  EXPECT_FALSE(receive(select_in(kArrival)).result.trap);
  const Recorded late = receive(select_in(kArrival + 1));
  ASSERT_TRUE(late.result.trap);
  EXPECT_EQ(late.result.trap->cycle, Cycles(kArrival));
  EXPECT_EQ(late.result.trap->tile, TileId{0});
  EXPECT_EQ(late.result.trap->context, "host link");
  EXPECT_NE(late.result.trap->cause.find("a packet of arg0 arrives while the input mux is idle"),
            std::string::npos)
      << late.result.trap->text();
  const auto deselect_in = [](std::uint64_t cycle) {
    return "delayxpic 0, 0, 0x600\n delayxpic " + std::to_string(cycle - 403) + ", 0, 5\n";
  };
  EXPECT_FALSE(receive(deselect_in(kArrival + 1)).result.trap);
  const Recorded early = receive(deselect_in(kArrival));
  ASSERT_TRUE(early.result.trap);
  EXPECT_EQ(early.result.trap->cycle, Cycles(kArrival));
  EXPECT_NE(early.result.trap->cause.find("the input mux selects 0x5"), std::string::npos);
}

TEST(Host, ATileThatTouchesMemoryOrLaunchesBehindItsPortsInAVisitIsATrap) {
  // The tile leaves the sync in cycle 402, selects the host there and goes on in 403.
  for (const std::string use : {"ld32 $m0, $m15, $m15, 0\n", "st32 $m0, $m15, $m15, 0\n",
                                "runall $m0, $m15, 0\n", "run $m0, $m15, 0\n"}) {
    const std::optional<Trap> trap = receive("delayxpic 0, 0, 0x600\n " + use).result.trap;
    ASSERT_TRUE(trap) << use;
    EXPECT_EQ(trap->cause, "memory is touched or workers are launched inside a host phase");
    EXPECT_EQ(trap->cycle, 403_cycles) << use;
    EXPECT_EQ(trap->superstep, 1u);
    EXPECT_EQ(trap->tile, TileId{0});
    EXPECT_EQ(trap->context, "supervisor");
    EXPECT_EQ(trap->pc, kCode + 8) << use;
    EXPECT_EQ(trap->kind, TrapKind::kProgram);
  }
  // Before it tells its ports anything, a tile may.
  const std::string before = "setzi $m1, 0x80000\n ld32 $m0, $m15, $m1, 0\n";
  const std::optional<Trap> none = receive(before + "delayxpic 0, 0, 0x600\n").result.trap;
  EXPECT_FALSE(none) << none->text();
}

TEST(Host, AnArgumentWaitsForTheWordsThatItOverwrites) {
  ProgramImage image = echo(1);
  image.segments.clear();
  image.entries.clear();
  const std::string late =
      "sync 4\n delayxpic 0, 0, 0x600\n delay 4999\n send 1, 0x20000, 3\n sync 4\n";
  add_program(image, 0, kReceive + late + late + "sync 4\n");
  const Recorded run = record(image, {numbers({2, 2})}, 2);
  ASSERT_FALSE(run.result.trap) << run.result.trap->text();
  EXPECT_EQ(run.result.results[0].data, numbers({2, 2}).data);
  // The words leave in cycles 5005 and 5006 of the visit; the packets take 13.64 cycles each, side
  // by side.
  ASSERT_EQ(run.supersteps[3].transfers.size(), 2U);
  for (const HostTransfer& transfer : run.supersteps[3].transfers) {
    EXPECT_EQ(transfer.begin, 5007_cycles);
    EXPECT_EQ(transfer.end, 5021_cycles);
  }
}

TEST(Host, AVisitIsTheBeginningTheDataAndTheEndOfItsStreamCopies) {
  // The tile sends longer than the host takes: 2000 words behind the cycles 4 and 5.
  ProgramImage image = echo(1);
  const TensorType type{DType::kU32, {2000}};
  const std::vector<StreamPiece> pieces = {{TileId{0}, kData, 8000, {{0, 0, 8000}}}};
  image.streams[0].type = image.streams[1].type = type;
  image.streams[0].pieces = image.streams[1].pieces = pieces;
  image.arguments = image.results = {type};
  image.segments.clear();
  image.entries.clear();
  add_program(image, 0,
              "setzi $m0, 0x20000\n" + kReceive +
                  "sync 4\n delayxpic 0, 0, 0x600\n put 0xa7, $m0\n sendoff 15, 31, 0, 3\n"
                  "sync 4\n sync 4\n");
  const Recorded run = record(image, {numbers({2000})});
  ASSERT_FALSE(run.result.trap) << run.result.trap->text();
  ASSERT_GE(run.supersteps.size(), 4U);
  const SuperstepRecord &before = run.supersteps[0], &receives = run.supersteps[1],
                        &sends = run.supersteps[3];
  EXPECT_EQ(before.visit_begin, before.sync);
  EXPECT_EQ(before.visit_begin, 398_cycles);
  // 1000 ns, 8 packets of 10 ns each, and 8,000 B at 27.2 GB/s: 1820.71 cycles.
  EXPECT_EQ(receives.host, 1821_cycles);
  EXPECT_EQ(receives.visit_end, 0_cycles) << "the latency of the host covers its sync";
  ASSERT_EQ(receives.transfers.size(), 1U);
  EXPECT_EQ(receives.transfers[0].packets, 8U);
  EXPECT_EQ(receives.transfers[0].begin, 1325_cycles);
  EXPECT_EQ(receives.transfers[0].end, 1821_cycles);
  // The last word leaves in cycle 4 + 2 + 1999, and the last packet, on a link that is busy from
  // 1325 on, ends 32 times 10 ns and 8,000 B at 27.2 GB/s later: 2138.71 cycles.
  EXPECT_EQ(sends.transfers[0].packets, 32U);
  EXPECT_EQ(sends.host, Cycles(2006 + 398));
  EXPECT_EQ(sends.visit_end, Cycles(2006 + 398 - 2139));
}

TEST(Arguments, ThatDoNotFitAreNamedWithWhatTheProgramExpects) {
  ProgramImage image = echo(1);
  image.arguments.push_back({DType::kF32, {}});
  const auto problems = [&](const std::vector<HostTensor>& arguments, std::uint32_t calls) {
    try {
      check_arguments(image, arguments, calls);
    } catch (const MalformedInput& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const HostTensor scalar(TensorType{DType::kF32, {}});
  EXPECT_EQ(problems({numbers({2}), scalar}, 1), "");
  EXPECT_EQ(problems({numbers({5, 2}), scalar}, 5), "");
  EXPECT_NE(problems({numbers({2})}, 1).find("arg1 is missing"), std::string::npos);
  EXPECT_NE(problems({numbers({3}), scalar}, 1)
                .find("arg0 is tensor<3xui32>, but the program expects tensor<2xui32>"),
            std::string::npos);
  EXPECT_NE(problems({numbers({3}), scalar}, 4).find("or tensor<4x2xui32> for one slice a call"),
            std::string::npos);
  EXPECT_NE(problems({numbers({2}), scalar, scalar}, 1).find("arg2 is one too many"),
            std::string::npos);
  image.alias = {0};
  EXPECT_NE(problems({numbers({4, 2}), scalar}, 4).find("arg0 is state"), std::string::npos);
}

}  // namespace
}  // namespace superstep
