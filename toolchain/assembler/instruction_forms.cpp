#include "toolchain/assembler/instruction_forms.h"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

#include "base/error.h"
#include "isa/registers.h"

namespace superstep::assembler {

namespace {

constexpr std::uint32_t kFnopTarget = isa::kFnop >> 20 & 0xfU;

/// `ld32 $m, $m, …` for `ld32 $m, $m, $mzero, …`.
bool leaves_out_delta(const isa::InstructionInfo& info, std::size_t given) {
  if (info.operands.size() != 4 || given != 3) return false;
  const isa::OperandInfo& delta = info.operands[2];
  return info.operands[2].is_register && delta.file == isa::File::kMain &&
         delta.role == isa::Role::kIn && delta.suffix.empty() &&
         (info.mnemonic.starts_with("ld") || info.mnemonic.starts_with("st"));
}

/// Both broadcast the lowest value of a register.
bool is_lower(std::string_view suffix) { return suffix == ":B" || suffix == ":BL"; }

bool fits_register(const isa::OperandInfo& form, Operand& operand, bool is_lenient) {
  if (operand.is_zeros && form.count > 1) {
    operand.count = form.count;
    operand.number = 16 - form.count;
  }
  const bool zero = is_lenient && form.role == isa::Role::kIn && operand.number == isa::kZero &&
                    operand.count == 1;
  const bool same_suffix = operand.suffix == form.suffix ||
                           (is_lenient && is_lower(operand.suffix) && is_lower(form.suffix));
  return (operand.file == form.file || zero) && operand.count == form.count && same_suffix &&
         form.fits(operand.number);
}

/// What a link puts into the field of an immediate; whether it can at all.
bool takes_label(const isa::InstructionInfo& info, const isa::OperandInfo& form) {
  return form.is_address || info.mnemonic == "setzi" || form.field.width == 16;
}

bool fits_value(const isa::InstructionInfo& info, const isa::OperandInfo& form, Value& value) {
  if (!value.is_known()) return true;
  if (!value.is_number()) return takes_label(info, form);
  // A number of 32 bits with its upper ones alone, which may be written as a negative one.
  if (form.tail != 0 && value.number < 0 && value.number >= -(std::int64_t{1} << 31)) {
    value.number &= 0xffffffff;
  }
  return form.fits(value.number);
}

bool takes(const isa::InstructionInfo& info, std::vector<BoundOperand>& operands, bool is_lenient) {
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const isa::OperandInfo& form = info.operands[i];
    if (operands[i].operand.is_register != form.is_register) return false;
    if (form.is_register ? !fits_register(form, operands[i].operand, is_lenient)
                         : !fits_value(info, form, operands[i].value)) {
      return false;
    }
  }
  return true;
}

bool has_shape(const isa::InstructionInfo& info, const std::vector<BoundOperand>& operands) {
  const bool without_delta = leaves_out_delta(info, operands.size());
  if (!without_delta && info.operands.size() != operands.size()) return false;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const isa::OperandInfo& form = info.operands[i + (without_delta && i >= 2 ? 1 : 0)];
    Operand operand = operands[i].operand;
    if (operand.is_register != form.is_register) return false;
    if (form.is_register && !fits_register(form, operand, true)) return false;
  }
  return true;
}

std::string range_of(const isa::OperandInfo& form) {
  if (form.is_address) return "a label or a byte address that is a multiple of 4";
  if (form.tail != 0) {
    return fmt::format("a number whose lowest {} bits are 0, up to {:#x}", form.tail,
                       std::uint64_t{form.field.mask()} << form.tail);
  }
  if (form.is_signed) {
    const std::int64_t bound = std::int64_t{1} << (form.field.width - 1);
    return fmt::format("{} to {}", -bound, bound - 1);
  }
  return fmt::format("0 to {}", form.field.mask());
}

struct Alias {
  std::string_view name;
  std::string_view forms;
};
constexpr std::array<Alias, 6> kAliases = {
    {{"mov", "`mov $m, $m`, `mov $a, $a`, `mov $a pair, $a pair` and `mov $m, $a`"},
     {"zero", "`zero $m`, `zero $a` and `zero $a pair`"},
     {"nop", "`nop`"},
     {"fnop", "`fnop`"},
     {"ldconst", "`ldconst $m, number` and `ldconst $a, number`"},
     {"swap16", "`swap16 $a, $a`"}}};

std::string register_text(isa::File file, unsigned count, std::string_view suffix) {
  return fmt::format("{}{}{}", file == isa::File::kMain ? "$m" : "$a",
                     count == 4   ? " quad"
                     : count == 2 ? " pair"
                                  : "",
                     suffix);
}

/// `$m, $a pair, number`: operands as the messages speak of them.
std::string shape_text(const std::vector<BoundOperand>& operands) {
  std::string text;
  for (const auto& [operand, value] : operands) {
    text += text.empty() ? " " : ", ";
    text += operand.is_register ? register_text(operand.file, operand.count, operand.suffix)
            : value.is_number() ? "number"
                                : "label";
  }
  return text;
}

/// `add $m, $m, signed 16-bit number`: a form as the user would write it.
std::string form_text(const isa::InstructionInfo& info) {
  std::string text(info.mnemonic);
  const char* separator = " ";
  for (const isa::OperandInfo& operand : info.operands) {
    text += separator;
    separator = ", ";
    if (operand.is_register) {
      text += register_text(operand.file, operand.count, operand.suffix);
    } else if (operand.is_address) {
      text += "label";
    } else {
      text += fmt::format("{} {}-bit number", operand.is_signed ? "signed" : "unsigned",
                          operand.field.width + operand.tail);
    }
  }
  return text;
}

}  // namespace

std::string nearest_mnemonic(std::string_view mnemonic) {
  std::string lower(mnemonic);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  std::vector<std::string> names;
  for (const Alias& alias : kAliases) names.emplace_back(alias.name);
  for (const isa::InstructionInfo& info : isa::instruction_table())
    names.emplace_back(info.mnemonic);
  return nearest(lower, names);
}

std::string_view alias_forms(std::string_view mnemonic) {
  for (const Alias& alias : kAliases) {
    if (alias.name == mnemonic) return alias.forms;
  }
  return {};
}

void replace_alias(std::string_view& mnemonic, std::vector<Operand>& operands,
                   std::uint32_t zero_token) {
  const auto zero = [&] {
    Operand operand;
    operand.first = zero_token;
    operand.tokens = 1;
    return operand;
  };
  const auto is_in = [&](std::size_t i, isa::File file) {
    return i < operands.size() && operands[i].is_register && operands[i].file == file;
  };
  if (operands.empty()) {
    if (mnemonic != "nop" && mnemonic != "fnop") return;
    const bool main = mnemonic == "nop";
    operands = {zero_register(main ? isa::File::kMain : isa::File::kAux, 1), zero()};
    operands[0].number = main ? isa::kReadOnly : kFnopTarget;
    mnemonic = "setzi";
  } else if (operands.size() == 1 && mnemonic == "zero") {
    const bool is_aux = is_in(0, isa::File::kAux);
    if (!is_aux && !(is_in(0, isa::File::kMain) && operands[0].count == 1)) return;
    const Operand source = zero_register(operands[0].file, operands[0].count);
    mnemonic = operands[0].count == 2 ? "or64" : "or";
    operands = {operands[0], source, source};
  } else if (operands.size() == 2 && mnemonic == "mov") {
    if (is_in(0, isa::File::kMain) && is_in(1, isa::File::kAux)) {
      mnemonic = "atom";
    } else if (is_in(0, isa::File::kAux) && is_in(1, isa::File::kAux) && operands[0].count == 2) {
      operands.push_back(zero_register(isa::File::kAux, 2));
      mnemonic = "or64";
    } else if (operands[0].is_register && is_in(1, operands[0].file) &&
               operands[0].count + operands[1].count == 2) {
      operands.push_back(zero());
      mnemonic = "or";
    }
  } else if (operands.size() == 2 && mnemonic == "swap16") {
    operands.push_back(operands[1]);
    mnemonic = "roll16";
  } else if (operands.size() == 3 && mnemonic == "stm32step" && operands[1].suffix == "+=") {
    operands[1].suffix = {};  // so graphcore/ipu_assembly_support; the toolchain's tests have none
  } else if (operands.size() == 2 && mnemonic == "get" && is_in(0, isa::File::kAux)) {
    mnemonic = "uget";
  } else if (operands.size() == 2 && mnemonic == "put" && is_in(1, isa::File::kAux)) {
    mnemonic = "uput";
  } else if (operands.size() == 3 && mnemonic == "sub" && is_in(0, isa::File::kMain) &&
             is_in(1, isa::File::kMain) && !operands[2].is_register) {
    operands[2].is_negated = true;
    mnemonic = "adds";
  }
}

const isa::InstructionInfo* choose_form(std::span<const isa::InstructionInfo* const> forms,
                                        std::vector<BoundOperand>& operands) {
  // PopLibs writes $azero where a zero of the main file is meant, `:B` for an f16 and `:BL` for an
  // f32 (OuterProduct.S, TruncatedNormal.S); an exact match goes first.
  for (const bool is_lenient : {false, true}) {
    for (const isa::InstructionInfo* info : forms) {
      if (info->operands.size() == operands.size()) {
        if (takes(*info, operands, is_lenient)) return info;
      } else if (leaves_out_delta(*info, operands.size())) {
        std::vector<BoundOperand> completed = operands;
        completed.insert(completed.begin() + 2, {zero_register(isa::File::kMain, 1), {}});
        if (!takes(*info, completed, is_lenient)) continue;
        operands = std::move(completed);
        return info;
      }
    }
  }
  return nullptr;
}

Mismatch explain_mismatch(std::string_view mnemonic,
                          std::span<const isa::InstructionInfo* const> forms,
                          const std::vector<BoundOperand>& operands) {
  const BoundOperand* to_blame = nullptr;
  std::vector<std::string> ranges, texts;
  for (const isa::InstructionInfo* info : forms) {
    texts.push_back(form_text(*info));
    if (!has_shape(*info, operands)) continue;
    const std::size_t skipped = info->operands.size() - operands.size();
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const isa::OperandInfo& form = info->operands[i + (i >= 2 ? skipped : 0)];
      Value value = operands[i].value;
      if (form.is_register || fits_value(*info, form, value)) continue;
      if (to_blame == nullptr) to_blame = &operands[i];
      if (to_blame == &operands[i]) ranges.push_back(range_of(form));
    }
  }
  if (to_blame == nullptr) {
    return {fmt::format("there is no `{}{}`; there is `{}`", mnemonic, shape_text(operands),
                        fmt::join(texts, "`, `")),
            nullptr};
  }
  const std::string found =
      to_blame->value.is_number() ? fmt::format("{}", to_blame->value.number) : "a label";
  const bool is_constant = mnemonic == "setzi" && to_blame->value.is_number();
  return {fmt::format("{} where `{}` takes {}{}", found, mnemonic, fmt::join(ranges, ", or "),
                      is_constant ? "; `ldconst` takes 32 bits" : ""),
          to_blame};
}

}  // namespace superstep::assembler
