#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "isa/table.h"

namespace superstep::vertex {

/// Register file of a virtual register; a pair is two neighbouring arithmetic registers.
enum class File : std::uint8_t { kM, kA, kPair };

/// A virtual register: a value that the allocator puts in a machine register or on the worker's
/// stack.
struct Reg {
  std::uint32_t id = ~0U;
  File file = File::kM;
  [[nodiscard]] bool valid() const { return id != ~0U; }
};

/// A place that branches go to.
struct Label {
  std::uint32_t id = 0;
};

/// An operand of one instruction: a virtual register that is read, written or both, a machine
/// register, a number or a label.
struct Arg {
  enum class Kind : std::uint8_t { kUse, kDef, kBoth, kMachine, kNumber, kLabel };
  enum class Part : std::uint8_t { kAll, kLow, kHigh };

  Arg(Reg r) : reg(r) {}                                                   // NOLINT: reads `r`
  Arg(std::int64_t number) : kind(Kind::kNumber), value(number) {}         // NOLINT
  Arg(std::uint32_t number) : Arg(std::int64_t{number}) {}                 // NOLINT
  Arg(int number) : Arg(std::int64_t{number}) {}                           // NOLINT
  Arg(Label label) : kind(Kind::kLabel), value(std::int64_t{label.id}) {}  // NOLINT
  /// `$mzero`, `$azero`, `$azeros` (a pair), `$mvertex_base`, `$mworker_base` or `$mlink`.
  Arg(const char* machine_register);  // NOLINT

  /// Whether it is a virtual register.
  [[nodiscard]] bool is_virtual() const { return kind <= Kind::kBoth; }
  [[nodiscard]] bool is_written() const { return kind == Kind::kDef || kind == Kind::kBoth; }
  [[nodiscard]] isa::File register_file() const;
  /// Machine registers that it stands for.
  [[nodiscard]] unsigned count() const;

  Kind kind = Kind::kUse;
  Part part = Part::kAll;
  isa::File machine_file = isa::File::kMain;  ///< of kMachine
  std::uint8_t machine_count = 1;
  Reg reg;
  std::int64_t value = 0;     ///< the number of a machine register, the number, the label
  std::string_view suffix{};  ///< of a register, as the records have it: `+=`, `:B`, `:BL`
};

/// Writes `r`.
[[nodiscard]] Arg def(Reg r);
/// Reads and writes `r`.
[[nodiscard]] Arg both(Reg r);
/// Reads and steps `r`: `$m3+=`.
[[nodiscard]] Arg step(Reg r);
/// One value that stands for every lane: an f32 `$a0:B`, the lower f16 `$a0:BL`.
[[nodiscard]] Arg broadcast(Reg r, std::string_view suffix = ":B");
/// One half of a pair; `high` of a written pair keeps the low half.
[[nodiscard]] Arg low(Arg pair);
[[nodiscard]] Arg high(Arg pair);

/// One instruction before register allocation: the record that its mnemonic and operands name
/// (`mov`, `zero`, `nop` and `fnop` too, which are aliases), and the operands of that record.
struct Instruction {
  const isa::InstructionInfo* record;
  std::vector<Arg> args;

  /// Operands that no record of the mnemonic takes are a broken invariant.
  Instruction(std::string_view mnemonic, std::vector<Arg> operands);
  Instruction(std::string_view mnemonic, std::initializer_list<Arg> operands)
      : Instruction(mnemonic, std::vector<Arg>(operands)) {}

  [[nodiscard]] isa::Pipe pipe() const { return record->spec.pipe; }
  [[nodiscard]] bool is_branch() const { return record->spec.control == isa::Control::kBranch; }
  /// Whether what follows it comes next in the end, as its target comes back.
  [[nodiscard]] bool is_call() const;
  /// Whether what follows it is reached by label only.
  [[nodiscard]] bool never_falls_through() const;
  /// Whether it goes from or to memory by way of a machine register.
  [[nodiscard]] bool names(std::uint32_t main_register) const;

  /// The word, with `number_of` the machine register of a virtual one (the lower one of a pair); a
  /// label stays zero.
  template <class NumberOf>
  [[nodiscard]] std::uint32_t word(const NumberOf& number_of) const {
    std::uint32_t bits = record->pattern.value;
    for (std::size_t i = 0; i < args.size(); ++i) {
      const Arg& arg = args[i];
      if (arg.kind == Arg::Kind::kLabel) continue;
      const std::int64_t value =
          arg.is_virtual() ? number_of(arg) + (arg.part == Arg::Part::kHigh ? 1 : 0) : arg.value;
      bits |= record->operands[i].encode(value);
    }
    return bits;
  }
};

/// The halves of a bundle that have nothing to do.
[[nodiscard]] inline Instruction idle_main() { return {"nop", {}}; }
[[nodiscard]] inline Instruction idle_aux() { return {"fnop", {}}; }

}  // namespace superstep::vertex
