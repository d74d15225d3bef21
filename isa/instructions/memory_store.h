#pragma once

#include "isa/instruction.h"
#include "isa/instructions/memory_access.h"

namespace superstep::isa {

struct St32 : Store<InM<'s'>, Imm<'i'>> {
  static constexpr Spec spec = main_spec("st32 $s, $b, $o, i", "4Fbsoiii", "Stores a word.");
};
struct St32Step : StoreStep<InM<'s'>, SignedImm<'i'>> {
  static constexpr Spec spec =
      main_spec("st32step $s, $b, $o+=, i", "4Ebso0ii", "Stores a word, then steps the delta.");
};

struct St32A : Store<InA<'s'>, Imm<'i'>> {
  static constexpr Spec spec = worker_spec("st32 $s, $b, $o, i", "5Ebioisi", "Stores a word.");
};
struct St32ARegister : Store<InA<'s'>, InM<'r'>> {
  static constexpr Spec spec = worker_spec("st32 $s, $b, $o, $r", "54bro0s0", "Stores a word.");
};
struct St32AStep : StoreStep<InA<'s'>, SignedImm<'i'>> {
  static constexpr Spec spec =
      worker_spec("st32step $s, $b, $o+=, i", "5Cbio0si", "Stores a word, then steps the delta.");
};
struct St32AStepRegister : StoreStep<InA<'s'>, InM<'r'>> {
  static constexpr Spec spec =
      worker_spec("st32step $s, $b, $o+=, $r", "55bro0s0", "Stores a word, then steps the delta.");
};

struct St64 : Store<InA<'s', U64>, Imm<'i'>> {
  static constexpr Spec spec = worker_spec("st64 $s, $b, $o, i", "5Fbioisi", "Stores 64 bits.");
};
struct St64Register : Store<InA<'s', U64>, InM<'r'>> {
  static constexpr Spec spec = worker_spec("st64 $s, $b, $o, $r", "54bro1s0", "Stores 64 bits.");
};
struct St64Step : StoreStep<InA<'s', U64>, SignedImm<'i'>> {
  static constexpr Spec spec =
      worker_spec("st64step $s, $b, $o+=, i", "5Cbio1si", "Stores 64 bits, then steps the delta.");
};
struct St64StepRegister : StoreStep<InA<'s', U64>, InM<'r'>> {
  static constexpr Spec spec =
      worker_spec("st64step $s, $b, $o+=, $r", "55bro1s0", "Stores 64 bits, then steps the delta.");
};

struct Stm32 {
  static constexpr Spec spec{.syntax = "stm32 $s, $b, $r",
                             .encoding = "4Cbsr000",
                             .pipe = Pipe::kMain,
                             .summary = "Stores a word."};
  using Operands = List<InM<'s'>, InM<'b'>, InM<'r'>>;
  template <class Env>
  static void execute(Env& env, U32 value, U32 base, U32 i) {
    env.store(base + i * 4, value);
  }
};

struct Stm32Step {
  static constexpr Spec spec{.syntax = "stm32step $s, $b, $r",
                             .encoding = "47rsb900",
                             .pipe = Pipe::kMain,
                             .summary = "Stores a word, then steps the base."};
  using Operands = List<InM<'s'>, InOutM<'b'>, InM<'r'>>;
  template <class Env>
  static U32 execute(Env& env, U32 value, U32 base, U32 r) {
    env.store(base, value);
    return base + r * 4;
  }
};

using StoreInstructions = List<St32, St32Step, St32A, St32ARegister, St32AStep, St32AStepRegister,
                               St64, St64Register, St64Step, St64StepRegister, Stm32, Stm32Step>;

}  // namespace superstep::isa
