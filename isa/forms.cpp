#include "isa/forms.h"

#include <algorithm>
#include <deque>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace superstep::isa {

namespace {

using Forms = std::vector<const InstructionInfo*>;

bool has_unsigned_16(const InstructionInfo& info) {
  return std::any_of(info.operands.begin(), info.operands.end(), [](const OperandInfo& operand) {
    return !operand.is_register && !operand.is_signed && !operand.is_address &&
           operand.field.width == 16;
  });
}
bool has_signed_16(const InstructionInfo& info) {
  return std::any_of(info.operands.begin(), info.operands.end(), [](const OperandInfo& operand) {
    return !operand.is_register && operand.is_signed && operand.field.width == 16;
  });
}

class Mnemonics {
 public:
  Mnemonics() {
    for (const InstructionInfo& info : instruction_table()) forms_[info.mnemonic].push_back(&info);
    // graphcore/llvm-project-fork llvm/test/MC/Colossus: an immediate that fits both forms of
    // `add` and the like takes the signed one; `addz` and `adds` say which is meant.
    for (const char* name : {"add", "sub", "cmpeq", "max", "min"}) {
      const auto found = forms_.find(name);
      if (found == forms_.end()) continue;
      Forms zero_extended, sign_extended;
      for (const InstructionInfo* info : found->second) {
        if (has_unsigned_16(*info)) zero_extended.push_back(info);
        if (has_signed_16(*info)) sign_extended.push_back(info);
      }
      std::stable_partition(found->second.begin(), found->second.end(),
                            [](const InstructionInfo* info) { return !has_unsigned_16(*info); });
      names_.push_back(std::string(name) + "z");
      spellings_.emplace_back(names_.back(), std::move(zero_extended));
      names_.push_back(std::string(name) + "s");
      spellings_.emplace_back(names_.back(), std::move(sign_extended));
    }
    for (auto& [name, forms] : spellings_) {
      if (!forms.empty()) forms_.emplace(name, forms);
    }
  }

  [[nodiscard]] std::span<const InstructionInfo* const> forms(std::string_view name) const {
    const auto found = forms_.find(name);
    if (found == forms_.end()) return {};
    return found->second;
  }

 private:
  std::unordered_map<std::string_view, Forms> forms_;
  std::deque<std::string> names_;
  std::deque<std::pair<std::string_view, Forms>> spellings_;
};

const Mnemonics& mnemonics() {
  static const Mnemonics instance;
  return instance;
}

}  // namespace

std::span<const InstructionInfo* const> forms_of(std::string_view mnemonic) {
  return mnemonics().forms(mnemonic);
}

}  // namespace superstep::isa
