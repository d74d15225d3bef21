#include <fmt/format.h>

#include "isa/control_registers.h"
#include "toolchain/assembler/text_assembler.h"

namespace superstep::assembler {

namespace {

/// The relocation that fills the field of an immediate.
Object::RelocationKind kind_of(const isa::InstructionInfo& info, const isa::OperandInfo& operand) {
  if (operand.is_address) return Object::RelocationKind::k19S2;
  if (info.mnemonic == "setzi") return Object::RelocationKind::k20;
  return operand.field.count > 1 ? Object::RelocationKind::kRun : Object::RelocationKind::k16;
}

}  // namespace

void TextAssembler::read_instruction(const Token& mnemonic) {
  if (!read_tokens()) {
    (void)take_slot(mnemonic.place);  // so that what follows is where it would be
    return;
  }
  ++output_.instructions;
  std::vector<Operand> operands;
  std::string error;
  const std::uint64_t before = failures_;
  for (const KeptExpression& item : split_tokens(0)) {
    operands.push_back(parse_operand(tokens_, item.first, item.first + item.tokens, error));
    if (!error.empty()) {
      fail(tokens_[item.first].place, error);
      error.clear();
    }
  }
  if (mnemonic.text == "ldconst") return read_constant(mnemonic, operands);
  std::string_view name = mnemonic.text;
  tokens_.push_back({Token::Kind::kNumber, {}, {}, mnemonic.place});
  replace_alias(name, operands, static_cast<std::uint32_t>(tokens_.size() - 1));
  const Slot slot = take_slot(mnemonic.place);
  if (failures_ > before) return;
  if (isa::forms_of(name).empty()) {
    if (const std::string_view forms = alias_forms(mnemonic.text); !forms.empty()) {
      return fail(mnemonic.place, fmt::format("there is no `{}` of these operands; there is {}",
                                              mnemonic.text, forms));
    }
    const std::string near = nearest_mnemonic(mnemonic.text);
    return fail(mnemonic.place, "`" + std::string(mnemonic.text) + "` is no instruction" +
                                    (near.empty() ? "" : "; did you mean `" + near + "`?"));
  }
  if (encode(slot, name, operands, tokens_)) return;
  for (Operand& operand : operands) {
    if (!operand.is_register) operand.first = keep({operand.first, operand.tokens}).first;
  }
  kept_instructions_.push_back({slot, name, std::move(operands)});
}

/// The place of the next word.
TextAssembler::Slot TextAssembler::take_slot(Place place) {
  Slot slot{output_.current(), output_.offset(), Seat::kSolo, place, std::nullopt};
  if (has_mode_ && checks_mode_) slot.mode = mode_;
  if (slot.offset % 4 != 0) {
    fail(place, "an instruction at an address that is no multiple of 4; put `.align 4` before it");
    output_.align(4, 0);
    slot.offset = output_.offset();
  }
  if (in_bundle_) {
    slot.seat = bundle_size_ == 0 ? Seat::kMain : Seat::kAux;
    ++bundle_size_;
    if (slot.seat == Seat::kMain) bundle_ = {slot.section, slot.offset, place, place};
    bundle_.aux = place;
  }
  output_.words.push_back({slot.section, slot.offset, place});
  output_.add_word(0);
  return slot;
}

/// `ldconst register, value`: a `setzi` of the lower 20 bits, and an `or` of the others unless
/// they are 0.
void TextAssembler::read_constant(const Token& mnemonic, std::vector<Operand>& operands) {
  if (in_bundle_) fail(mnemonic.place, "`ldconst` may take two words: not in a bundle");
  if (operands.size() != 2 || !operands[0].is_register || operands[0].count != 1 ||
      operands[1].is_register) {
    return fail(mnemonic.place, "`ldconst register, value` is expected");
  }
  const std::optional<std::int64_t> value =
      number_of({operands[1].first, operands[1].tokens}, mnemonic);
  if (!value) return;
  if (*value < -(std::int64_t{1} << 31) || *value >= std::int64_t{1} << 32) {
    return fail(operands[1].place, "a value beyond 32 bits");
  }
  const auto bits = static_cast<std::uint32_t>(*value);
  const auto part = [&](std::uint32_t part_bits) {
    Token token{Token::Kind::kNumber, {}, {}, operands[1].place};
    token.value.number = part_bits;
    tokens_.push_back(token);
    Operand operand;
    operand.first = static_cast<std::uint32_t>(tokens_.size() - 1);
    operand.tokens = 1;
    return operand;
  };
  const Operand lower = part(bits & 0xfffffU), upper = part(bits & 0xfff00000U);
  (void)encode(take_slot(mnemonic.place), "setzi", {operands[0], lower}, tokens_);
  if (bits >> 20 == 0) return;
  (void)encode(take_slot(mnemonic.place), "or", {operands[0], operands[0], upper}, tokens_);
}

/// False when a value is not known yet.
bool TextAssembler::encode(const Slot& slot, std::string_view mnemonic,
                           const std::vector<Operand>& operands, const std::vector<Token>& tokens) {
  const std::uint64_t before = failures_;
  bound_.clear();
  for (const Operand& operand : operands) {
    BoundOperand& bound = bound_.emplace_back(BoundOperand{operand, {}});
    if (operand.is_register) continue;
    bound.value = evaluate_tokens(tokens, {operand.first, operand.tokens});
    if (operand.is_negated) {
      if (bound.value.base == Value::Base::kSection || bound.value.base == Value::Base::kSymbol) {
        fail(operand.place, "a number is expected, not a label");
      }
      bound.value.number =
          static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(bound.value.number));
    }
    if (!bound.value.is_known() && failures_ == before) return false;
  }
  if (failures_ > before) return true;
  const auto forms = isa::forms_of(mnemonic);
  if (const isa::InstructionInfo* info = choose_form(forms, bound_)) {
    put_word(slot, *info, bound_);
    check_control_register(slot, *info, operands, tokens);
    return true;
  }
  for (const BoundOperand& bound : bound_) {
    if (bound.value.base != Value::Base::kSymbol) continue;
    const std::string_view name = symbols_.all()[bound.value.index].name;
    fail(bound.operand.place,
         fmt::format("`{}` is not defined{}", name,
                     register_of(name) ? fmt::format("; did you mean `${}`?", name) : ""));
    return true;
  }
  const Mismatch mismatch = explain_mismatch(mnemonic, forms, bound_);
  fail(mismatch.operand == nullptr ? slot.place : mismatch.operand->operand.place,
       mismatch.message);
  return true;
}

/// Leaves a field to the link.
void TextAssembler::wait_for(const WaitingField& field) {
  if (field.value.base == Value::Base::kSymbol) symbols_.all()[field.value.index].is_used = true;
  output_.waiting.push_back(field);
}

void TextAssembler::put_word(const Slot& slot, const isa::InstructionInfo& info,
                             const std::vector<BoundOperand>& operands) {
  std::uint32_t word = info.pattern.value;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const isa::OperandInfo& field = info.operands[i];
    if (operands[i].operand.is_register) {
      word |= field.encode(operands[i].operand.number);
    } else if (operands[i].value.is_number()) {
      word |= field.encode(operands[i].value.number);
    } else {
      wait_for({slot.section, slot.offset, kind_of(info, field), operands[i].value, &field,
                operands[i].operand.place});
    }
  }
  if (slot.seat != Seat::kSolo) {
    const bool main = slot.seat == Seat::kMain;
    if ((info.spec.pipe == isa::Pipe::kMain) != main) {
      fail(slot.place, fmt::format("`{}` runs in the {} pipe; a bundle is {{ main ; aux }}",
                                   info.mnemonic, main ? "auxiliary" : "main"));
    }
    word |= 0x80000000U;
  }
  check_mode(slot, info);
  if (info.spec.control == isa::Control::kRepeat) {
    output_.repeats.push_back({slot.section, slot.offset, slot.seat != Seat::kSolo, slot.place});
  }
  output_.set(slot.section, slot.offset, word, 4);
}

/// Code says whose it is by `.worker` and `.supervisor`; before the first of them all is allowed.
void TextAssembler::check_mode(const Slot& slot, const isa::InstructionInfo& info) {
  if (!slot.mode || info.spec.where == isa::Where::kEverywhere) return;
  const bool of_worker = info.spec.where == isa::Where::kWorker;
  if (of_worker == (*slot.mode == Object::Mode::kWorker)) return;
  const isa::InstructionInfo* other = nullptr;
  for (const isa::InstructionInfo* form : isa::forms_of(info.mnemonic)) {
    if (form->spec.where != info.spec.where) other = form;
  }
  fail(slot.place, fmt::format("{}`{}` is for {} only; this is `{}` code",
                               other == nullptr ? "" : "this form of ", info.mnemonic,
                               of_worker ? "workers" : "the supervisor",
                               of_worker ? ".supervisor" : ".worker"));
}

/// A control register that is named must be one of the instruction and of whose code it is. Numbers
/// say what they say.
void TextAssembler::check_control_register(const Slot& slot, const isa::InstructionInfo& info,
                                           const std::vector<Operand>& operands,
                                           const std::vector<Token>& tokens) {
  const bool upper = info.mnemonic == "uget" || info.mnemonic == "uput";
  const bool writes = info.mnemonic == "put" || info.mnemonic == "uput";
  if (!upper && !writes && info.mnemonic != "get") return;
  const Operand& operand = operands[writes ? 0 : 1];
  const Token& token = tokens[operand.first];
  if (operand.tokens != 1 ||
      (token.kind != Token::Kind::kRegister && token.kind != Token::Kind::kWord)) {
    return;
  }
  const isa::ControlRegister* known = isa::find_control_register(token.text);
  // A word may be a name of the text.
  if (known == nullptr ||
      (token.kind == Token::Kind::kWord && symbols_.find(token.text) != nullptr)) {
    return;
  }
  const auto wrong = [&](std::string_view what) {
    fail(operand.place, fmt::format("`${}` {}", known->name, what));
  };
  const bool is_worker = !slot.mode || *slot.mode == Object::Mode::kWorker;
  const bool is_supervisor = !slot.mode || *slot.mode == Object::Mode::kSupervisor;
  if (!(is_worker && known->worker != isa::Access::kAbsent) &&
      !(is_supervisor && known->supervisor != isa::Access::kAbsent)) {
    return wrong(is_worker ? "is a register of the supervisor; this is `.worker` code"
                           : "is a register of workers; this is `.supervisor` code");
  }
  if (known->is_upper() != upper) {
    return wrong(upper ? "is read by `get` and written by `put`, with an $m register"
                       : "is read by `uget` and written by `uput`, with an $a register");
  }
  const auto refuses = [](isa::Access access) {
    return access == isa::Access::kAbsent || access == isa::Access::kRead;
  };
  if (writes && (!is_worker || refuses(known->worker)) &&
      (!is_supervisor || refuses(known->supervisor))) {
    wrong("can only be read");
  }
}

}  // namespace superstep::assembler
