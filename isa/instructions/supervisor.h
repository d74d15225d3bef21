#pragma once

#include "isa/instruction.h"

namespace superstep::isa {

struct Get {
  static constexpr Spec spec{.syntax = "get $d, i",
                             .encoding = "410d00ii",
                             .pipe = Pipe::kMain,
                             .summary = "Reads a control or status register.",
                             .control = Control::kSystem};
  using Operands = List<OutM<'d'>, Imm<'i'>>;
  template <class Env>
  static U32 execute(Env& env, U32 csr) {
    return env.csr(csr);
  }
};

struct Put {
  static constexpr Spec spec{.syntax = "put i, $a",
                             .encoding = "43a080ii",
                             .pipe = Pipe::kMain,
                             .summary = "Writes a control or status register.",
                             .control = Control::kSystem};
  using Operands = List<Imm<'i'>, InM<'a'>>;
  template <class Env>
  static void execute(Env& env, U32 csr, U32 a) {
    env.set_csr(csr, a);
  }
};

struct Uget {
  static constexpr Spec spec{.syntax = "uget $d, i",
                             .encoding = "510d08ii",
                             .pipe = Pipe::kAux,
                             .summary = "Reads an upper control or status register.",
                             .control = Control::kSystem,
                             .where = Where::kWorker};
  using Operands = List<OutA<'d'>, Imm<'i'>>;
  template <class Env>
  static U32 execute(Env& env, U32 csr) {
    return env.csr(256 + csr);
  }
};

struct Uput {
  static constexpr Spec spec{.syntax = "uput i, $a",
                             .encoding = "51a080ii",
                             .pipe = Pipe::kAux,
                             .summary = "Writes an upper control or status register.",
                             .control = Control::kSystem,
                             .where = Where::kWorker};
  using Operands = List<Imm<'i'>, InA<'a'>>;
  template <class Env>
  static void execute(Env& env, U32 csr, U32 a) {
    env.set_csr(256 + csr, a);
  }
};

struct Runall {
  static constexpr Spec spec{
      .syntax = "runall $a, $b, i",
      .encoding = "15aibiii",
      .pipe = Pipe::kMain,
      .summary = "Starts every worker at $a with vertex state at $b, each i words further.",
      .control = Control::kSystem,
      .where = Where::kSupervisor};
  using Operands = List<InM<'a'>, InM<'b'>, Imm<'i'>>;
  template <class Env>
  static void execute(Env& env, U32 entry, U32 state, U32 i) {
    env.run_all(entry, state, i * 4);
  }
};

struct Run {
  static constexpr Spec spec{
      .syntax = "run $a, $b, i",
      .encoding = "14aibiii",
      .pipe = Pipe::kMain,
      .summary = "Starts the first idle worker at $a with vertex state at region 0 + $b + 4 i.",
      .control = Control::kSystem,
      .where = Where::kSupervisor};
  using Operands = List<InM<'a'>, InM<'b'>, Imm<'i'>>;
  template <class Env>
  static void execute(Env& env, U32 entry, U32 state, U32 i) {
    env.run_one(entry, state + i * 4);
  }
};

struct Sync {
  static constexpr Spec spec{.syntax = "sync i",
                             .encoding = "4180000i",
                             .pipe = Pipe::kMain,
                             .summary = "Waits for a sync zone.",
                             .control = Control::kSystem,
                             .where = Where::kSupervisor,
                             .encoding_source = Source::kMeasured};
  using Operands = List<Imm<'i'>>;
  template <class Env>
  static void execute(Env& env, U32 zone) {
    env.sync(zone);
  }
};

struct Sans {
  static constexpr Spec spec{.syntax = "sans i",
                             .encoding = "40C0000i",
                             .pipe = Pipe::kMain,
                             .summary = "Arms an acknowledgement of the next sync.",
                             .control = Control::kSystem,
                             .where = Where::kSupervisor,
                             .encoding_source = Source::kMeasured};
  using Operands = List<Imm<'i'>>;
  template <class Env>
  static void execute(Env& env, U32 zone) {
    env.sans(zone);
  }
};

struct Ld64putcs {
  static constexpr Spec spec{.syntax = "ld64putcs i",
                             .encoding = "4100C0ii",
                             .pipe = Pipe::kMain,
                             .summary = "Loads a common weight from $CCCSLOAD, which steps.",
                             .control = Control::kSystem,
                             .where = Where::kSupervisor};
  using Operands = List<Imm<'i'>>;
  template <class Env>
  static void execute(Env& env, U32 i) {
    const U32 address = env.weight_address();
    env.set_weight(i, env.template load<U64>(address));
    env.set_weight_address(address + 8);
  }
};

struct Ld128putcs {
  static constexpr Spec spec{.syntax = "ld128putcs i",
                             .encoding = "4100D0ii",
                             .pipe = Pipe::kMain,
                             .summary = "Loads two common weights from $CCCSLOAD, which steps.",
                             .control = Control::kSystem,
                             .where = Where::kSupervisor};
  using Operands = List<Imm<'i'>>;
  template <class Env>
  static void execute(Env& env, U32 i) {
    const U32 address = env.weight_address();
    const U128 value = env.template load<U128>(address);
    env.set_weight(i, value.half[0]);
    env.set_weight(i + 1, value.half[1]);
    env.set_weight_address(address + 16);
  }
};

using SupervisorInstructions =
    List<Get, Put, Uget, Uput, Runall, Run, Sync, Sans, Ld64putcs, Ld128putcs>;

}  // namespace superstep::isa
