#pragma once

#include "isa/exchange_ports.h"
#include "isa/instruction.h"

namespace superstep::isa {

// An exchange instruction of n events takes n cycles; event 0 is the cycle it issues in. `env` has:
//   exchange_mux(event, source), exchange_pointer(event, byte address): controls;
//   exchange_send(words, byte address, send control): from event 0, a word an event;
//   exchange_send_on(words, skipped words, send control): the same, after the last word sent; the
//     form without a send control keeps that of the last send;
//   exchange_events(n): n cycles pass.
// A send control without direction bits sends nothing and leaves the outgoing address alone.
// Encodings and events: osmarks/ipu-stack docs/EXCHANGE_INSTRUCTION_REFERENCE.md. The meaning of
// the selector operands is not public: 0 (and 2 in sendpic) is what compiled programs use.

struct Delay {
  static constexpr Spec spec{.syntax = "delay e",
                             .encoding = "40A[0eee]eeee",
                             .pipe = Pipe::kMain,
                             .summary = "Lets e + 1 exchange events pass.",
                             .control = Control::kSystem,
                             .where = Where::kSupervisor,
                             .encoding_source = Source::kMeasured};
  using Operands = List<Imm<'e'>>;
  template <class Env>
  static void execute(Env& env, U32 e) {
    env.exchange_events(e + 1);
  }
};

struct Delaypic {
  static constexpr Spec spec{.syntax = "delaypic e, s, v",
                             .encoding = "6[00ee]e[esvv]vvvv",
                             .pipe = Pipe::kMain,
                             .summary =
                                 "Lets e + 1 events pass; the incoming pointer becomes word "
                                 "address v at the last.",
                             .control = Control::kSystem,
                             .where = Where::kSupervisor,
                             .encoding_source = Source::kMeasured};
  using Operands = List<Imm<'e'>, Imm<'s'>, Imm<'v'>>;
  template <class Env>
  static void execute(Env& env, U32 e, U32, U32 v) {
    env.exchange_pointer(e, v * 4);
    env.exchange_events(e + 1);
  }
};

struct Delayxpic {
  static constexpr Spec spec{
      .syntax = "delayxpic e, s, v",
      .encoding = "6[01ee]ee[eesv]vvv",
      .pipe = Pipe::kMain,
      .summary = "Lets e + 1 events pass; the input mux selects source v at the last.",
      .control = Control::kSystem,
      .where = Where::kSupervisor,
      .encoding_source = Source::kMeasured};
  using Operands = List<Imm<'e'>, Imm<'s'>, Imm<'v'>>;
  template <class Env>
  static void execute(Env& env, U32 e, U32, U32 v) {
    env.exchange_mux(e, v);
    env.exchange_events(e + 1);
  }
};

struct Send {
  static constexpr Spec spec{.syntax = "send n, w, c",
                             .encoding = "!7[1nnn][nnnw]wwww[wccc]",
                             .pipe = Pipe::kMain,
                             .summary = "Sends n + 1 words from word address w.",
                             .control = Control::kSystem,
                             .where = Where::kSupervisor,
                             .encoding_source = Source::kMeasured};
  using Operands = List<Imm<'n'>, Imm<'w'>, Imm<'c'>>;
  template <class Env>
  static void execute(Env& env, U32 n, U32 w, U32 c) {
    env.exchange_send(n + 1, w * 4, c);
    env.exchange_events(n + 1);
  }
};

struct Sendoff {
  static constexpr Spec spec{
      .syntax = "sendoff n, h, d, c",
      .encoding = "!7[0nnn][nnn0]h[hhdd]dd[dccc]",
      .pipe = Pipe::kMain,
      .summary = "Sends 64 h + n + 1 words, d words after the end of the last send.",
      .control = Control::kSystem,
      .where = Where::kSupervisor,
      .encoding_source = Source::kMeasured};
  using Operands = List<Imm<'n'>, Imm<'h'>, Imm<'d'>, Imm<'c'>>;
  template <class Env>
  static void execute(Env& env, U32 n, U32 h, U32 d, U32 c) {
    env.exchange_send_on(64 * h + n + 1, d, c);
    env.exchange_events(64 * h + n + 1);
  }
};

struct Sendpic {
  static constexpr Spec spec{.syntax = "sendpic n, s, v",
                             .encoding = "!7[0nnn][nnn1][ssvv]vvvv",
                             .pipe = Pipe::kMain,
                             .summary =
                                 "Goes on sending n + 1 words; at the first, the mux selects "
                                 "source v (s < 2) or the pointer becomes word address v.",
                             .control = Control::kSystem,
                             .where = Where::kSupervisor,
                             .encoding_source = Source::kMeasured};
  using Operands = List<Imm<'n'>, Imm<'s'>, Imm<'v'>>;
  template <class Env>
  static void execute(Env& env, U32 n, U32 s, U32 v) {
    if (s < kSendPicPointer) {
      env.exchange_mux(0, v & 0x1fff);
    } else {
      env.exchange_pointer(0, v * 4);
    }
    env.exchange_send_on(n + 1, 0);
    env.exchange_events(n + 1);
  }
};

struct Sendpicp {
  static constexpr Spec spec{
      .syntax = "sendpicp n, w, c, s",
      .encoding = "F[snnn][nnnw]wwww[wccc]",
      .pipe = Pipe::kMain,
      .summary =
          "Sends n + 1 words from word address w; at the first, mux and pointer become the "
          "high 14 and the low 18 bits of the next word.",
      .control = Control::kSystem,
      .where = Where::kSupervisor,
      .encoding_source = Source::kMeasured,
      .words = 2};
  using Operands = List<Imm<'n'>, Imm<'w'>, Imm<'c'>, Imm<'s'>>;
  template <class Env>
  static void execute(Env& env, U32 n, U32 w, U32 c, U32) {
    const U32 controls = env.inline_word();
    env.exchange_mux(0, controls >> 18);
    env.exchange_pointer(0, (controls & 0x3ffff) * 4);
    env.exchange_send(n + 1, w * 4, c);
    env.exchange_events(n + 1);
  }
};

using ExchangeInstructions = List<Delay, Delaypic, Delayxpic, Send, Sendoff, Sendpic, Sendpicp>;

}  // namespace superstep::isa
