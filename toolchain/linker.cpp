#include "toolchain/linker.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "toolchain/elf.h"

namespace superstep {

namespace {

using Kind = Object::RelocationKind;

/// A section or symbol of one of the inputs.
using Id = std::pair<std::size_t, std::uint32_t>;

/// What a relocation does to its value, and where it goes.
struct Field {
  unsigned shift;  ///< of the value; the bits below must be 0
  unsigned width;  ///< of the value after that
  bool is_relative;
};
Field field_of(Kind kind) {
  switch (kind) {
    case Kind::k8:
      return {0, 8, false};
    case Kind::k16:
      return {0, 16, false};
    case Kind::k20:
      return {0, 20, false};
    case Kind::k21:
      return {0, 21, false};
    case Kind::k32:
      return {0, 32, false};
    case Kind::k64:
      return {0, 63, false};
    case Kind::k18S2:
      return {2, 18, false};
    case Kind::k19S2:
      return {2, 19, false};
    case Kind::k16S3:
      return {3, 16, false};
    case Kind::k16S4:
      return {4, 16, false};
    case Kind::k16S5:
      return {5, 16, false};
    case Kind::kRelative16S2:
    case Kind::kRun:
      return {2, 16, true};
  }
  SUPERSTEP_CHECK(false, "a relocation has a kind");
  return {};
}

class Linker {
 public:
  Linker(std::span<const LinkInput> inputs, const MachineConfig& machine)
      : inputs_(inputs), machine_(machine) {}

  LinkedCode run(std::span<const std::string> entries, std::uint32_t address, std::uint32_t limit) {
    collect_globals();
    reach(entries);
    report();
    place(address, limit);
    relocate();
    report();
    list_symbols();
    list_lines();
    return std::move(code_);
  }

 private:
  void fail(const std::string& file, std::string message) {
    problems_.push_back({{file, 0, 0}, std::move(message)});
  }
  void report() {
    if (!problems_.empty()) throw MalformedInput(std::move(problems_));
  }

  void collect_globals() {
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const Object& object = inputs_[i].object;
      for (std::uint32_t s = 0; s < object.symbols.size(); ++s) {
        const Object::Symbol& symbol = object.symbols[s];
        if (!symbol.is_global || !symbol.is_defined) continue;
        const auto [found, is_new] = globals_.emplace(symbol.name, Id(i, s));
        if (!is_new) {
          fail(inputs_[i].file, fmt::format("`{}` is defined here and in {}", symbol.name,
                                            inputs_[found->second.first].file));
        }
      }
    }
  }

  /// The definition of a symbol, or none.
  [[nodiscard]] std::optional<Id> resolve(Id id) const {
    const Object::Symbol& symbol = inputs_[id.first].object.symbols[id.second];
    if (symbol.is_defined) return id;
    const auto found = globals_.find(symbol.name);
    return found == globals_.end() ? std::nullopt : std::optional(found->second);
  }

  /// The definition with a name that the user gave; local ones are taken too.
  [[nodiscard]] std::optional<Id> find_entry(const std::string& name) const {
    if (const auto found = globals_.find(name); found != globals_.end()) return found->second;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const std::vector<Object::Symbol>& symbols = inputs_[i].object.symbols;
      for (std::uint32_t s = 0; s < symbols.size(); ++s) {
        if (symbols[s].name == name && symbols[s].is_defined) return Id(i, s);
      }
    }
    return std::nullopt;
  }

  void undefined(const SourceLocation& where, const std::string& name, const std::string& from) {
    if (!missing_.insert(name).second) return;
    std::vector<std::string> known;
    for (const LinkInput& input : inputs_) {
      for (const Object::Symbol& symbol : input.object.symbols) {
        if (symbol.is_defined) known.push_back(symbol.name);
      }
    }
    const std::string guess = nearest(name, known);
    problems_.push_back({where, fmt::format("undefined symbol `{}`{}{}", name, from,
                                            guess.empty() ? "; no source has it"
                                                          : "; did you mean `" + guess + "`?")});
  }

  void reach_symbol(Id id) {
    const Object::Symbol& symbol = inputs_[id.first].object.symbols[id.second];
    if (symbol.section) reach_section({id.first, *symbol.section});
  }
  void reach_section(Id id) {
    if (reached_.insert(id).second) pending_.push_back(id);
  }

  void reach(std::span<const std::string> entries) {
    for (const std::string& name : entries) {
      if (const auto id = find_entry(name)) {
        reach_symbol(*id);
      } else {
        undefined({inputs_.empty() ? "" : inputs_[0].file, 0, 0}, name, ", the entry");
      }
    }
    if (entries.empty()) {
      for (std::size_t i = 0; i < inputs_.size(); ++i) {
        const std::vector<Object::Section>& sections = inputs_[i].object.sections;
        for (std::uint32_t s = 0; s < sections.size(); ++s) {
          if (sections[s].flags.find('a') != std::string::npos) reach_section({i, s});
        }
      }
    }
    while (!pending_.empty()) {
      const Id id = pending_.back();
      pending_.pop_back();
      const LinkInput& input = inputs_[id.first];
      for (const Object::Relocation& relocation : input.object.relocations) {
        if (relocation.section != id.second) continue;
        if (const auto symbol = resolve({id.first, relocation.symbol})) {
          reach_symbol(*symbol);
        } else {
          const Object::Symbol& missing = input.object.symbols[relocation.symbol];
          if (missing.used_at.file.empty()) {
            undefined({input.file, 0, 0}, missing.name,
                      fmt::format(" in {}+{:#x}", input.object.sections[id.second].name,
                                  relocation.offset));
          } else {
            undefined(missing.used_at, missing.name, "");
          }
        }
      }
    }
  }

  void place(std::uint32_t address, std::uint32_t limit) {
    code_.address = address;
    std::uint64_t at = address;
    for (const Id& id : reached_) {
      const Object::Section& section = inputs_[id.first].object.sections[id.second];
      const std::uint64_t alignment = std::max<std::uint32_t>(section.alignment, 1);
      at = (at + alignment - 1) / alignment * alignment;
      address_of_[id] = static_cast<std::uint32_t>(at);
      at += section.bytes.size();
      if (at > limit) {
        throw DoesNotFit(fmt::format(
            "{}: section `{}` would end at {:#x}; there is room for code from {:#x} to {:#x}",
            inputs_[id.first].file, section.name, at, address, limit));
      }
    }
    code_.bytes.resize(at - address);
    for (const auto& [id, begin] : address_of_) {
      const auto& bytes = inputs_[id.first].object.sections[id.second].bytes;
      std::copy(bytes.begin(), bytes.end(), code_.bytes.begin() + (begin - address));
    }
  }

  [[nodiscard]] std::uint32_t value_of(Id id) const {
    const Object::Symbol& symbol = inputs_[id.first].object.symbols[id.second];
    return symbol.section ? address_of_.at({id.first, *symbol.section}) + symbol.offset
                          : symbol.offset;
  }

  void relocate() {
    for (const auto& [id, begin] : address_of_) {
      for (const Object::Relocation& relocation : inputs_[id.first].object.relocations) {
        if (relocation.section == id.second) relocate_one(id, begin, relocation);
      }
    }
  }

  void relocate_one(Id id, std::uint32_t begin, const Object::Relocation& relocation) {
    const LinkInput& input = inputs_[id.first];
    const Field field = field_of(relocation.kind);
    std::int64_t value =
        std::int64_t{value_of(*resolve({id.first, relocation.symbol}))} + relocation.addend;
    const std::int64_t base = field.is_relative ? machine_.tile.memory_base : 0;
    // A whole word may hold a negative number.
    const std::int64_t least = relocation.kind == Kind::k32 ? -(std::int64_t{1} << 31) : base;
    const std::int64_t end = base + (((std::int64_t{1} << field.width) - 1) << field.shift);
    const std::int64_t unit = std::int64_t{1} << field.shift;
    if ((value < least && relocation.kind != Kind::k64) || value > end || value % unit != 0) {
      return fail(
          input.file,
          fmt::format("{}+{:#x}: `{}` is {:#x} there, {} takes {:#x} to {:#x}{}",
                      input.object.sections[id.second].name, relocation.offset,
                      input.object.symbols[relocation.symbol].name, value, name_of(relocation.kind),
                      base, end, unit == 1 ? "" : fmt::format(", a multiple of {}", unit)));
    }
    value = (value - base) >> field.shift;
    const std::uint32_t at = begin - code_.address + relocation.offset;
    const std::uint32_t bytes = bytes_of(relocation.kind);
    std::uint64_t mask =
        field.width == 63 ? ~std::uint64_t{0} : (std::uint64_t{1} << field.width) - 1;
    auto bits = static_cast<std::uint64_t>(value) & mask;
    if (relocation.kind == Kind::kRun) {
      // Around the second register of `run`.
      bits = (bits & 0xfffU) | (bits & 0xf000U) << 4;
      mask = 0xf0fffU;
    }
    for (std::uint32_t i = 0; i < bytes; ++i) {
      std::uint8_t& byte = code_.bytes[at + i];
      byte = static_cast<std::uint8_t>((byte & ~(mask >> (8 * i))) | bits >> (8 * i));
    }
  }

  void list_symbols() {
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      for (const Object::Symbol& symbol : inputs_[i].object.symbols) {
        if (!symbol.section || reached_.count({i, *symbol.section}) == 0) continue;
        code_.symbols.push_back({symbol.name, address_of_.at({i, *symbol.section}) + symbol.offset,
                                 symbol.size, symbol.mode, symbol.is_global});
      }
    }
    std::stable_sort(code_.symbols.begin(), code_.symbols.end(),
                     [](const PlacedSymbol& a, const PlacedSymbol& b) {
                       return std::tie(a.address, b.is_global) < std::tie(b.address, a.is_global);
                     });
  }

  void list_lines() {
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      for (const Object::Line& line : inputs_[i].object.lines) {
        const auto section = address_of_.find({i, line.section});
        if (section == address_of_.end()) continue;
        code_.lines.push_back({section->second + line.offset, line.where});
      }
    }
    std::ranges::sort(code_.lines, {}, &PlacedLine::address);
  }

  std::span<const LinkInput> inputs_;
  const MachineConfig& machine_;
  LinkedCode code_;
  std::map<std::string, Id> globals_;
  std::set<Id> reached_;
  std::vector<Id> pending_;
  std::map<Id, std::uint32_t> address_of_;
  std::set<std::string> missing_;
  std::vector<Problem> problems_;
};

}  // namespace

const PlacedSymbol* LinkedCode::find(const std::string& name) const {
  const PlacedSymbol* found = nullptr;
  for (const PlacedSymbol& symbol : symbols) {
    if (symbol.name == name && (found == nullptr || symbol.is_global)) found = &symbol;
  }
  return found;
}

std::string LinkedCode::place_of(std::uint32_t pc) const {
  const PlacedSymbol* best = nullptr;
  for (const PlacedSymbol& symbol : symbols) {
    if (symbol.address > pc) break;
    // Of several at one address the first, which is global when one is.
    if (best == nullptr || symbol.address > best->address) best = &symbol;
  }
  if (best == nullptr || pc < address || pc >= end()) return fmt::format("{:#x}", pc);
  return pc == best->address ? best->name : fmt::format("{}+{:#x}", best->name, pc - best->address);
}

SourceLocation LinkedCode::source_of(std::uint32_t pc) const {
  const auto line = std::ranges::lower_bound(lines, pc, {}, &PlacedLine::address);
  return line != lines.end() && line->address == pc ? line->where : SourceLocation{};
}

LinkedCode link(std::span<const LinkInput> inputs, std::span<const std::string> entries,
                const MachineConfig& machine, std::uint32_t address, std::uint32_t limit) {
  return Linker(inputs, machine).run(entries, address, limit);
}

}  // namespace superstep
