#include "sim/trace/cost_source.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>

#include "isa/machine_keys.h"

namespace superstep {
namespace {

/// How little one can rely on a source.
int doubt(CostSource source) {
  using enum CostSource;
  constexpr CostSource kByDoubt[] = {kMeasured, kPublished,    kDerived,
                                     kUser,     kExtrapolated, kAssumed};
  return static_cast<int>(std::ranges::find(kByDoubt, source) - std::begin(kByDoubt));
}

/// The one to rely on less.
CostSource weaker(CostSource a, CostSource b) { return doubt(a) < doubt(b) ? b : a; }

/// Of the text of a source.
CostSource kind_of(std::string_view source) {
  const auto* const name = std::ranges::find(kCostSources, source.substr(0, source.find(':')));
  if (name == std::end(kCostSources)) return CostSource::kAssumed;
  const auto kind = static_cast<CostSource>(name - std::begin(kCostSources));
  const std::optional<std::string_view> scaled = scaled_source(source);
  return scaled ? weaker(kind, kind_of(*scaled)) : kind;
}

/// The key of a number, which may be one of a list.
std::string_view key_of(std::string_view number) { return number.substr(0, number.find('[')); }

/// Whether the cycles of all code of tiles follow from a key.
bool is_of_code(std::string_view key) {
  constexpr std::string_view kKeys[] = {"tile.workers",         "tile.pipeline_depth",
                                        "tile.amp_units",       "costs.taken_branch",
                                        "costs.result_latency", "costs.runall"};
  return std::ranges::find(kKeys, key) != std::end(kKeys);
}

}  // namespace

CostSource cost_source(const MachineSources& sources, std::string_view key) {
  const auto source = sources.find(std::string(key_of(key)));
  return source == sources.end() ? CostSource::kAssumed : kind_of(source->second);
}

PartSources part_sources(const MachineConfig& machine, const MachineSources& sources) {
  const std::vector<ConfigNumber> numbers = config_numbers(machine);
  const auto weakest = [&](const auto& is_its) {
    CostSource found = CostSource::kMeasured;
    for (const ConfigNumber& number : numbers) {
      // A number that is 0 adds no cycles, and names have none.
      if (number.value == 0 || number.unit == Unit::kName) continue;
      if (!is_its(std::string_view(number.key))) continue;
      found = weaker(found, cost_source(sources, number.key));
    }
    return found;
  };
  // Tiles leave a barrier by their skews, which a schedule knows.
  const auto is_of_exchange = [&](std::string_view key) {
    if (key.starts_with("exchange.")) return reads_key(machine, key_of(key));
    return key == "sync.skew_per_row" || key.starts_with("sync.column_skew");
  };
  // Nanoseconds and bandwidth become cycles by the clock; a host phase lasts until both the host
  // and the external barrier are done.
  const auto is_external = [](std::string_view key) {
    return key.starts_with("sync.external") || key == "tile.clock";
  };
  const auto is_of_callbacks = [](std::string_view key) {
    return key == "host.callback_latency" || key == "tile.clock";
  };
  return {.exchange = weakest(is_of_exchange),
          .compute = weakest(is_of_code),
          .internal_sync = weakest(
              [&](std::string_view key) { return key.starts_with("sync.") && !is_external(key); }),
          .external_sync = weakest(is_external),
          .host = weakest([&](std::string_view key) {
            return (key.starts_with("host.") && !is_of_callbacks(key)) || is_external(key);
          }),
          .callbacks = weakest(is_of_callbacks)};
}

}  // namespace superstep
