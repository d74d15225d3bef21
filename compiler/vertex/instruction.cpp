#include "compiler/vertex/instruction.h"

#include <algorithm>
#include <span>
#include <string>

#include "base/error.h"
#include "isa/forms.h"
#include "isa/registers.h"

namespace superstep::vertex {
namespace {

Arg machine_register(isa::File file, std::uint32_t number, std::uint8_t count) {
  Arg arg(std::int64_t{number});
  arg.kind = Arg::Kind::kMachine;
  arg.machine_file = file;
  arg.machine_count = count;
  return arg;
}

/// Writes `mov` and the like as what they are aliases of.
void replace_alias(std::string_view& mnemonic, std::vector<Arg>& args) {
  if (mnemonic == "nop" || mnemonic == "fnop") {
    const std::uint32_t word = mnemonic == "nop" ? isa::kNop : isa::kFnop;
    const isa::InstructionInfo& info = *isa::find_instruction(word);
    mnemonic = info.mnemonic;
    args = {machine_register(info.operands[0].file, info.operands[0].field.extract(word), 1), 0};
    return;
  }
  if (mnemonic != "mov" && mnemonic != "zero") return;
  const isa::File file = args[0].register_file();
  const auto count = static_cast<std::uint8_t>(args[0].count());
  const Arg zeros = machine_register(file, isa::kZero + 1 - count, count);
  if (mnemonic == "mov" && args[1].register_file() != file) {
    mnemonic = "atom";
  } else if (mnemonic == "mov") {
    mnemonic = count == 2 ? "or64" : "or";
    args.push_back(count == 2 ? zeros : Arg(0));
  } else {
    mnemonic = count == 2 ? "or64" : "or";
    args.insert(args.end(), {zeros, zeros});
  }
}

bool takes(const isa::OperandInfo& operand, const Arg& arg) {
  if (arg.kind == Arg::Kind::kLabel) return operand.is_address;
  if (arg.kind == Arg::Kind::kNumber)
    return !operand.is_register && !operand.is_address && operand.fits(arg.value);
  return operand.is_register && operand.file == arg.register_file() &&
         operand.count == arg.count() && operand.suffix == arg.suffix;
}

const isa::InstructionInfo* record_of(std::string_view mnemonic, std::span<const Arg> args) {
  for (const isa::InstructionInfo* info : isa::forms_of(mnemonic)) {
    if (std::equal(info->operands.begin(), info->operands.end(), args.begin(), args.end(), takes))
      return info;
  }
  return nullptr;
}

}  // namespace

Arg::Arg(const char* machine_register) : kind(Kind::kMachine) {
  struct Name {
    std::string_view name;
    isa::File file;
    std::uint32_t number;
    std::uint8_t count;
  };
  static constexpr std::array kNames = {
      Name{"$mzero", isa::File::kMain, isa::kZero, 1},
      Name{"$mvertex_base", isa::File::kMain, isa::kVertexBase, 1},
      Name{"$mworker_base", isa::File::kMain, isa::kWorkerBase, 1},
      Name{"$mlink", isa::File::kMain, isa::kLinkRegister, 1},
      Name{"$azero", isa::File::kAux, isa::kZero, 1},
      Name{"$azeros", isa::File::kAux, isa::kZero - 1, 2},
  };
  const auto* const at = std::ranges::find(kNames, machine_register, &Name::name);
  SUPERSTEP_CHECK(at != kNames.end(), std::string("no machine register ") + machine_register);
  machine_file = at->file;
  machine_count = at->count;
  value = at->number;
}

isa::File Arg::register_file() const {
  if (kind == Kind::kMachine) return machine_file;
  return reg.file == File::kM ? isa::File::kMain : isa::File::kAux;
}

unsigned Arg::count() const {
  if (kind == Kind::kMachine) return machine_count;
  return reg.file == File::kPair && part == Part::kAll ? 2 : 1;
}

Arg def(Reg r) {
  Arg arg(r);
  arg.kind = Arg::Kind::kDef;
  return arg;
}

Arg both(Reg r) {
  Arg arg(r);
  arg.kind = Arg::Kind::kBoth;
  return arg;
}

Arg step(Reg r) {
  Arg arg = both(r);
  arg.suffix = "+=";
  return arg;
}

Arg broadcast(Reg r, std::string_view suffix) {
  Arg arg(r);
  arg.suffix = suffix;
  return arg;
}

Arg low(Arg pair) {
  pair.part = Arg::Part::kLow;
  return pair;
}

Arg high(Arg pair) {
  pair.part = Arg::Part::kHigh;
  if (pair.kind == Arg::Kind::kDef) pair.kind = Arg::Kind::kBoth;
  return pair;
}

Instruction::Instruction(std::string_view mnemonic, std::vector<Arg> operands)
    : args(std::move(operands)) {
  const std::string_view written = mnemonic;
  replace_alias(mnemonic, args);
  record = record_of(mnemonic, args);
  SUPERSTEP_CHECK(record != nullptr, "no instruction " + std::string(written) + " of " +
                                         std::to_string(args.size()) + " such operands");
}

bool Instruction::is_call() const {
  return is_branch() && !record->operands.empty() && record->operands[0].is_register &&
         record->operands[0].role == isa::Role::kOut;
}

bool Instruction::never_falls_through() const {
  const isa::Control control = record->spec.control;
  const bool has_condition = std::ranges::any_of(
      record->operands, [](const isa::OperandInfo& operand) { return operand.is_register; });
  return control == isa::Control::kExit || (control == isa::Control::kBranch && !has_condition);
}

bool Instruction::names(std::uint32_t main_register) const {
  return std::ranges::any_of(args, [&](const Arg& arg) {
    return arg.kind == Arg::Kind::kMachine && arg.machine_file == isa::File::kMain &&
           arg.value == main_register;
  });
}

}  // namespace superstep::vertex
