#pragma once

#include <string>

#include "isa/instruction.h"

namespace superstep::isa {

struct Br {
  static constexpr Spec spec{.syntax = "br $a",
                             .encoding = "43a00000",
                             .pipe = Pipe::kMain,
                             .summary = "Branches to the address in the register.",
                             .control = Control::kBranch};
  using Operands = List<InM<'a'>>;
  template <class Env>
  static void execute(Env& env, U32 a) {
    env.branch(a);
  }
};

struct Bri {
  static constexpr Spec spec{.syntax = "bri t",
                             .encoding = "408[0ttt]tttt",
                             .pipe = Pipe::kMain,
                             .summary = "Branches.",
                             .control = Control::kBranch};
  using Operands = List<Address<'t'>>;
  template <class Env>
  static void execute(Env& env, U32 target) {
    env.branch(target);
  }
};

struct Call {
  static constexpr Spec spec{.syntax = "call $d, t",
                             .encoding = "18d[0ttt]tttt",
                             .pipe = Pipe::kMain,
                             .summary = "Branches and saves the address of the next instruction.",
                             .control = Control::kBranch};
  using Operands = List<OutM<'d'>, Address<'t'>>;
  template <class Env>
  static U32 execute(Env& env, U32 target) {
    env.branch(target);
    return env.next_pc();
  }
};

struct Brz {
  static constexpr Spec spec{.syntax = "brz $a, t",
                             .encoding = "13a[0ttt]tttt",
                             .pipe = Pipe::kMain,
                             .summary = "Branches when the register is 0.",
                             .control = Control::kBranch};
  using Operands = List<InM<'a'>, Address<'t'>>;
  template <class Env>
  static void execute(Env& env, U32 a, U32 target) {
    if (a == 0) env.branch(target);
  }
};

struct Brnz {
  static constexpr Spec spec{.syntax = "brnz $a, t",
                             .encoding = "11a[0ttt]tttt",
                             .pipe = Pipe::kMain,
                             .summary = "Branches when the register is not 0.",
                             .control = Control::kBranch};
  using Operands = List<InM<'a'>, Address<'t'>>;
  template <class Env>
  static void execute(Env& env, U32 a, U32 target) {
    if (a != 0) env.branch(target);
  }
};

struct Brneg {
  static constexpr Spec spec{.syntax = "brneg $a, t",
                             .encoding = "10a[0ttt]tttt",
                             .pipe = Pipe::kMain,
                             .summary = "Branches when the register is negative.",
                             .control = Control::kBranch};
  using Operands = List<InM<'a'>, Address<'t'>>;
  template <class Env>
  static void execute(Env& env, U32 a, U32 target) {
    if ((a >> 31) != 0) env.branch(target);
  }
};

struct Brpos {
  static constexpr Spec spec{.syntax = "brpos $a, t",
                             .encoding = "12a[0ttt]tttt",
                             .pipe = Pipe::kMain,
                             .summary = "Branches when the register is not negative.",
                             .control = Control::kBranch};
  using Operands = List<InM<'a'>, Address<'t'>>;
  template <class Env>
  static void execute(Env& env, U32 a, U32 target) {
    if ((a >> 31) == 0) env.branch(target);
  }
};

struct Brnzdec {
  static constexpr Spec spec{.syntax = "brnzdec $a, t",
                             .encoding = "13a[1ttt]tttt",
                             .pipe = Pipe::kMain,
                             .summary = "Branches and counts down when the register is not 0.",
                             .control = Control::kBranch};
  using Operands = List<InOutM<'a'>, Address<'t'>>;
  template <class Env>
  static U32 execute(Env& env, U32 a, U32 target) {
    if (a == 0) return a;
    env.branch(target);
    return a - 1;
  }
};

struct Rpt {
  static constexpr Spec spec{.syntax = "rpt $a, n",
                             .encoding = "43a0A0nn",
                             .pipe = Pipe::kMain,
                             .summary = "Repeats the next n + 1 bundles.",
                             .control = Control::kRepeat,
                             .where = Where::kWorker};
  using Operands = List<InM<'a'>, Imm<'n'>>;
  template <class Env>
  static void execute(Env& env, U32 a, U32 n) {
    env.repeat(a & 0xffffU, n + 1);
  }
};

struct RptImmediate {
  static constexpr Spec spec{.syntax = "rpt i, n",
                             .encoding = "400iiinn",
                             .pipe = Pipe::kMain,
                             .summary = "Repeats the next n + 1 bundles.",
                             .control = Control::kRepeat,
                             .where = Where::kWorker};
  using Operands = List<Imm<'i'>, Imm<'n'>>;
  template <class Env>
  static void execute(Env& env, U32 i, U32 n) {
    env.repeat(i, n + 1);
  }
};

struct Exitz {
  static constexpr Spec spec{.syntax = "exitz $a",
                             .encoding = "43a04000",
                             .pipe = Pipe::kMain,
                             .summary = "Ends the worker; its status is whether the register is 0.",
                             .control = Control::kExit,
                             .where = Where::kWorker};
  using Operands = List<InM<'a'>>;
  template <class Env>
  static void execute(Env& env, U32 a) {
    env.exit(a == 0);
  }
};

struct Exitnz {
  static constexpr Spec spec{
      .syntax = "exitnz $a",
      .encoding = "43a02000",
      .pipe = Pipe::kMain,
      .summary = "Ends the worker; its status is whether the register is not 0.",
      .control = Control::kExit,
      .where = Where::kWorker};
  using Operands = List<InM<'a'>>;
  template <class Env>
  static void execute(Env& env, U32 a) {
    env.exit(a != 0);
  }
};

struct Exitneg {
  static constexpr Spec spec{
      .syntax = "exitneg $a",
      .encoding = "43a01000",
      .pipe = Pipe::kMain,
      .summary = "Ends the worker; its status is whether the register is negative.",
      .control = Control::kExit,
      .where = Where::kWorker};
  using Operands = List<InM<'a'>>;
  template <class Env>
  static void execute(Env& env, U32 a) {
    env.exit((a >> 31) != 0);
  }
};

struct Exitpos {
  static constexpr Spec spec{
      .syntax = "exitpos $a",
      .encoding = "43a03000",
      .pipe = Pipe::kMain,
      .summary = "Ends the worker; its status is whether the register is not negative.",
      .control = Control::kExit,
      .where = Where::kWorker};
  using Operands = List<InM<'a'>>;
  template <class Env>
  static void execute(Env& env, U32 a) {
    env.exit((a >> 31) == 0);
  }
};

struct Trap {
  static constexpr Spec spec{.syntax = "trap i",
                             .encoding = "4180100i",
                             .pipe = Pipe::kMain,
                             .summary = "Stops the context with a fault that names the number.",
                             .control = Control::kSystem};
  using Operands = List<Imm<'i'>>;
  template <class Env>
  static void execute(Env& env, U32 i) {
    env.fault("trap instruction " + std::to_string(i));
  }
};

using ControlInstructions = List<Br, Bri, Call, Brz, Brnz, Brneg, Brpos, Brnzdec, Rpt, RptImmediate,
                                 Exitz, Exitnz, Exitneg, Exitpos, Trap>;

}  // namespace superstep::isa
