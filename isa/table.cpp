#include "isa/table.h"

#include <algorithm>
#include <array>
#include <type_traits>

#include "isa/instructions.h"

namespace superstep::isa {

namespace {

// Arrays and not fold expressions: Clang nests those at most 256 deep.
template <class... Records>
constexpr bool all_are_records(List<Records...>) {
  for (const bool is_record : {Record<Records>...}) {
    if (!is_record) return false;
  }
  return true;
}
static_assert(all_are_records(Isa{}), "an encoding must have 32 bits, a field for each operand");
static_assert(all_distinct(Isa{}), "two instructions share a word");

template <class Operand>
OperandInfo describe(std::string_view encoding) {
  OperandInfo info;
  info.letter = Operand::kLetter;
  info.is_register = Operand::kIsRegister;
  info.is_signed = Operand::kIsSigned;
  info.is_address = Operand::kIsAddress;
  info.field = field_of(encoding, Operand::kLetter);
  if constexpr (Operand::kIsRegister) {
    info.role = Operand::kRole;
    info.file = Operand::kFile;
    info.count = Operand::kIsBroadcast ? 1 : Operand::kCount;
  }
  return info;
}

/// Reads what follows the operand's letter in the syntax: `$o+=`, `i<<20`.
void read_suffix(OperandInfo& operand, std::string_view text) {
  const std::size_t end = text.find(',');
  std::string_view item = text.substr(0, end);
  item.remove_prefix(item.find(operand.letter) + 1);
  while (item.ends_with(' ')) item.remove_suffix(1);
  if (item == "<<20") {
    operand.tail = 20;
  } else {
    operand.suffix = item;
  }
}

template <class R, class... Records>
constexpr bool is_one_of(List<Records...>) {
  return (std::is_same_v<R, Records> || ...);
}

template <class R>
constexpr Memory memory_of() {
  using Loads = Joined<LoadInstructions, DeltaLoadInstructions, PaceLoadInstructions>::Type;
  using Stores = Joined<StoreInstructions, PaceStoreInstructions>::Type;
  if (is_one_of<R>(Loads{})) return Memory::kLoad;
  if (is_one_of<R>(Stores{})) return Memory::kStore;
  return is_one_of<R>(PaceInstructions{}) ? Memory::kBoth : Memory::kNone;
}

/// Whether `execute` is a template, by the context it changes.
template <class R>
concept TakesEnv = requires {
  &R::template execute<int>;
};

template <class R, class... Operands>
InstructionInfo describe_record(List<Operands...>) {
  InstructionInfo info;
  info.spec = R::spec;
  info.pattern = pattern_of(info.spec.encoding);
  info.memory = memory_of<R>();
  info.has_hidden_state = TakesEnv<R> && info.memory == Memory::kNone;
  std::string_view rest = info.spec.syntax;
  const std::size_t space = rest.find(' ');
  info.mnemonic = rest.substr(0, space);
  rest.remove_prefix(std::min(rest.size(), info.mnemonic.size() + 1));
  (info.operands.push_back(describe<Operands>(info.spec.encoding)), ...);
  for (OperandInfo& operand : info.operands) {
    read_suffix(operand, rest);
    const std::size_t comma = rest.find(',');
    rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 2);
  }
  return info;
}

template <class... Records>
std::vector<InstructionInfo> build_table(List<Records...>) {
  std::vector<InstructionInfo> table = {describe_record<Records>(typename Records::Operands{})...};
  for (std::size_t i = 0; i < table.size(); ++i) table[i].number = i;
  return table;
}

std::array<std::vector<const InstructionInfo*>, kBuckets> build_index() {
  std::array<std::vector<const InstructionInfo*>, kBuckets> index;
  for (const InstructionInfo& info : instruction_table()) {
    for (U32 bucket = 0; bucket < kBuckets; ++bucket) {
      if (may_hold(bucket, info.pattern)) index[bucket].push_back(&info);
    }
  }
  return index;
}

}  // namespace

bool OperandInfo::fits(std::int64_t value) const {
  if (is_register) return value >= 0 && value <= 15 && value % count == 0;
  if (is_address) return value >= 0 && value % 4 == 0 && value / 4 <= field.mask();
  if (tail != 0) {
    const std::int64_t unit = std::int64_t{1} << tail;
    return value >= 0 && value % unit == 0 && value / unit <= field.mask();
  }
  if (is_signed) {
    const std::int64_t bound = std::int64_t{1} << (field.width - 1);
    return value >= -bound && value < bound;
  }
  return value >= 0 && value <= field.mask();
}

U32 OperandInfo::encode(std::int64_t value) const {
  const std::int64_t raw = is_address ? value >> 2 : value >> tail;
  return field.insert(static_cast<U32>(raw) & field.mask());
}

std::int64_t OperandInfo::decode(U32 word) const {
  const U32 raw = field.extract(word);
  if (is_address) return std::int64_t{raw} << 2;
  if (is_signed) {
    return static_cast<std::int32_t>(raw << (32 - field.width)) >> (32 - field.width);
  }
  return std::int64_t{raw} << tail;
}

const std::vector<InstructionInfo>& instruction_table() {
  static const std::vector<InstructionInfo> table = build_table(Isa{});
  return table;
}

bool share_destination(const InstructionInfo& main, U32 main_word, const InstructionInfo& aux,
                       U32 aux_word) {
  if (is_fnop(aux_word)) return false;
  for (const OperandInfo& a : main.operands) {
    for (const OperandInfo& b : aux.operands) {
      if (!a.is_register || !b.is_register || a.role == Role::kIn || b.role == Role::kIn) continue;
      const U32 at = a.field.extract(main_word), other = b.field.extract(aux_word);
      const bool is_zero = at + a.count == 16 || other + b.count == 16;
      if (a.file == b.file && !is_zero && at < other + b.count && other < at + a.count) return true;
    }
  }
  return false;
}

const InstructionInfo* find_instruction(U32 word) {
  static const auto index = build_index();
  for (const InstructionInfo* info : index[bucket_of(word)]) {
    if ((word & info->pattern.mask) != info->pattern.value) continue;
    bool aligned = true;
    for (const OperandInfo& operand : info->operands) {
      if (operand.is_register) aligned &= operand.fits(operand.field.extract(word));
    }
    return aligned ? info : nullptr;
  }
  return nullptr;
}

}  // namespace superstep::isa
