#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "report/numbers.h"
#include "report/view.h"
#include "sim/trace/schema.h"

namespace superstep {
namespace {

using Form = ViewColumn::Form;

ViewTable categories(const ViewInput& input) {
  const std::vector<std::string> names =
      input.file.read_text(kMemoryCategories.path_of("category"));
  const auto bytes = input.file.read_wide<std::uint32_t>(kMemoryBytes.path_of("bytes"), 0,
                                                         names.empty() ? 0 : input.trace.tiles);
  ViewTable table{.name = "categories",
                  .title = fmt::format("Memory by category; the worst tile is {}",
                                       index(input.trace.worst_tile)),
                  .columns = {{"category"},
                              {"worst tile", Form::kBytes},
                              {"% of tile", Form::kShare, "1"},
                              {"mean", Form::kBytes, "", 3},
                              {"most", Form::kBytes, "", 2},
                              {"all tiles", Form::kBytes, "", 1},
                              {"share", Form::kBar, "", 4}}};
  const std::size_t tiles = names.empty() ? 0 : bytes.size() / names.size();
  const auto limit = static_cast<double>(std::max<std::uint64_t>(input.trace.tile_memory_bytes, 1));
  const auto add = [&](const std::string& name, std::uint64_t worst, std::uint64_t most,
                       std::uint64_t sum) {
    const double share = static_cast<double>(worst) / limit;
    table.add(name, worst, share, tiles == 0 ? 0 : sum / tiles, most, sum, share);
  };
  std::vector<std::uint64_t> all(tiles);
  for (std::size_t c = 0; c < names.size(); ++c) {
    std::uint64_t most = 0, sum = 0;
    for (std::size_t t = 0; t < tiles; ++t) {
      const std::uint32_t of_tile = bytes[t * names.size() + c];
      all[t] += of_tile;
      most = std::max<std::uint64_t>(most, of_tile);
      sum += of_tile;
    }
    const std::size_t worst = index(input.trace.worst_tile);
    if (sum != 0 && worst < tiles) add(names[c], bytes[worst * names.size() + c], most, sum);
  }
  if (tiles != 0)
    add("in use", input.trace.worst_tile_bytes, std::ranges::max(all),
        std::accumulate(all.begin(), all.end(), std::uint64_t{0}));
  table.compared = {{"category"}, {"worst tile", "most", "all tiles"}};
  table.notes.push_back(fmt::format("A tile has {}.", bytes_text(input.trace.tile_memory_bytes)));
  return table;
}

ViewTable liveness(const ViewInput& input) {
  const std::vector<StepMemory> memory = input.file.read(kLiveness);
  const std::vector<StepRow> steps = input.file.read(kSteps);
  ViewTable table{.name = "liveness",
                  .title = "Steps with most memory in use",
                  .columns = {{"step"},
                              {"fullest tile", Form::kBytes},
                              {"tile", Form::kCount, "1"},
                              {"always live", Form::kBytes, "", 1},
                              {"not always", Form::kBytes, "", 1},
                              {"share", Form::kBar, "", 2}}};
  std::vector<std::size_t> order;
  for (std::size_t s = 0; s < std::min(memory.size(), steps.size()); ++s)
    if (matches(input.options, steps[s].name)) order.push_back(s);
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [&](std::size_t s) { return std::uint64_t{memory[s].peak_tile_bytes}; });
  const auto limit = static_cast<double>(std::max<std::uint64_t>(input.trace.tile_memory_bytes, 1));
  for (const std::size_t s : order) {
    if (input.options.top != 0 && table.rows.size() == input.options.top) break;
    table.add(steps[s].name, std::uint64_t{memory[s].peak_tile_bytes},
              std::uint64_t{memory[s].peak_tile}, memory[s].always_live_bytes,
              memory[s].not_always_live_bytes,
              static_cast<double>(memory[s].peak_tile_bytes) / limit);
  }
  note_more(table, order.size() - table.rows.size());
  note_no_match(table, input.options);
  table.compared = {{"step"}, {"fullest tile", "always live", "not always"}};
  return table;
}

ViewTable tensors(const ViewInput& input) {
  ViewTable table{.name = "tensors",
                  .title = "Biggest tensors",
                  .columns = {{"tensor"},
                              {"label", Form::kText, "", 1, "as the program names it"},
                              {"type", Form::kText, "", 2},
                              {"bytes", Form::kBytes},
                              {"a tile at most", Form::kBytes},
                              {"tiles", Form::kCount, "1", 1},
                              {"lives", Form::kText, "", 3}}};
  const std::vector<StepRow> steps = input.file.read(kSteps);
  const auto name_of_step = [&](std::uint32_t step) {
    return step < steps.size() ? steps[step].name : std::string();
  };
  std::map<std::string, std::string> labels;
  for (StreamRow& stream : input.file.read(kStreams)) labels[stream.name] = std::move(stream.label);
  std::vector<VariableRow> rows = input.file.read(kVariables);
  std::erase_if(rows, [&](const VariableRow& row) {
    return !matches(input.options, row.name) && !matches(input.options, labels[row.name]);
  });
  std::ranges::stable_sort(rows, std::ranges::greater{}, &VariableRow::bytes);
  for (const VariableRow& row : rows) {
    if (input.options.top != 0 && table.rows.size() == input.options.top) break;
    const std::string& label = labels[row.name];
    table.add(row.name, cell_if(!label.empty(), label), row.type_text, row.bytes,
              std::uint64_t{row.max_tile_bytes}, std::uint64_t{row.tiles},
              row.is_always_live
                  ? std::string("always")
                  : name_of_step(row.first_step) + " to " + name_of_step(row.last_step));
  }
  note_more(table, rows.size() - table.rows.size());
  note_no_match(table, input.options);
  table.compared = {{"tensor"}, {"bytes", "a tile at most", "tiles"}, true};
  return table;
}

}  // namespace

std::vector<ViewTable> memory_view(const ViewInput& input) {
  return {categories(input), liveness(input), tensors(input)};
}

}  // namespace superstep
