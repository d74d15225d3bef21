#pragma once

#include <string>
#include <vector>

namespace superstep::testing {

/// The contexts a case is run on, of those that have its instructions.
enum class On { kAll, kWorker, kSupervisor };

/// One instruction by what it does: assembly, registers and memory in, registers and memory out.
///
/// A state is a list of `place=values`, separated by blanks: `m0=1,0xff` ($m0 and $m1), `a2=1.5f`,
/// `a4=1h|-2h` (two f16 in one register), `[0x60000]=1,2` (words of memory). What is not named is 0
/// before, and must be the same after. `send@4=0x80000,2,3` is an exchange event 4 cycles after the
/// issue: of a send its address, words and send control; of `mux@` the source, of `pointer@` the
/// address. `fault=text` (to the end of the list) expects a trap.
///
/// A case is of the record of its first instruction, or of the first one after a line `---`. A
/// single instruction is also run in a bundle, beside nothing and beside another instruction, and
/// in an `rpt` body where the machine allows that. $m11 and $a13 are for that other instruction.
struct InstructionCase {
  std::string assembly;
  std::string in;
  std::string out;
  On on = On::kAll;
};

/// Where the assembly of a case stands.
inline constexpr unsigned kCaseAddress = 0x4d080;
/// When its first instruction issues on the supervisor: after a setzi, whose result takes 6 cycles,
/// 14 loads and 17 nops.
inline constexpr unsigned kCaseCycle = 6 + 14 + 17;

std::vector<InstructionCase> integer_cases();
std::vector<InstructionCase> logic_cases();
std::vector<InstructionCase> memory_cases();
std::vector<InstructionCase> float_cases();
std::vector<InstructionCase> conversion_cases();
std::vector<InstructionCase> half_cases();
std::vector<InstructionCase> transcendental_cases();
std::vector<InstructionCase> control_cases();
std::vector<InstructionCase> accumulator_cases();
std::vector<InstructionCase> amp_cases();
std::vector<InstructionCase> random_cases();
std::vector<InstructionCase> slic_cases();
std::vector<InstructionCase> quarter_cases();
std::vector<InstructionCase> broadcast_cases();
std::vector<InstructionCase> supervisor_cases();
std::vector<InstructionCase> exchange_cases();

/// Runs a case in every form that the machine allows.
void check(const InstructionCase& instruction_case);

/// The number in `isa::Isa` of the record a case is of.
std::size_t record_of(const InstructionCase& instruction_case);

}  // namespace superstep::testing
