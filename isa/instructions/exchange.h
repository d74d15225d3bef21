#pragma once

#include "isa/exchange_ports.h"
#include "isa/instruction.h"

namespace superstep::isa {

// An exchange instruction of n events takes n cycles; event 0 is the cycle it issues in. `env` has:
//   exchange_mux(event, source), exchange_pointer(event, byte address): controls;
//   exchange_send(words, byte address, send control): from event 0, an item after the other
//     (ExchangeItem); gives the events that this takes;
//   exchange_send_on(words, skipped words, send control): the same, after the last word sent; the
//     form without a send control keeps that of the last send;
//   exchange_events(n): n cycles pass;
//   encoding(): that of the machine.
// A send control without direction bits sends nothing, leaves the outgoing address alone and takes
// an event for each word that it names.
// Encodings and events: osmarks/ipu-stack docs/EXCHANGE_INSTRUCTION_REFERENCE.md. The meaning of
// the selector operands is not public: 0 (and 2 in sendpic) is what compiled programs use. The wide
// encoding is our own (isa/exchange_ports.h).

/// A number of which a field of mk2 has the lower `bits`, the wide encoding one more bit.
constexpr U32 widened(Encoding encoding, U32 low, U32 high, unsigned bits) {
  return encoding == Encoding::kWide ? low | (high & 1U) << bits : low;
}
/// A byte address from its word's fields.
template <class Env>
U32 pointer_of(const Env& env, U32 low, U32 high) {
  return widened(env.encoding(), low, high, kMk2PointerBits) * 4;
}
/// A source from its word's fields.
template <class Env>
U32 source_of(const Env& env, U32 low, U32 high) {
  return mux_source(env.encoding(), widened(env.encoding(), low, high, kMk2MuxBits));
}
/// The count of a word whose highest bit is that of an address when the encoding is wide.
template <class Env>
U32 count_of(const Env& env, U32 n) {
  return n % max_send(env.encoding());
}

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
  static void execute(Env& env, U32 e, U32 s, U32 v) {
    env.exchange_pointer(e, pointer_of(env, v, s));
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
  static void execute(Env& env, U32 e, U32 s, U32 v) {
    env.exchange_mux(e, source_of(env, v, s));
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
    const U32 count = count_of(env, n);
    env.exchange_events(env.exchange_send(count + 1, pointer_of(env, w, n >> kWideCountBits), c));
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
    env.exchange_events(env.exchange_send_on(64 * h + n + 1, d, c));
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
      env.exchange_mux(0, source_of(env, v % (1U << kMk2MuxBits), v >> kMk2MuxBits));
    } else {
      env.exchange_pointer(0, pointer_of(env, v, s));
    }
    env.exchange_events(env.exchange_send_on(count_of(env, n) + 1, 0));
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
  static void execute(Env& env, U32 n, U32 w, U32 c, U32 s) {
    const U32 controls = env.inline_word(), count = count_of(env, n);
    const U32 pointer = controls % (1U << kMk2PointerBits);
    env.exchange_mux(0, mux_source(env.encoding(), controls >> kMk2PointerBits));
    env.exchange_pointer(0, pointer_of(env, pointer, n >> kWideCountBits));
    env.exchange_events(env.exchange_send(count + 1, pointer_of(env, w, s), c));
  }
};

using ExchangeInstructions = List<Delay, Delaypic, Delayxpic, Send, Sendoff, Sendpic, Sendpicp>;

}  // namespace superstep::isa
