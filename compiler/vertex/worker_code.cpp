#include "compiler/vertex/worker_code.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "isa/assembler.h"

namespace superstep::vertex {
namespace {

// The first stack words carry values between the register files.
constexpr std::uint32_t kTransferWords = 2;
/// Bundles of a repeat body: the instruction holds their number less one in 8 bits.
constexpr std::size_t kMostRepeated = 256;

/// A line of assembly: one instruction that may become a bundle, or anything else.
struct Line {
  enum class Kind : std::uint8_t { kMain, kAux, kRepeat, kOther };
  std::string text;
  Kind kind;
};

}  // namespace

std::string content_name(const std::string& prefix, const std::vector<std::uint32_t>& words) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const std::uint32_t word : words) {
    for (int byte = 0; byte < 4; ++byte)
      hash = (hash ^ (word >> (8 * byte) & 0xff)) * 0x100000001b3;
  }
  return fmt::format("{}_{:016x}", prefix, hash);
}

Arg def(Reg r) {
  Arg arg(r);
  arg.kind = Arg::Kind::kDef;
  return arg;
}

Arg both(Reg r) {
  Arg arg(r);
  arg.kind = Arg::Kind::kBoth;
  return arg;
}

Arg step(Reg r) {
  Arg arg = both(r);
  arg.text = "+=";
  return arg;
}

Arg low(Arg pair) {
  pair.part = Arg::Part::kLow;
  return pair;
}

Arg high(Arg pair) {
  pair.part = Arg::Part::kHigh;
  if (pair.kind == Arg::Kind::kDef) pair.kind = Arg::Kind::kBoth;
  return pair;
}

std::uint32_t WorkerCode::slots_of(const std::string& mnemonic) const {
  const MachineConfig::Costs& costs = machine_.costs;
  if (mnemonic == "f32exp") return costs.f32exp;
  if (mnemonic == "f32ln") return costs.f32ln;
  if (mnemonic == "f32tanh") return costs.f32tanh;
  if (mnemonic == "f32sigm") return costs.f32sigm;
  if (mnemonic == "f32div") return costs.f32div;
  if (mnemonic == "f32oox") return costs.f32oox;
  if (mnemonic == "f32oorx") return costs.f32oorx;
  if (mnemonic == "f32sqrt") return costs.f32sqrt;
  return 1;
}

Reg WorkerCode::fresh(File file) {
  files_.push_back(file);
  return {static_cast<std::uint32_t>(files_.size() - 1)};
}

void WorkerCode::emit(std::string_view mnemonic, std::initializer_list<Arg> args) {
  emit(Instruction(std::string(mnemonic), args));
}

void WorkerCode::emit(Instruction instruction) {
  Item item;
  item.ends_block = instruction.mnemonic == "exitz";
  item.parts.push_back(std::move(instruction));
  items().push_back(std::move(item));
}

void WorkerCode::bundle(Instruction main, Instruction aux) {
  Item item;
  item.parts.push_back(std::move(main));
  item.parts.push_back(std::move(aux));
  items().push_back(std::move(item));
}

Reg WorkerCode::m(std::string_view mnemonic, std::initializer_list<Arg> args) {
  const Reg result = fresh(File::kM);
  emit(mnemonic, args);
  auto& all = items().back().parts[0].args;
  all.insert(all.begin(), def(result));
  return result;
}

Reg WorkerCode::a(std::string_view mnemonic, std::initializer_list<Arg> args) {
  const Reg result = fresh(File::kA);
  emit(mnemonic, args);
  auto& all = items().back().parts[0].args;
  all.insert(all.begin(), def(result));
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
    emit("or", {def(r), file(r) == File::kM ? "$mzero" : "$azero", fmt::format("{:#x}", high12)});
    return;
  }
  emit("setzi", {def(r), low20});
  emit("or", {def(r), r, fmt::format("{:#x}", high12)});
}

void WorkerCode::move(Reg to, Reg from) {
  SUPERSTEP_CHECK(file(to) == file(from), "move between register files");
  emit("mov", {def(to), from});
}

bool WorkerCode::retarget(Reg from, Reg to) {
  if (items().empty() || items().back().parts.size() != 1) return false;
  std::vector<Arg>& args = items().back().parts[0].args;
  if (args.empty() || args[0].kind != Arg::Kind::kDef || args[0].reg.id != from.id) return false;
  if (file(from) != file(to)) return false;
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
  Item item;
  item.parts.emplace_back(std::string(mnemonic), args);
  item.label = target.id;
  item.ends_block = mnemonic == "bri";
  items().push_back(std::move(item));
}

void WorkerCode::begin_repeat(Reg count) {
  Item item;
  item.kind = Item::Kind::kRepeat;
  item.parts.push_back(Instruction("rpt", {count}));
  items().push_back(std::move(item));
}

void WorkerCode::end_repeat() {
  Item item;
  item.kind = Item::Kind::kEndRepeat;
  items().push_back(std::move(item));
}

void WorkerCode::mark() {
  Item item;
  item.kind = Item::Kind::kMark;
  items().push_back(std::move(item));
}

std::optional<Codelet> WorkerCode::try_finish(const std::string& prefix) {
  std::vector<Item> all = prologue_;
  all.insert(all.end(), body_.begin(), body_.end());
  // Values live longer where instructions move together: the order as written needs least.
  std::vector<Item> items = bundled(all, true);
  Assignment assignment = allocate(intervals(items, files_.size(), labels_), false);
  if (!assignment.ok) {
    items = bundled(all, false);
    const std::vector<Interval> live = intervals(items, files_.size(), labels_);
    assignment = allocate(live, false);
    if (!assignment.ok) assignment = allocate(live, true);
  }
  if (!assignment.ok || longest_repeat(items) > kMostRepeated) return std::nullopt;
  const Assembly assembly = assemble(text(items, assignment), prefix);
  Codelet codelet;
  codelet.words = assembly.words;
  codelet.relocations = assembly.relocations;
  codelet.stack_bytes = ((kTransferWords + assignment.slots) * 4 + 7) / 8 * 8;
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

std::string WorkerCode::text(const std::vector<Item>& items, const Assignment& assignment) {
  marked_slots_.clear();
  std::uint64_t slots = 0;
  const auto name = [&](const Arg& arg, std::int32_t number) {
    switch (file(arg.reg)) {
      case File::kM:
        return fmt::format("$m{}{}", number, arg.text);
      case File::kA:
        return fmt::format("$a{}{}", number, arg.text);
      case File::kPair:
        break;
    }
    if (arg.part == Arg::Part::kLow) return fmt::format("$a{}", number);
    if (arg.part == Arg::Part::kHigh) return fmt::format("$a{}", number + 1);
    return fmt::format("$a{}:{}{}", number, number + 1, arg.text);
  };
  std::vector<Line> lines;
  std::uint32_t words = 0;
  const auto line = [&](const std::string& s, bool aux = false) {
    lines.push_back({s, aux ? Line::Kind::kAux : Line::Kind::kMain});
    ++words;
    ++slots;
  };
  // A repeat body starts at an 8-byte boundary: one word more in front of it is free where an
  // instruction becomes a bundle.
  const auto shift_by_a_word = [&] {
    ++words;
    for (std::size_t i = lines.size(); i-- > 0 && lines[i].kind != Line::Kind::kRepeat;) {
      Line& l = lines[i];
      if (l.kind != Line::Kind::kMain && l.kind != Line::Kind::kAux) continue;
      l.text =
          l.kind == Line::Kind::kMain ? "{ " + l.text + " ; fnop }" : "{ nop ; " + l.text + " }";
      l.kind = Line::Kind::kOther;
      return;
    }
    lines.push_back({"nop", Line::Kind::kOther});
    ++slots;
  };
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Item& item = items[i];
    if (item.kind == Item::Kind::kLabel) {
      lines.push_back({fmt::format(".L{}:", item.label), Line::Kind::kOther});
      continue;
    }
    if (item.kind == Item::Kind::kMark) marked_slots_.push_back(slots);
    if (item.kind == Item::Kind::kEndRepeat || item.kind == Item::Kind::kMark) continue;
    // Values on the stack pass through the registers that the allocator keeps free for them.
    std::vector<std::pair<Reg, std::int32_t>> temporaries;
    std::int32_t next[2] = {kMRegisters - kSpillRegisters, kARegisters - kSpillRegisters};
    std::set<std::uint32_t> loaded;
    std::vector<std::string> after;
    const auto number_of = [&](const Arg& arg) {
      const std::int32_t fixed = assignment.machine[arg.reg.id];
      if (fixed >= 0) return fixed;
      for (const auto& [reg, number] : temporaries) {
        if (reg.id == arg.reg.id) return number;
      }
      const std::int32_t number = next[file(arg.reg) == File::kM ? 0 : 1]++;
      temporaries.emplace_back(arg.reg, number);
      return number;
    };
    for (const Instruction& part : item.parts) {
      for (const Arg& arg : part.args) {
        if (arg.kind == Arg::Kind::kText || assignment.slot[arg.reg.id] < 0) continue;
        const std::string place =
            fmt::format("{}, $mworker_base, $mzero, {}", name(Arg(arg.reg), number_of(arg)),
                        assignment.slot[arg.reg.id] + static_cast<std::int32_t>(kTransferWords));
        if (arg.kind != Arg::Kind::kDef && loaded.insert(arg.reg.id).second) line("ld32 " + place);
        if (arg.kind != Arg::Kind::kUse) after.push_back("st32 " + place);
      }
    }
    std::vector<std::string> parts;
    for (const Instruction& part : item.parts) {
      std::string s = part.mnemonic;
      const char* separator = " ";
      for (const Arg& arg : part.args) {
        s += separator + (arg.kind == Arg::Kind::kText ? arg.text : name(arg, number_of(arg)));
        separator = ", ";
      }
      if (item.label != ~0U && parts.empty()) s += fmt::format("{}.L{}", separator, item.label);
      parts.push_back(std::move(s));
    }
    if (item.kind == Item::Kind::kRepeat) {
      std::size_t bundles = 0;
      for (std::size_t j = i + 1; items[j].kind != Item::Kind::kEndRepeat; ++j) {
        bundles += items[j].kind == Item::Kind::kCode;
      }
      if (words % 2 == 0) shift_by_a_word();
      line(fmt::format("{}, {}", parts[0], bundles - 1));
      lines.back().kind = Line::Kind::kRepeat;
      continue;
    }
    if (parts.size() == 2) {
      lines.push_back({fmt::format("{{ {} ; {} }}", parts[0], parts[1]), Line::Kind::kOther});
      words += 2;
      ++slots;
    } else {
      line(parts[0], is_aux(item.parts[0]));
    }
    slots += slots_of(item.parts.back().mnemonic) - 1;
    for (const std::string& store : after) line(store);
  }
  marked_slots_.push_back(slots);
  std::string out;
  for (const Line& l : lines) out += l.text + "\n";
  return out;
}

}  // namespace superstep::vertex
