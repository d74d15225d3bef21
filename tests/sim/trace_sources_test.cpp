#include "sim/trace/trace.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <vector>

#include "base/hdf5_file.h"
#include "isa/machine_config.h"
#include "isa/sync_zones.h"
#include "sim/trace/schema.h"
#include "tests/scratch_folder.h"
#include "tests/sim/two_steps.h"

namespace superstep {
namespace {

TEST(TraceSources, SaysWhereSyncAndHostCyclesComeFrom) {
  ProgramImage image = two_steps();
  const MachineSources sources = {
      {"sync.internal_latency", "derived: a"}, {"sync.skew_per_row", "measured: b"},
      {"sync.column_skew", "published: c"},    {"sync.external_latency", "assumed: d"},
      {"tile.clock", "published: e"},          {"host.bandwidth", "published: f"},
      {"host.packet_overhead", "user: g"},     {"host.phase_latency", "derived: h"},
      {"host.to_tile_packet", "published: i"}, {"host.to_host_packet", "extrapolated: j"}};
  const auto path = scratch_folder() / "sources.h5", killed = scratch_folder() / "killed.h5";
  const auto write_to = [&](const std::filesystem::path& to, bool finish) {
    TraceWriter writer(to, {.sources = sources}, image, {});
    std::vector<TilePhase> tiles;
    SuperstepRecord record = superstep(0, tiles);
    writer.on_superstep(record);
    record.number = 1;
    record.zone = kZoneExternal;
    writer.on_superstep(record);
    record.number = 2;
    record.host = record.exchange + record.compute + record.sync;
    record.exchange = record.compute = record.sync = {};
    record.shares = {};
    writer.on_superstep(record);
    record.number = 3;
    writer.on_superstep(record);
    if (finish) writer.finish({});
  };
  write_to(path, true);
  const Hdf5File file = Hdf5File::open(path, Hdf5File::Access::kRead);
  using Numbers = std::vector<std::uint8_t>;
  const auto of = [&](const std::string& column) {
    return file.read_all<std::uint8_t>(column, Hdf5Type::kU8);
  };
  constexpr std::uint8_t kDerived = 2, kAssumed = 3;
  const Numbers sync = of("/supersteps/sync_cost_source");
  EXPECT_EQ(Numbers(sync.begin(), sync.begin() + 2), (Numbers{kDerived, kAssumed}));
  EXPECT_EQ(of("/supersteps/host_cost_source"), Numbers(4, kAssumed));
  const std::vector<std::string> keys = file.read_text("/machine/parameter/name");
  const Numbers kinds = of("/machine/parameter/cost_source");
  for (std::size_t k = 0; k < keys.size(); ++k) {
    const auto source = sources.find(keys[k].substr(0, keys[k].find('[')));
    const std::string kind =
        source == sources.end() ? "assumed" : source->second.substr(0, source->second.find(':'));
    EXPECT_EQ(kCostSources[kinds[k]], kind) << keys[k];
  }
  const TraceSummary trace = read_trace(path);
  EXPECT_EQ(trace.assumed.sync, 70_cycles);
  EXPECT_EQ(trace.assumed.host, 200_cycles);
  EXPECT_EQ(trace.totals.sync, 140_cycles);
  write_to(killed, false);
  const TraceSummary left = read_trace(killed.string() + ".part");
  EXPECT_EQ(left.assumed.sync, 70_cycles);
  EXPECT_EQ(left.assumed.host, 200_cycles);
}

TEST(TraceSources, PartsOfBuiltinMachinesRestOnTheLeastCertainOfTheirNumbers) {
  for (const std::string& name : builtin_machines()) {
    const PartSources sources = part_sources(load_machine(name), machine_sources(name));
    EXPECT_EQ(sources.exchange, CostSource::kDerived) << name;
    EXPECT_EQ(sources.compute, CostSource::kDerived) << name;
    EXPECT_EQ(sources.internal_sync, CostSource::kDerived) << name;
    EXPECT_EQ(sources.external_sync, CostSource::kAssumed) << name;
    EXPECT_EQ(sources.host, CostSource::kAssumed) << name;
  }
  const std::vector<std::string> external = {"sync.external_latency=100 ns"};
  EXPECT_EQ(
      part_sources(load_machine("bow", external), machine_sources("bow", external)).external_sync,
      CostSource::kUser);
}

TEST(TraceSources, AnExchangeRestsOnTheNumbersOfItsFabric) {
  const auto sources = [](const std::vector<std::string>& overrides) {
    return part_sources(load_machine("gc200", overrides), machine_sources("gc200", overrides));
  };
  EXPECT_EQ(sources({"exchange.fabric=mesh"}).exchange, CostSource::kAssumed);
  EXPECT_EQ(sources({"exchange.fabric=ring"}).exchange, CostSource::kAssumed);
  const std::vector<std::string> known = {"exchange.fabric=mesh", "exchange.port_latency=9 cycles",
                                          "exchange.hop_latency=2 cycles"};
  EXPECT_EQ(sources(known).exchange, CostSource::kUser);
  EXPECT_EQ(sources({"grid.rows=40"}).exchange, CostSource::kExtrapolated);
  EXPECT_EQ(sources({"grid.rows=40"}).compute, CostSource::kDerived);
  EXPECT_EQ(sources({"costs.runall=7 cycles"}).compute, CostSource::kUser);
}

TEST(TraceSources, AScaledNumberIsNoMoreCertainThanTheOneThatWasScaled) {
  const std::vector<std::string> scaled = {"host.*=x1", "sync.*=x2"};
  const PartSources sources =
      part_sources(load_machine("bow", scaled), machine_sources("bow", scaled));
  EXPECT_EQ(sources.internal_sync, CostSource::kUser);  // derived before
  EXPECT_EQ(sources.external_sync, CostSource::kAssumed);
  EXPECT_EQ(sources.host, CostSource::kAssumed);
  const std::vector<std::string> twice = {"sync.external_latency=x2", "sync.external_latency=x0.5"};
  EXPECT_EQ(part_sources(load_machine("bow", twice), machine_sources("bow", twice)).external_sync,
            CostSource::kAssumed);
}

TEST(TraceSources, EveryKindOfSourceHasANumber) {
  EXPECT_EQ(std::set<std::string>(std::begin(kCostSources), std::end(kCostSources)),
            std::set<std::string>(source_kinds().begin(), source_kinds().end()));
}

}  // namespace
}  // namespace superstep
