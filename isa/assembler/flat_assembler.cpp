#include "isa/assembler.h"
#include "isa/assembler/text_assembler.h"

namespace superstep {

namespace {

/// Places the sections of a text one after the other and fills in its labels.
class FlatCode {
 public:
  explicit FlatCode(isa::TextAssembler& assembler)
      : assembler_(assembler), output_(assembler.output()) {}

  Assembly make() {
    std::uint32_t size = 0;
    for (const Object::Section& section : output_.sections) {
      size = (size + section.alignment - 1) / section.alignment * section.alignment;
      begins_.push_back(size);
      size += static_cast<std::uint32_t>(section.bytes.size());
    }
    assembly_.words.resize((size + 3) / 4);
    for (std::size_t i = 0; i < begins_.size(); ++i) {
      const std::vector<std::uint8_t>& bytes = output_.sections[i].bytes;
      for (std::size_t at = 0; at < bytes.size(); ++at) {
        const std::size_t to = begins_[i] + at;
        assembly_.words[to / 4] |= std::uint32_t{bytes[at]} << to % 4 * 8;
      }
    }
    for (const isa::WaitingField& field : output_.waiting) fill_in(field);
    for (const isa::NamedSymbol& symbol : assembler_.symbols().all()) {
      if (symbol.kind != isa::NamedSymbol::Kind::kLabel) continue;
      assembly_.symbols[std::string(symbol.name)] =
          begins_[symbol.value.index] + static_cast<std::uint32_t>(symbol.value.number);
    }
    assembler_.finish_problems();
    return std::move(assembly_);
  }

 private:
  void fill_in(const isa::WaitingField& field) {
    const bool moves =
        field.kind == Object::RelocationKind::k19S2 || field.kind == Object::RelocationKind::k20;
    const std::int64_t address = begins_[field.value.index] + field.value.number;
    if (field.operand == nullptr || !moves || !field.operand->fits(address)) {
      return assembler_.fail(
          field.place,
          "the address of a label works in branches and `setzi` only; assemble to an "
          "object (`-o`) for others");
    }
    const std::uint32_t index = (begins_[field.section] + field.offset) / 4;
    assembly_.words[index] |= field.operand->encode(address);
    assembly_.relocations.push_back(index);
  }

  isa::TextAssembler& assembler_;
  isa::Output& output_;
  std::vector<std::uint32_t> begins_;
  Assembly assembly_;
};

}  // namespace

Assembly assemble(std::string_view text, const std::string& file) {
  isa::TextAssembler assembler(true);
  assembler.run(text, file);
  return FlatCode(assembler).make();
}

}  // namespace superstep
