#include "tools/kanata.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

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

void KanataTrace::issued(const IssuedInstruction& instruction) {
  if (instructions_.size() < kMostInstructions) {
    instructions_.push_back(instruction);
  } else {
    ++left_out_;
  }
}

std::string KanataTrace::text(const LinkedCode& code) const {
  std::vector<IssuedInstruction> rows = instructions_;
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return std::pair(begin_of(a), a.context) < std::pair(begin_of(b), b.context);
  });
  std::vector<Event> events;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    events.push_back({begin_of(rows[row]), Happens::kBegins, row});
    events.push_back({rows[row].cycle, Happens::kIssues, row});
    events.push_back({rows[row].cycle + rows[row].cycles, Happens::kEnds, row});
  }
  std::sort(events.begin(), events.end());
  std::string out = "Kanata\t0004\nC=\t0\n";
  std::uint64_t now = 0;
  std::size_t retired = 0;
  for (const Event& event : events) {
    if (event.cycle != now) out += fmt::format("C\t{}\n", event.cycle - now);
    now = event.cycle;
    const IssuedInstruction& i = rows[event.row];
    const std::uint32_t thread = std::min(i.context, workers_);
    switch (event.what) {
      case Happens::kBegins:
        out += fmt::format("I\t{0}\t{0}\t{1}\nL\t{0}\t0\t{2}: {3}\n", event.row, thread,
                           code.place_of(i.pc), text_of(i));
        out += fmt::format(
            "L\t{}\t1\t{}, pc {:#x}\n", event.row,
            thread == workers_ ? std::string("supervisor") : fmt::format("worker {}", thread),
            i.pc);
        if (i.cycle != event.cycle) out += fmt::format("S\t{}\t0\tW\n", event.row);
        break;
      case Happens::kIssues:
        out += fmt::format("S\t{}\t0\tX\n", event.row);
        break;
      case Happens::kEnds:
        out += fmt::format("E\t{0}\t0\tX\nR\t{0}\t{1}\t0\n", event.row, retired++);
        break;
    }
  }
  return out;
}

}  // namespace superstep
