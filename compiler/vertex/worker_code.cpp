#include "compiler/vertex/worker_code.h"

#include <algorithm>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/hash.h"
#include "compiler/vertex/register_allocation.h"
#include "isa/bundle.h"
#include "isa/registers.h"
#include "toolchain/assembler.h"

namespace superstep::vertex {
namespace {

// The first stack words carry values between the register files.
constexpr std::uint32_t kTransferWords = 2;
/// The bit of both halves of a bundle.
/// Bundles of a repeat body: the instruction holds their number less one in 8 bits.
constexpr std::size_t kMostRepeated = 256;

}  // namespace

/// Machine code that may become a bundle, or a place.
struct WorkerCode::Line {
  std::optional<std::uint32_t> main, aux;
  std::uint32_t target = ~0U;  ///< the label that the main half branches to
  std::uint32_t label = ~0U;   ///< placed
  bool is_repeat = false;
  std::int32_t aux_writes = -1;  ///< the first register of the aux half's result
  std::int32_t aux_written = 0;  ///< how many

  [[nodiscard]] std::uint32_t words() const { return (main ? 1U : 0U) + (aux ? 1U : 0U); }
};

/// Whether an instruction writes one half of a pair without a look at it.
bool writes_half(const Instruction& instruction, const Arg& arg) {
  const auto i = static_cast<std::size_t>(&arg - instruction.args.data());
  return arg.is_virtual() && arg.is_written() && arg.part != Arg::Part::kAll &&
         instruction.record->operands[i].role == isa::Role::kOut;
}

/// What an instruction only copies, if it is a virtual register.
std::optional<Arg> moved_value(const Instruction& instruction) {
  const std::vector<Arg>& args = instruction.args;
  const std::string_view mnemonic = instruction.record->mnemonic;
  if ((mnemonic != "or" && mnemonic != "or64") || !args[1].is_virtual()) return std::nullopt;
  const Arg& other = args[2];
  const bool is_zero = other.kind == Arg::Kind::kMachine
                           ? other.value + other.machine_count - 1 == isa::kZero
                           : other.kind == Arg::Kind::kNumber && other.value == 0;
  return is_zero ? std::optional(args[1]) : std::nullopt;
}

/// The registers through which the values on the stack pass that one item uses.
class WorkerCode::Carriers {
 public:
  Carriers(std::int32_t main_registers, std::int32_t arithmetic)
      : first_main_(main_registers - kSpillRegisters), arithmetic_(arithmetic) {}

  /// Forgets those of the item before.
  void begin(const WorkerCode::Item& item) {
    item_ = &item;
    taken_.clear();
  }
  std::int32_t of(Reg reg) {
    for (const auto& [known, number] : taken_) {
      if (known.id == reg.id) return number;
    }
    const std::int32_t number = find(reg);
    taken_.emplace_back(reg, number);
    return number;
  }

 private:
  // In turns, so that a load may go beside what uses the one before.
  std::int32_t find(Reg reg) {
    if (reg.file == File::kM) return first_main_ + next_main_++ % kSpillRegisters;
    const std::int32_t size = reg.file == File::kPair ? 2 : 1;
    for (std::int32_t tried = 0; tried < arithmetic_; ++tried) {
      const std::int32_t place = next_++ % arithmetic_;
      const std::int32_t number = kARegisters - arithmetic_ + place;
      if (place % size == 0 && owners(number, size) == 0) return number;
    }
    // A result may take the register of an operand, which is read before.
    for (const auto& [known, number] : taken_) {
      const bool is_result = is_only(Arg::Kind::kDef, reg) && is_only(Arg::Kind::kUse, known);
      const bool is_operand = is_only(Arg::Kind::kUse, reg) && is_only(Arg::Kind::kDef, known);
      const bool has_room = known.file == reg.file || known.file == File::kPair;
      if (has_room && (is_result || is_operand) && owners(number, size) == 1) return number;
    }
    SUPERSTEP_CHECK(false, "registers that carry values from and to the stack");
    return 0;
  }
  /// Values of the item that are in some of the registers from a number on.
  [[nodiscard]] std::ptrdiff_t owners(std::int32_t number, std::int32_t size) const {
    return std::ranges::count_if(taken_, [&](const auto& other) {
      const std::int32_t behind = other.second + (other.first.file == File::kPair ? 2 : 1);
      return other.first.file != File::kM && other.second < number + size && number < behind;
    });
  }
  [[nodiscard]] bool is_only(Arg::Kind kind, Reg reg) const {
    return std::ranges::all_of(item_->parts, [&](const Instruction& part) {
      return std::ranges::all_of(part.args, [&](const Arg& arg) {
        return !arg.is_virtual() || arg.reg.id != reg.id ||
               (writes_half(part, arg) ? Arg::Kind::kDef : arg.kind) == kind;
      });
    });
  }

  std::int32_t first_main_, arithmetic_, next_main_ = 0, next_ = 0;
  const WorkerCode::Item* item_ = nullptr;
  std::vector<std::pair<Reg, std::int32_t>> taken_;
};

// Words of lines, with branches to where the labels are.
Codelet WorkerCode::linked(const std::vector<Line>& lines, std::uint32_t labels) {
  std::vector<std::uint32_t> places(labels);
  std::uint32_t at = 0;
  for (const Line& line : lines) {
    if (line.label != ~0U) places[line.label] = at;
    at += line.words();
  }
  Codelet codelet;
  for (const Line& line : lines) {
    const std::uint32_t bundled = line.words() == 2 ? isa::kCoIssue : 0;
    if (line.target != ~0U)
      codelet.relocations.push_back(static_cast<std::uint32_t>(codelet.words.size()));
    if (line.main) {
      const std::uint32_t address = line.target != ~0U ? places[line.target] : 0;
      codelet.words.push_back(*line.main | bundled | address);
    }
    if (line.aux) codelet.words.push_back(*line.aux | bundled);
  }
  return codelet;
}

std::string content_name(const std::string& prefix, const std::vector<std::uint32_t>& words) {
  std::uint64_t hash = kFnv1aBasis;
  for (const std::uint32_t word : words) {
    for (int byte = 0; byte < 4; ++byte) hash = fnv1a(hash, word >> (8 * byte) & 0xff);
  }
  return fmt::format("{}_{:016x}", prefix, hash);
}

Codelet assembled(const std::string& name, const std::string& text) {
  const Assembly assembly = assemble(text, name);
  Codelet codelet;
  codelet.words = assembly.words;
  codelet.relocations = assembly.relocations;
  codelet.name = content_name(name, codelet.words);
  return codelet;
}

std::optional<std::uint32_t> WorkerCode::Item::target() const {
  if (kind != Kind::kCode || parts[0].args.empty()) return std::nullopt;
  const Arg& last = parts[0].args.back();
  if (last.kind != Arg::Kind::kLabel) return std::nullopt;
  return static_cast<std::uint32_t>(last.value);
}

std::uint32_t WorkerCode::slots_of(const Item& item) const {
  std::uint32_t slots = 1;
  for (const Instruction& part : item.parts)
    slots = std::max(slots, part.record->worker_slots(machine_));
  return slots;
}

Reg WorkerCode::fresh(File file) { return {registers_++, file}; }

void WorkerCode::emit(std::string_view mnemonic, std::initializer_list<Arg> args) {
  emit(Instruction(mnemonic, args));
}

void WorkerCode::emit(Instruction instruction) {
  Item item;
  item.parts.push_back(std::move(instruction));
  items().push_back(std::move(item));
}

void WorkerCode::bundle(Instruction main, Instruction aux) {
  Item item;
  item.parts.push_back(std::move(main));
  item.parts.push_back(std::move(aux));
  items().push_back(std::move(item));
}

Reg WorkerCode::result(File file, std::string_view mnemonic, std::initializer_list<Arg> args) {
  const Reg result = fresh(file);
  std::vector<Arg> all{def(result)};
  all.insert(all.end(), args);
  emit(Instruction(mnemonic, std::move(all)));
  return result;
}

Reg WorkerCode::constant(File file, std::uint32_t value) {
  const Reg r = fresh(file);
  set_constant(r, value);
  return r;
}

void WorkerCode::set_constant(Reg r, std::uint32_t value) {
  const std::uint32_t low20 = value & 0xfffff;
  const std::uint32_t high12 = value & 0xfff00000;
  if (value == 0) {  // `setzi $a13, 0` is `fnop`
    emit("zero", {def(r)});
    return;
  }
  if (high12 == 0) {
    emit("setzi", {def(r), low20});
    return;
  }
  if (low20 == 0) {
    emit("or", {def(r), r.file == File::kM ? "$mzero" : "$azero", high12});
    return;
  }
  emit("setzi", {def(r), low20});
  emit("or", {def(r), r, high12});
}

void WorkerCode::move(Reg to, Reg from) {
  SUPERSTEP_CHECK(to.file == from.file, "move between register files");
  emit("mov", {def(to), from});
}

bool WorkerCode::retarget(Reg from, Reg to) {
  if (items().empty() || items().back().parts.size() != 1) return false;
  std::vector<Arg>& args = items().back().parts[0].args;
  if (args.empty() || args[0].kind != Arg::Kind::kDef || args[0].reg.id != from.id) return false;
  if (from.file != to.file) return false;
  args[0].reg = to;
  return true;
}

Reg WorkerCode::to_a(Reg m) {
  emit("st32", {m, "$mworker_base", "$mzero", 0});
  return a("ld32", {"$mworker_base", "$mzero", 0});
}

void WorkerCode::place(Label label) {
  Item item;
  item.kind = Item::Kind::kLabel;
  item.label = label.id;
  items().push_back(std::move(item));
}

void WorkerCode::branch(std::string_view mnemonic, std::initializer_list<Arg> args, Label target) {
  std::vector<Arg> all(args);
  all.emplace_back(target);
  emit(Instruction(mnemonic, std::move(all)));
}

void WorkerCode::begin_repeat(Reg count) {
  Item item;
  item.kind = Item::Kind::kRepeat;
  item.parts.push_back(Instruction("rpt", {count, 0}));
  items().push_back(std::move(item));
}

void WorkerCode::end_repeat() {
  Item item;
  item.kind = Item::Kind::kEndRepeat;
  items().push_back(std::move(item));
}

Label WorkerCode::subroutine(WorkerCode code) {
  SUPERSTEP_CHECK(code.subroutines_.empty(), "a subroutine calls no other: there is one link");
  code.is_called_ = true;
  subroutines_.push_back(std::move(code));
  entries_.push_back(label());
  return entries_.back();
}

std::pair<std::vector<WorkerCode::Item>, Assignment> WorkerCode::allocated() const {
  std::vector<Item> all = prologue_;
  all.insert(all.end(), body_.begin(), body_.end());
  // Values live longer where instructions move together: the order as written needs least.
  std::vector<Item> items = bundled(all, true);
  Assignment assignment = linear_scan(live_intervals(items, registers_, labels_), registers_,
                                      m_registers(), Spill::kNothing);
  if (!assignment.ok) {
    items = bundled(all, false);
    const std::vector<Interval> live = live_intervals(items, registers_, labels_);
    for (const Spill spill : {Spill::kNothing, Spill::kWords, Spill::kWordsAndPairs}) {
      assignment = linear_scan(live, registers_, m_registers(), spill);
      if (assignment.ok) break;
    }
  }
  return {std::move(items), std::move(assignment)};
}

std::optional<Codelet> WorkerCode::try_finish(const std::string& prefix) {
  const auto [items, assignment] = allocated();
  if (!assignment.ok || longest_repeat(items) > kMostRepeated) return std::nullopt;
  std::vector<Line> lines = encoded(items, assignment, kTransferWords);
  std::uint32_t stack_words = kTransferWords + assignment.slots, labels = labels_;
  for (std::size_t i = 0; i < subroutines_.size(); ++i) {
    lines.push_back({.main = {}, .aux = {}, .label = entries_[i].id});
    // None runs while another does.
    stack_words = std::max(
        stack_words, append(subroutines_[i], kTransferWords + assignment.slots, labels, lines));
    labels += subroutines_[i].labels_;
  }
  Codelet codelet = linked(lines, labels);
  codelet.stack_bytes = (stack_words * 4 + 7) / 8 * 8;
  codelet.name = content_name(prefix, codelet.words);
  return codelet;
}

std::size_t WorkerCode::longest_repeat(const std::vector<Item>& items) {
  std::size_t longest = 0, length = 0;
  for (const Item& item : items) {
    if (item.kind == Item::Kind::kRepeat) length = 0;
    length += item.kind == Item::Kind::kCode;
    if (item.kind == Item::Kind::kEndRepeat) longest = std::max(longest, length);
  }
  return longest;
}

Codelet WorkerCode::finish(const std::string& prefix) {
  auto codelet = try_finish(prefix);
  SUPERSTEP_CHECK(codelet.has_value(), "registers of " + prefix);
  return *std::move(codelet);
}

std::uint32_t WorkerCode::append(const WorkerCode& subroutine, std::uint32_t first_word,
                                 std::uint32_t first_label, std::vector<Line>& lines) const {
  const auto [items, assignment] = subroutine.allocated();
  SUPERSTEP_CHECK(assignment.ok, "registers of a subroutine");
  std::set<std::pair<File, std::int32_t>> written;
  for (const Item& item : items) {
    for (const Instruction& part : item.parts) {
      for (const Arg& arg : part.args) {
        const std::int32_t first = arg.is_virtual() ? assignment.machine[arg.reg.id] : -1;
        if (first < 0) continue;
        const File file = arg.reg.file == File::kM ? File::kM : File::kA;
        for (std::int32_t r = first; r <= first + (arg.reg.file == File::kPair ? 1 : 0); ++r)
          written.emplace(file, r);
      }
    }
  }
  if (assignment.slots > 0) {
    for (std::int32_t r = 1; r <= kSpillRegisters; ++r)
      written.emplace(File::kM, kMRegistersOfCallers - r);
    for (std::int32_t r = 1; r <= assignment.carriers; ++r)
      written.emplace(File::kA, kARegisters - r);
  }
  const auto saved = static_cast<std::uint32_t>(written.size() + written.size() % 2);
  const auto move_all = [&](bool load) {
    std::uint32_t word = first_word;
    for (const auto& [file, number] : written) {
      const Reg reg{0, file};
      const Instruction moved(load ? "ld32" : "st32",
                              {load ? def(reg) : Arg(reg), "$mworker_base", "$mzero", word++});
      const auto number_of = [n = number](const Arg&) { return n; };
      lines.push_back({.main = moved.word(number_of), .aux = {}});
    }
  };
  move_all(false);
  for (Line line : subroutine.encoded(items, assignment, first_word + saved)) {
    SUPERSTEP_CHECK(!line.is_repeat, "a subroutine repeats nothing");
    if (line.target != ~0U) line.target += first_label;
    if (line.label != ~0U) line.label += first_label;
    lines.push_back(line);
  }
  move_all(true);
  const Instruction back("br", {"$mlink"});
  lines.push_back({.main = back.word([](const Arg&) { return 0; }), .aux = {}});
  return first_word + saved + assignment.slots;
}

std::vector<WorkerCode::Line> WorkerCode::encoded(const std::vector<Item>& items,
                                                  const Assignment& assignment,
                                                  std::uint32_t first_word) const {
  std::vector<Line> lines;
  std::uint32_t words = 0;
  const auto put = [&](Line line) {
    words += line.words();
    lines.push_back(line);
  };
  const std::uint32_t nop = isa::kNop, fnop = isa::kFnop;
  // A repeat body starts at an 8-byte boundary: one word more in front of it is free where an
  // instruction becomes a bundle.
  const auto shift_by_a_word = [&] {
    for (std::size_t i = lines.size(); i-- > 0 && !lines[i].is_repeat;) {
      Line& line = lines[i];
      if (line.words() != 1) continue;
      (line.main ? line.aux : line.main) = line.main ? fnop : nop;
      ++words;
      return;
    }
    put({.main = nop, .aux = {}});
  };
  // A load of a spilled value goes beside the arithmetic in front of it.
  const auto put_load = [&](std::uint32_t load, std::int32_t number, File file) {
    Line* before = lines.empty() ? nullptr : &lines.back();
    const std::int32_t behind = number + (file == File::kPair ? 2 : 1);
    if (before == nullptr || before->main || !before->aux ||
        (file != File::kM && before->aux_writes < behind &&
         number < before->aux_writes + before->aux_written)) {
      return put({.main = load, .aux = {}});
    }
    before->main = load;
    ++words;
  };
  Carriers carriers(m_registers(), assignment.carriers);
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Item& item = items[i];
    if (item.kind == Item::Kind::kLabel) {
      lines.push_back({.main = {}, .aux = {}, .label = item.label});
      continue;
    }
    if (item.kind == Item::Kind::kEndRepeat) continue;
    carriers.begin(item);
    const auto number_of = [&](const Arg& arg) {
      const std::int32_t fixed = assignment.machine[arg.reg.id];
      return fixed >= 0 ? fixed : carriers.of(arg.reg);
    };
    std::set<std::uint32_t> loaded;
    std::vector<std::uint32_t> after;
    bool is_stored = false;
    for (const Instruction& part : item.parts) {
      for (const Arg& arg : part.args) {
        if (!arg.is_virtual() || assignment.slot[arg.reg.id] < 0) continue;
        const auto place = first_word + static_cast<std::uint32_t>(assignment.slot[arg.reg.id]);
        const bool is_half = writes_half(part, arg);
        if (arg.kind != Arg::Kind::kDef && !is_half && loaded.insert(arg.reg.id).second) {
          const bool is_pair = arg.reg.file == File::kPair;
          const Instruction load(
              is_pair ? "ld64" : "ld32",
              {def(arg.reg), "$mworker_base", "$mzero", is_pair ? place / 2 : place});
          put_load(load.word(number_of), number_of(arg), arg.reg.file);
        }
        if (arg.is_written()) {
          const bool is_pair = arg.reg.file == File::kPair && !is_half;
          // What is only moved to the stack is stored from where it is.
          const std::optional<Arg> moved =
              item.parts.size() == 1 ? moved_value(part) : std::nullopt;
          is_stored = moved.has_value();
          Arg value = moved.value_or(Arg(arg.reg));
          if (!moved) value.part = arg.part;
          const std::uint32_t word = place + (arg.part == Arg::Part::kHigh ? 1 : 0);
          const Instruction store(is_pair ? "st64" : "st32",
                                  {value, "$mworker_base", "$mzero", is_pair ? place / 2 : word});
          after.push_back(store.word(number_of));
        }
      }
    }
    Line line;
    for (const Instruction& part : item.parts)
      (part.pipe() == isa::Pipe::kMain ? line.main : line.aux) = part.word(number_of);
    for (const Instruction& part : item.parts) {
      if (part.pipe() == isa::Pipe::kMain) continue;
      for (const Arg& arg : part.args) {
        if (!arg.is_written()) continue;
        line.aux_writes = number_of(arg);
        line.aux_written = arg.reg.file == File::kPair ? 2 : 1;
      }
    }
    if (const auto target = item.target()) line.target = *target;
    if (item.kind == Item::Kind::kRepeat) {
      std::int64_t bundles = 0;
      for (std::size_t j = i + 1; items[j].kind != Item::Kind::kEndRepeat; ++j)
        bundles += items[j].kind == Item::Kind::kCode;
      const Instruction repeat("rpt", {item.parts[0].args[0], bundles - 1});
      line.main = repeat.word(number_of);
      line.is_repeat = true;
      if (words % 2 == 0) shift_by_a_word();
    }
    if (!is_stored) put(line);
    for (const std::uint32_t store : after) put({.main = store, .aux = {}});
  }
  return lines;
}

}  // namespace superstep::vertex
