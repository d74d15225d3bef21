#include "toolchain/object_text.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "isa/bundle.h"
#include "isa/instruction_word.h"
#include "isa/table.h"
#include "toolchain/elf.h"

namespace superstep {

namespace {

using Kind = Object::RelocationKind;

/// A place in a section.
using Spot = std::pair<std::uint32_t, std::uint32_t>;

/// Whether a zero-extended immediate would also fit the sign-extended form of its mnemonic.
bool is_hidden(const isa::InstructionInfo& info, std::uint32_t word) {
  for (std::size_t i = 0; i < info.operands.size(); ++i) {
    const isa::OperandInfo& operand = info.operands[i];
    if (operand.is_register || operand.is_signed || operand.is_address) continue;
    for (const isa::InstructionInfo& other : isa::instruction_table()) {
      if (other.mnemonic == info.mnemonic && other.operands.size() == info.operands.size() &&
          other.operands[i].is_signed && other.operands[i].fits(operand.decode(word))) {
        return true;
      }
    }
  }
  return false;
}

/// Whether a word is a zero in the upper bits, which has a shorter form: no assembler writes it.
bool is_unusual(const isa::InstructionInfo& info, std::uint32_t word) {
  const isa::OperandInfo* last = info.operands.empty() ? nullptr : &info.operands.back();
  return last != nullptr && last->tail != 0 && last->decode(word) == 0;
}

class ObjectText {
 public:
  explicit ObjectText(const Object& object) : object_(object) {
    for (std::uint32_t i = 0; i < object.symbols.size(); ++i) {
      const Object::Symbol& symbol = object.symbols[i];
      if (symbol.section && !is_section(symbol)) symbols_.emplace(spot_of(symbol), i);
    }
    for (std::uint32_t i = 0; i < object.relocations.size(); ++i) {
      const Object::Relocation& relocation = object.relocations[i];
      relocations_.emplace(Spot(relocation.section, relocation.offset), i);
      if (const auto spot = target_of(relocation)) {
        if (symbols_.count(*spot) == 0) targets_.insert(label_before(*spot));
      }
    }
  }

  std::string run() {
    for (const Object::Symbol& symbol : object_.symbols) {
      if (symbol.is_defined && !symbol.section) {
        if (symbol.is_global) line(".globl " + symbol.name);
        line(fmt::format(".equ {}, {:#x}", symbol.name, symbol.offset));
      }
    }
    for (std::uint32_t i = 0; i < object_.sections.size(); ++i) add_section(i);
    return (is_mixed_ ? "    .allow_invalid_execution_mode\n" : "") + text_;
  }

 private:
  void line(const std::string& text) { text_ += "    " + text + "\n"; }

  [[nodiscard]] bool is_section(const Object::Symbol& symbol) const {
    return !symbol.is_global && symbol.offset == 0 &&
           symbol.name == object_.sections[*symbol.section].name;
  }
  [[nodiscard]] static Spot spot_of(const Object::Symbol& symbol) {
    return {*symbol.section, symbol.offset};
  }

  /// Where a relocation points to, when that is in a section of the object.
  [[nodiscard]] std::optional<Spot> target_of(const Object::Relocation& relocation) const {
    const Object::Symbol& symbol = object_.symbols[relocation.symbol];
    if (!symbol.section) return std::nullopt;
    const std::int64_t offset = std::int64_t{symbol.offset} + relocation.addend;
    const std::size_t size = object_.sections[*symbol.section].bytes.size();
    if (offset < 0 || offset > static_cast<std::int64_t>(size)) return std::nullopt;
    return Spot(*symbol.section, static_cast<std::uint32_t>(offset));
  }

  /// The words from there on are the halves of a bundle.
  [[nodiscard]] bool is_bundle(Spot spot) const {
    if (std::uint64_t{spot.second} + 8 > object_.sections[spot.first].bytes.size()) return false;
    const std::uint32_t main = word_at(spot.first, spot.second);
    const std::uint32_t aux = word_at(spot.first, spot.second + 4);
    const auto *first = isa::find_instruction(main), *second = isa::find_instruction(aux);
    return first != nullptr && second != nullptr && first->spec.pipe == isa::Pipe::kMain &&
           second->spec.pipe == isa::Pipe::kAux &&
           (main & isa::kCoIssue & ~first->pattern.mask) != 0 &&
           (aux & isa::kCoIssue & ~second->pattern.mask) != 0 &&
           !isa::share_destination(*first, main, *second, aux);
  }

  /// An `rpt` in front of what can be its body; no assembler writes another one.
  [[nodiscard]] bool has_body(Spot spot, std::uint32_t word,
                              const isa::InstructionInfo& info) const {
    const std::uint32_t begin = spot.second + ((word & isa::kCoIssue) != 0 ? 8 : 4);
    const auto last = static_cast<std::uint32_t>(info.operands[1].decode(word));
    if (begin % 8 != 0) return false;
    for (std::uint32_t at = begin; at <= begin + 8 * last; at += 8) {
      if (!is_bundle({spot.first, at})) return false;
      const auto* main = isa::find_instruction(word_at(spot.first, at));
      if (main->spec.control != isa::Control::kPlain) return false;
    }
    return true;
  }

  /// The place itself, or the begin of the bundle whose second half it is.
  [[nodiscard]] Spot label_before(Spot spot) const {
    const Spot before(spot.first, spot.second - 4);
    return spot.second >= 4 && is_bundle(before) ? before : spot;
  }

  [[nodiscard]] static std::string made_label(Spot spot) {
    return fmt::format(".L{}_{:x}", spot.first, spot.second);
  }

  [[nodiscard]] std::string expression_of(const Object::Relocation& relocation) const {
    if (const auto spot = target_of(relocation)) {
      const auto symbol = symbols_.find(*spot);
      if (symbol != symbols_.end()) return object_.symbols[symbol->second].name;
      const Spot label = label_before(*spot);
      return made_label(label) + (label == *spot ? "" : " + 4");
    }
    const std::string& name = object_.symbols[relocation.symbol].name;
    if (relocation.addend == 0) return name;
    return fmt::format("{} {} {:#x}", name, relocation.addend < 0 ? '-' : '+',
                       std::abs(std::int64_t{relocation.addend}));
  }

  [[nodiscard]] const Object::Relocation* relocation_at(Spot spot) const {
    const auto found = relocations_.find(spot);
    return found == relocations_.end() ? nullptr : &object_.relocations[found->second];
  }

  void add_section(std::uint32_t index) {
    const Object::Section& section = object_.sections[index];
    if (section.bytes.empty() &&
        symbols_.lower_bound({index, 0}) == symbols_.lower_bound({index + 1, 0}))
      return;
    text_ += fmt::format(".section {}, \"{}\"\n", section.name, section.flags);
    line(fmt::format(".align {}", section.alignment));
    const bool is_code = holds_code(index);
    const auto size = static_cast<std::uint32_t>(section.bytes.size());
    for (std::uint32_t at = 0; at < size;) {
      add_labels({index, at});
      const bool is_instruction = is_code || holds_instruction({index, at});
      at += is_instruction ? add_instruction(index, at) : add_data(index, at);
    }
    add_labels({index, size});
    for (const auto& [spot, number] : symbols_) {
      const Object::Symbol& symbol = object_.symbols[number];
      if (spot.first == index && symbol.size != 0) {
        line(fmt::format(".size {}, {}", symbol.name, symbol.size));
      }
    }
  }

  /// Whether it is instructions with nothing inside a word but fields.
  [[nodiscard]] bool holds_code(std::uint32_t index) const {
    const Object::Section& section = object_.sections[index];
    if (section.flags.find('x') == std::string::npos || section.bytes.size() % 4 != 0) return false;
    const auto is_whole = [&](Spot spot) { return spot.first != index || spot.second % 4 == 0; };
    return std::all_of(symbols_.begin(), symbols_.end(),
                       [&](const auto& entry) { return is_whole(entry.first); }) &&
           std::all_of(relocations_.begin(), relocations_.end(),
                       [&](const auto& entry) { return is_whole(entry.first); }) &&
           std::all_of(targets_.begin(), targets_.end(), is_whole);
  }

  /// Whether a word of data has, beside the field that a link fills in, bits that only an
  /// instruction can say.
  [[nodiscard]] bool holds_instruction(Spot spot) const {
    return relocation_at(spot) != nullptr && has_other_bits(spot) && is_whole_word(spot) &&
           (!is_bundle(spot) || is_whole_word({spot.first, spot.second + 4}));
  }

  [[nodiscard]] bool has_other_bits(Spot spot) const {
    if (std::uint64_t{spot.second} + 4 > object_.sections[spot.first].bytes.size()) return false;
    std::uint32_t field = 0xffffffff;
    switch (relocation_at(spot)->kind) {
      case Kind::k18S2:
        field = 0x3ffff;
        break;
      case Kind::k19S2:
        field = 0x7ffff;
        break;
      case Kind::k20:
        field = 0xfffff;
        break;
      case Kind::k21:
        field = 0x1fffff;
        break;
      case Kind::kRun:
        field = 0xf0fff;
        break;
      default:
        break;
    }
    return (word_at(spot.first, spot.second) & ~field) != 0;
  }

  /// A word of which nothing but its begin is named.
  [[nodiscard]] bool is_whole_word(Spot spot) const {
    const auto [section, at] = spot;
    bool is_whole = at % 4 == 0 && at + 4 <= object_.sections[section].bytes.size();
    for (std::uint32_t i = 1; i < 4 && is_whole; ++i) {
      const Spot inside(section, at + i);
      is_whole = symbols_.count(inside) == 0 && relocations_.count(inside) == 0 &&
                 targets_.count(inside) == 0;
    }
    return is_whole;
  }

  void add_labels(Spot spot) {
    const auto [begin, end] = symbols_.equal_range(spot);
    for (auto entry = begin; entry != end; ++entry) {
      const Object::Symbol& symbol = object_.symbols[entry->second];
      if (symbol.is_global) line(".globl " + symbol.name);
      if (symbol.mode != mode_) {
        mode_ = symbol.mode;
        has_mode_ = true;
        line(mode_ == Object::Mode::kWorker ? ".worker" : ".supervisor");
      }
      text_ += symbol.name + ":\n";
    }
    if (targets_.count(spot) != 0) text_ += made_label(spot) + ":\n";
  }

  [[nodiscard]] std::uint32_t word_at(std::uint32_t section, std::uint32_t at) const {
    const std::vector<std::uint8_t>& bytes = object_.sections[section].bytes;
    std::uint32_t word = 0;
    for (unsigned i = 0; i < 4; ++i) word |= std::uint32_t{bytes[at + i]} << (8 * i);
    return word;
  }

  /// One instruction with its field by name, or empty when that cannot be written.
  [[nodiscard]] std::string instruction_text(Spot spot) const {
    const std::uint32_t word = word_at(spot.first, spot.second);
    const isa::InstructionInfo* info = isa::find_instruction(word);
    if (info == nullptr || info->spec.words != 1 || is_unusual(*info, word)) return {};
    const bool repeats = info->spec.control == isa::Control::kRepeat;
    if (repeats && relocation_at(spot) == nullptr && !has_body(spot, word, *info)) return {};
    const Object::Relocation* relocation = relocation_at(spot);
    if (relocation == nullptr) {
      std::string text = disassemble(word, spot.second);
      // `addz` is the form that `add` would not choose.
      if (is_hidden(*info, word)) text.insert(info->mnemonic.size(), "z");
      return text;
    }
    if (info->operands.empty() || info->operands.back().is_register) return {};
    const std::string text = disassemble(word, spot.second);
    const std::size_t last = text.rfind(info->operands.size() == 1 ? " " : ", ");
    return text.substr(0, last) + (info->operands.size() == 1 ? " " : ", ") +
           expression_of(*relocation);
  }

  std::uint32_t add_instruction(std::uint32_t section, std::uint32_t at) {
    const std::uint32_t word = word_at(section, at);
    const std::string first = instruction_text({section, at});
    const auto* info = isa::find_instruction(word);
    if (first.empty()) return add_data(section, at);
    const auto other =
        mode_ == Object::Mode::kWorker ? isa::Where::kSupervisor : isa::Where::kWorker;
    is_mixed_ |= has_mode_ && info->spec.where == other;
    if ((word & isa::kCoIssue & ~info->pattern.mask) == 0) {
      line(first);
      return 4;
    }
    const Spot next(section, at + 4);
    const std::string second = is_bundle({section, at}) ? instruction_text(next) : "";
    if (second.empty() || symbols_.count(next) != 0) return add_data(section, at);
    line(fmt::format("{{ {} ; {} }}", first, second));
    return 8;
  }

  /// Directive and what follows the expression, for a field of data; null when there is none.
  static const char* directive_of(Kind kind, const char** modifier) {
    *modifier = "";
    switch (kind) {
      case Kind::k8:
        return ".byte";
      case Kind::k16:
        return ".short";
      case Kind::k32:
        return ".int";
      case Kind::k64:
        return ".quad";
      case Kind::kRelative16S2:
        *modifier = "@relative@16@s2";
        return ".short";
      case Kind::k18S2:
        *modifier = "@abs18@s2";
        return ".long";
      case Kind::k19S2:
        *modifier = "@abs19@s2";
        return ".long";
      case Kind::k21:
        *modifier = "@abs@21";
        return ".long";
      default:
        return nullptr;
    }
  }

  std::uint32_t add_data(std::uint32_t section, std::uint32_t at) {
    const std::vector<std::uint8_t>& bytes = object_.sections[section].bytes;
    if (const Object::Relocation* relocation = relocation_at({section, at})) {
      const char* modifier = nullptr;
      const char* directive = directive_of(relocation->kind, &modifier);
      if (directive != nullptr && !has_other_bits({section, at})) {
        line(fmt::format("{} ({}){}", directive, expression_of(*relocation), modifier));
        return bytes_of(relocation->kind);
      }
      text_ +=
          fmt::format("    # {} of {}\n", name_of(relocation->kind), expression_of(*relocation));
    }
    if (!is_whole_word({section, at})) {
      line(fmt::format(".byte {:#x}", bytes[at]));
      return 1;
    }
    line(fmt::format(".int {:#x}", word_at(section, at)));
    return 4;
  }

  const Object& object_;
  std::multimap<Spot, std::uint32_t> symbols_;
  std::multimap<Spot, std::uint32_t> relocations_;
  std::set<Spot> targets_;  ///< of relocations, where no symbol is
  Object::Mode mode_ = Object::Mode::kWorker;
  bool has_mode_ = false;  ///< a directive said it
  bool is_mixed_ = false;  ///< instructions of the other mode were behind one
  std::string text_;
};

}  // namespace

std::string text_of(const Object& object) { return ObjectText(object).run(); }

}  // namespace superstep
