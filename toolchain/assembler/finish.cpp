#include <algorithm>

#include <fmt/format.h>

#include "toolchain/assembler/text_assembler.h"

namespace superstep::assembler {

void TextAssembler::finish() {
  is_finishing_ = true;
  if (in_bundle_) fail(bundle_place_, "a bundle is not closed by `}`");
  // The last one first: what it uses comes later in most texts, and then no evaluation recurses.
  for (std::size_t i = symbols_.all().size(); i-- > 0;) {
    NamedSymbol& symbol = symbols_.all()[i];
    if (symbol.kind == NamedSymbol::Kind::kKept) (void)value_of(symbol);
  }
  for (const KeptInstruction& kept : kept_instructions_) {
    (void)encode(kept.slot, kept.mnemonic, kept.operands, kept_);
  }
  for (const KeptData& data : kept_data_) put_integer(data, evaluate_tokens(kept_, data.value));
  // Not by range: an expression may name a symbol that is new.
  for (std::size_t i = 0; i < symbols_.all().size(); ++i) {  // NOLINT(modernize-loop-convert)
    const KeptExpression size = symbols_.all()[i].size;
    const bool is_defined = symbols_.all()[i].kind != NamedSymbol::Kind::kUndefined;
    if (size.tokens == 0 || !is_defined) continue;
    const Value value = evaluate_tokens(kept_, size);
    if (!value.is_number()) fail(kept_[size.first].place, "a size is a number, not a label");
    symbols_.all()[i].size_value = static_cast<std::uint32_t>(value.number);
  }
  for (const BundleRecord& bundle : output_.bundles) check_bundle(bundle);
  for (const RepeatRecord& repeat : output_.repeats) check_repeat(repeat);
}

/// Both instructions of a bundle write different registers.
void TextAssembler::check_bundle(const BundleRecord& bundle) {
  // A section that began in between is refused already.
  if (bundle.offset + 8 > output_.sections[bundle.section].bytes.size()) return;
  const std::uint32_t main = output_.word(bundle.section, bundle.offset);
  const std::uint32_t aux = output_.word(bundle.section, bundle.offset + 4);
  if (main == 0 || aux == 0) return;  // one of them is wrong
  const isa::InstructionInfo* first = isa::find_instruction(main);
  const isa::InstructionInfo* second = isa::find_instruction(aux);
  if (first != nullptr && second != nullptr && isa::share_destination(*first, main, *second, aux)) {
    fail(bundle.aux, "both instructions of the bundle write the same register");
  }
}

/// The body of an `rpt` is n + 1 bundles from an 8-byte boundary, without control or system
/// instructions.
void TextAssembler::check_repeat(const RepeatRecord& repeat) {
  Object::Section& section = output_.sections[repeat.section];
  section.alignment = std::max(section.alignment, 8U);
  const std::uint32_t word = output_.word(repeat.section, repeat.offset);
  if (word == 0) return;  // it is wrong itself
  const isa::InstructionInfo* info = isa::find_instruction(word);
  const std::uint32_t begin = repeat.offset + (repeat.is_bundled ? 8U : 4U);
  const auto bundles = static_cast<std::uint32_t>(info->operands[1].decode(word)) + 1;
  if (begin % 8 != 0) {
    fail(repeat.place,
         fmt::format("the body of `rpt` does not begin at an 8-byte boundary; {}",
                     repeat.is_bundled ? "put a `nop` before the bundle with `rpt`"
                                       : "bundle the `rpt` with `fnop`, or put `.align 8` or a "
                                         "`nop` so that it does"));
  }
  for (std::uint32_t at = begin; at < begin + 8 * bundles; at += 4) {
    if (at + 4 <= section.bytes.size() && output_.word(repeat.section, at) == 0) return;
    const bool is_bundled =
        at + 4 <= section.bytes.size() && (output_.word(repeat.section, at) & 0x80000000U) != 0;
    if (!is_bundled) {
      fail(
          repeat.place,
          fmt::format("the body of `rpt` is {} bundles, and not all that follows it are", bundles));
      return;
    }
    const isa::InstructionInfo* inside = isa::find_instruction(output_.word(repeat.section, at));
    if (inside != nullptr && inside->spec.control != isa::Control::kPlain) {
      fail(repeat.place, fmt::format("`{}` in the body of `rpt`", inside->mnemonic));
      return;
    }
  }
}

}  // namespace superstep::assembler
