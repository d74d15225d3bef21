#include "report/export/kanata_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "isa/instruction_word.h"

namespace superstep {
namespace {

/// What happens to a row, in the order in which things of one cycle are written.
enum class Happens : std::uint8_t { kEnds, kBegins, kIssues };

struct Event {
  std::uint64_t cycle;
  Happens what;
  std::size_t row;

  bool operator<(const Event& other) const {
    return std::tie(cycle, what, row) < std::tie(other.cycle, other.what, other.row);
  }
};

std::uint64_t begin_of(const IssuedInstruction& i) {
  return i.cycle - i.register_wait - i.slot_wait;
}

std::string text_of(const IssuedInstruction& i) {
  const std::string first = disassemble(i.words[0], i.pc);
  if (i.instructions == 1) return first;
  return fmt::format("{{ {} ; {} }}", first, disassemble(i.words[1], i.pc + 4));
}

}  // namespace

void KanataLog::add(const TileInstruction& instruction) {
  if (instructions_.size() < kMostInstructions) {
    instructions_.push_back(instruction);
  } else {
    ++left_out_;
  }
}

void KanataLog::write(std::uint64_t begin, const PlaceOf& place_of,
                      const std::function<void(std::string_view)>& sink) const {
  std::vector<TileInstruction> rows = instructions_;
  std::ranges::stable_sort(rows, {}, [](const TileInstruction& i) {
    return std::tuple(begin_of(i), i.tile, i.context);
  });
  std::vector<Event> events;
  std::set<std::uint32_t> tiles;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    events.push_back({begin_of(rows[row]), Happens::kBegins, row});
    events.push_back({rows[row].cycle, Happens::kIssues, row});
    events.push_back({rows[row].cycle + rows[row].cycles, Happens::kEnds, row});
    tiles.insert(rows[row].tile);
  }
  std::sort(events.begin(), events.end());
  std::uint64_t now = events.empty() ? begin : std::min(begin, events.front().cycle);
  sink(fmt::format("Kanata\t0004\nC=\t{}\n", now));
  std::size_t retired = 0;
  for (const Event& event : events) {
    if (event.cycle != now) sink(fmt::format("C\t{}\n", event.cycle - now));
    now = event.cycle;
    const TileInstruction& i = rows[event.row];
    switch (event.what) {
      case Happens::kBegins: {
        const std::uint32_t context = std::min(i.context, workers_);
        const auto tile =
            static_cast<std::uint32_t>(std::distance(tiles.begin(), tiles.find(i.tile)));
        const std::uint32_t thread = tile * (workers_ + 1) + context;
        sink(fmt::format("I\t{0}\t{0}\t{1}\nL\t{0}\t0\t{2}: {3}\n", event.row, thread, place_of(i),
                         text_of(i)));
        sink(fmt::format("L\t{}\t1\t{}{}, pc {:#x}\n", event.row,
                         tiles.size() > 1 ? fmt::format("tile {}, ", i.tile) : "",
                         context == workers_ ? "supervisor" : fmt::format("worker {}", context),
                         i.pc));
        if (i.cycle != event.cycle) sink(fmt::format("S\t{}\t0\tW\n", event.row));
        break;
      }
      case Happens::kIssues:
        sink(fmt::format("S\t{}\t0\tX\n", event.row));
        break;
      case Happens::kEnds:
        sink(fmt::format("E\t{0}\t0\tX\nR\t{0}\t{1}\t0\n", event.row, retired++));
        break;
    }
  }
}

}  // namespace superstep
