#include "isa/table.h"
#include "toolchain/assembler.h"
#include "toolchain/assembler/text_assembler.h"

namespace superstep {

namespace {

/// Places the sections of a text one after the other and fills in its labels.
class FlatCode {
 public:
  explicit FlatCode(assembler::TextAssembler& assembler)
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
    for (const assembler::WaitingField& field : output_.waiting) fill_in(field);
    for (const assembler::NamedSymbol& symbol : assembler_.symbols().all()) {
      if (symbol.kind != assembler::NamedSymbol::Kind::kLabel) continue;
      assembly_.symbols[std::string(symbol.name)] =
          begins_[symbol.value.index] + static_cast<std::uint32_t>(symbol.value.number);
    }
    assembler_.finish_problems();
    return std::move(assembly_);
  }

 private:
  void fill_in(const assembler::WaitingField& field) {
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

  assembler::TextAssembler& assembler_;
  assembler::Output& output_;
  std::vector<std::uint32_t> begins_;
  Assembly assembly_;
};

/// A branch gets a fourth of the address added to its low 19 bits, a `setzi` of a label all of it
/// to its low 20.
std::uint32_t relocate(std::uint32_t word, std::uint32_t load_address) {
  const isa::InstructionInfo* info = isa::find_instruction(word);
  const bool is_branch =
      info != nullptr && !info->operands.empty() && info->operands.back().is_address;
  const std::uint32_t mask = is_branch ? 0x7ffffU : 0xfffffU;
  const std::uint32_t offset = is_branch ? load_address / 4 : load_address;
  return (word & ~mask) | ((word + offset) & mask);
}

}  // namespace

std::vector<std::uint32_t> Assembly::words_at(std::uint32_t load_address) const {
  std::vector<std::uint32_t> out = words;
  for (const std::uint32_t index : relocations) out[index] = relocate(out[index], load_address);
  return out;
}

Assembly assemble(std::string_view text, const std::string& file) {
  assembler::TextAssembler assembler(true);
  assembler.run(text, file);
  return FlatCode(assembler).make();
}

}  // namespace superstep
