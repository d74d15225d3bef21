#include "toolchain/assembler/object_assembler.h"

#include <algorithm>
#include <map>
#include <utility>

#include "toolchain/assembler/text_assembler.h"

namespace superstep {

namespace {

using assembler::NamedSymbol;
using assembler::Value;

/// Turns the output of a text into an object without what nobody can name.
class ObjectMaker {
 public:
  explicit ObjectMaker(assembler::TextAssembler& assembler)
      : output_(assembler.output()), symbols_(assembler.symbols()), sources_(assembler.sources()) {}

  Object make() {
    for (std::uint32_t i = 0; i < symbols_.all().size(); ++i) add_symbol(i);
    for (const assembler::WaitingField& field : output_.waiting) add_relocation(field);
    std::stable_sort(object_.relocations.begin(), object_.relocations.end(),
                     [](const Object::Relocation& a, const Object::Relocation& b) {
                       return std::pair(a.section, a.offset) < std::pair(b.section, b.offset);
                     });
    for (const assembler::WordPlace& word : output_.words) {
      object_.lines.push_back({word.section, word.offset, sources_.locate(word.place)});
    }
    object_.sections = std::move(output_.sections);
    return std::move(object_);
  }

 private:
  void add_symbol(std::uint32_t index) {
    const NamedSymbol& symbol = symbols_.all()[index];
    const bool is_label =
        symbol.kind == NamedSymbol::Kind::kLabel || symbol.value.base == Value::Base::kSection;
    const bool is_external = symbol.kind == NamedSymbol::Kind::kUndefined;
    const bool is_private = symbol.name.starts_with(".L") || !is_label;
    if (is_external ? !symbol.is_used : is_private && !symbol.is_global) return;
    if (!is_external && symbol.value.base == Value::Base::kSymbol) return;
    Object::Symbol out;
    out.name = symbol.name;
    if (is_label) out.section = symbol.value.index;
    out.offset = static_cast<std::uint32_t>(symbol.value.number);
    out.size = symbol.size_value;
    out.is_global = symbol.is_global || is_external;
    out.is_defined = !is_external;
    out.mode = symbol.mode;
    numbers_[index] = static_cast<std::uint32_t>(object_.symbols.size());
    object_.symbols.push_back(std::move(out));
  }

  /// The symbol of a section's begin: it has the section's name.
  std::uint32_t section_symbol(std::uint32_t section) {
    const auto [entry, is_new] =
        section_symbols_.emplace(section, static_cast<std::uint32_t>(object_.symbols.size()));
    if (is_new) {
      Object::Symbol symbol;
      symbol.name = output_.sections[section].name;
      symbol.section = section;
      object_.symbols.push_back(std::move(symbol));
    }
    return entry->second;
  }

  void add_relocation(const assembler::WaitingField& field) {
    Object::Relocation relocation;
    relocation.section = field.section;
    relocation.offset = field.offset;
    relocation.kind = field.kind;
    relocation.symbol = field.value.base == Value::Base::kSection
                            ? section_symbol(field.value.index)
                            : numbers_.at(field.value.index);
    relocation.addend = static_cast<std::int32_t>(field.value.number);
    Object::Symbol& symbol = object_.symbols[relocation.symbol];
    if (!symbol.is_defined && symbol.used_at.file.empty())
      symbol.used_at = sources_.locate(field.place);
    object_.relocations.push_back(relocation);
  }

  assembler::Output& output_;
  assembler::Symbols& symbols_;
  const assembler::Sources& sources_;
  Object object_;
  std::map<std::uint32_t, std::uint32_t> numbers_;  ///< in the object, by number in `symbols_`
  std::map<std::uint32_t, std::uint32_t> section_symbols_;
};

}  // namespace

AssembledObject assemble_object(std::string_view text, const std::string& file) {
  assembler::TextAssembler assembler(false);
  assembler.run(text, file);
  assembler::Output& output = assembler.output();
  AssembledObject result;
  result.instructions = output.instructions;
  result.bundles = output.bundles.size();
  result.repeats = output.repeats.size();
  result.object = ObjectMaker(assembler).make();
  return result;
}

}  // namespace superstep
