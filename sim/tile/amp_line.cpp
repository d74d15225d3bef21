#include "sim/tile/amp_line.h"

#include <algorithm>
#include <utility>

#include "isa/instructions.h"
#include "isa/operands.h"
#include "isa/table.h"
#include "sim/tile/amp_line_handlers.h"

namespace superstep {

namespace {

/// Shorter ones gain nothing.
constexpr std::size_t kLeastBundles = 2;
constexpr std::size_t kMostCourses = 16;

std::uint32_t immediate_of(const isa::InstructionInfo& info, std::uint32_t word) {
  return info.operands.back().field.extract(word);
}

/// The first place of the operand with a letter.
template <class... Operands>
constexpr std::size_t slot_of(isa::List<Operands...> operands, char letter) {
  std::size_t ordinal = 0;
  for (const char c : {Operands::kLetter...}) {
    if (c == letter) break;
    ++ordinal;
  }
  return register_slot(operands, ordinal);
}

/// A step of a line, and what all steps of one share.
struct Described {
  AmpBundle bundle;
  AmpLineHandlers handlers;
  std::optional<AmpLine::Registers> registers;

  bool describe_phase(const isa::InstructionInfo& info, std::uint32_t word,
                      const std::array<std::uint8_t, 6>& places) {
    handlers = amp_line_handlers(info);
    if (handlers.run == nullptr) return false;
    bundle.phase = static_cast<std::uint8_t>(immediate_of(info, word) % handlers.phases);
    bundle.operands = places;
    return true;
  }

  template <class... Records>
  bool describe_accesses(isa::List<Records...>, const isa::InstructionInfo& info,
                         const WorkerStep& step) {
    return (describe_accesses<Records>(info, step) || ...);
  }
  template <class R>
  bool describe_accesses(const isa::InstructionInfo& info, const WorkerStep& step) {
    if constexpr (requires { R::access; }) {
      if (info.number != isa::kNumberOf<R>) return false;
      const auto place = [&](char letter, std::size_t further = 0) {
        return step.registers.at(slot_of(typename R::Operands{}, letter) + further);
      };
      const std::uint32_t selectors = immediate_of(info, step.word);
      const auto access = [&](std::size_t number, const std::optional<isa::U32>& shift) {
        if (!shift) return;
        bundle.accesses |= static_cast<std::uint8_t>(1U << number);
        bundle.selectors.at(number) = static_cast<std::uint8_t>(selectors >> *shift & 3);
      };
      access(0, R::access.first);
      access(1, R::access.second);
      access(2, R::access.third);
      // `$e` is what is stored, or else what is loaded second; `$d` takes both loads beside a
      // store.
      if (R::access.first) bundle.first_to = place('d');
      bundle.second_to = R::access.third ? bundle.first_to + 2 : place('e');
      bundle.third_from = place('e');
      registers = {place('p'), place('s')};
      const bool is_strides_among_addresses = place('s') / 2 == place('p') / 2;
      return place('p') == place('p', 1) && !is_strides_among_addresses;
    } else {
      return false;
    }
  }
};

/// None when the step can be in no line.
std::optional<Described> described(const WorkerStep& step) {
  if (step.own_cost().count() == 0) return std::nullopt;  // a fault
  const isa::InstructionInfo* main = isa::find_instruction(step.word);
  const isa::InstructionInfo* aux = isa::find_instruction(step.aux_word);
  Described described;
  // One without accesses is decoded as the AMP instruction alone.
  const bool is_in_line =
      main->spec.pipe == isa::Pipe::kAux
          ? described.describe_phase(*main, step.word, step.registers)
          : aux != nullptr && described.describe_accesses(isa::PaceInstructions{}, *main, step) &&
                described.describe_phase(*aux, step.aux_word, step.aux_registers);
  return is_in_line ? std::optional(described) : std::nullopt;
}

/// Puts a line together.
class Builder {
 public:
  explicit Builder(AmpLine& line) : line_(line) {}

  /// Whether the line goes on with a step.
  bool add(const WorkerStep& step) {
    const std::optional<Described> next = described(step);
    if (!next || (line_.last != nullptr && next->handlers.run != line_.run)) return false;
    if (next->registers && line_.registers && *next->registers != *line_.registers) return false;
    const AmpBundle& bundle = next->bundle;
    line_.bundles.push_back(bundle);
    if (next->registers) line_.registers = next->registers;
    line_.run = next->handlers.run;
    line_.run_turns = next->handlers.run_turns;
    line_.last = &step;
    const auto accesses = [&](std::size_t number) { return (bundle.accesses >> number & 1U) != 0; };
    for (std::size_t number = 0; number < line_.reaches.size(); ++number) {
      line_.reaches.at(number) |= accesses(number);
    }
    for (std::size_t i = 0; i < line_.pairs.size(); ++i) {
      const auto [one, other] = AmpLine::kPairs.at(i);
      if (accesses(one) && accesses(other)) {
        line_.pairs.at(i).meet = true;
        line_.pairs.at(i).step_alike &= alike_.at(i);
      }
      alike_.at(i) &= bundle.selectors.at(one) == bundle.selectors.at(other);
    }
    return true;
  }
  /// What was added is the body of a loop.
  void close() {
    for (std::size_t i = 0; i < line_.pairs.size(); ++i) {
      line_.pairs.at(i).step_alike &= alike_.at(i);
    }
  }

 private:
  AmpLine& line_;
  std::array<bool, 3> alike_{true, true, true};  ///< both of a pair have stepped alike
};

/// The last of the lines, or null without it when it is not worth it.
const AmpLine* kept(std::deque<AmpLine>& lines, bool is_good) {
  const AmpLine& line = lines.back();
  if (is_good && line.registers && line.bundles.size() >= kLeastBundles) return &line;
  lines.pop_back();
  return nullptr;
}

}  // namespace

AmpCourse::AmpCourse(const std::vector<AmpBundle>& bundles, std::uint32_t with_strides)
    : strides(with_strides) {
  for (const AmpBundle& bundle : bundles) {
    Step& step = steps.emplace_back(Step{.bundle = bundle});
    for (std::size_t number = 0; number < end.size(); ++number) {
      if (bundle.selectors[number] == AmpBundle::kStays) continue;
      low[number] = std::min(low[number], end[number]);
      high[number] = std::max(high[number], end[number]);
      step.by[number] =
          static_cast<std::int32_t>(isa::pace_step(bundle.selectors[number], strides));
      end[number] += step.by[number];
    }
  }
  for (std::size_t i = steps.size() - 1; i-- > 0;) {
    if (steps[i].bundle.accesses != steps[i + 1].bundle.accesses) continue;
    steps[i].alike = static_cast<std::uint16_t>(steps[i + 1].alike + 1);
  }
}

AmpCourses::~AmpCourses() {
  const AmpCourse* course = newest_.load();
  while (course != nullptr) delete std::exchange(course, course->next);
}

const AmpCourse* AmpCourses::add(std::uint32_t strides,
                                 const std::vector<AmpBundle>& bundles) const {
  const AmpCourse* newest = newest_.load(std::memory_order_acquire);
  std::size_t count = 0;
  for (const AmpCourse* course = newest; course != nullptr; course = course->next) ++count;
  if (count >= kMostCourses) return nullptr;
  auto* const course = new AmpCourse(bundles, strides);
  do {
    course->next = newest;
  } while (!newest_.compare_exchange_weak(newest, course, std::memory_order_acq_rel));
  return course;
}

const AmpLine* amp_line(const WorkerStep& first, std::deque<AmpLine>& lines) {
  Builder builder(lines.emplace_back());
  lines.back().alone = first.run;
  const WorkerStep* step = &first;
  while (builder.add(*step) && step->runs_on()) step = step->next;
  return kept(lines, true);
}

const AmpLine* amp_body(const WorkerStep& first, const WorkerStep& end,
                        std::deque<AmpLine>& lines) {
  Builder builder(lines.emplace_back());
  const WorkerStep* step = &first;
  while (step != &end && builder.add(*step)) step = step->next;
  builder.close();
  return kept(lines, step == &end);
}

}  // namespace superstep
