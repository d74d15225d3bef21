#pragma once

#include <tuple>

#include "isa/instruction.h"

namespace superstep::isa {

constexpr U32 sign_extended_byte(std::uint8_t value) {
  return static_cast<U32>(static_cast<std::int32_t>(static_cast<std::int8_t>(value)));
}
constexpr U32 sign_extended_half(std::uint16_t value) {
  return static_cast<U32>(static_cast<std::int32_t>(static_cast<std::int16_t>(value)));
}

/// The step in bytes that a 2-bit pace selector asks for: one atom, or one of three signed 10-bit
/// fields of `strides` (graphcore/poplibs lib/poplin/codelets/asm/conv_partial_1x1_float_float.S,
/// comments).
constexpr U32 pace_step(U32 selector, U32 strides) {
  if (selector == 0) return 8;
  const U32 field = strides >> ((selector - 1) * 10) & 0x3ffU;
  return static_cast<U32>(static_cast<std::int32_t>(field << 22) >> 22) * 8;
}

/// Three 21-bit byte addresses in a register pair; the third is split over the upper bits of both
/// (graphcore/poplibs lib/popops/codelets/asm/binaryOps1D.S).
struct PackedAddresses {
  U32 first, second, third;

  static constexpr PackedAddresses from(U64 pair) {
    return {low(pair) & 0x1fffffU, high(pair) & 0x1fffffU,
            low(pair) >> 21 | (high(pair) >> 21 & 0x3ffU) << 11};
  }
  [[nodiscard]] constexpr U64 pack() const {
    return pair_of((first & 0x1fffffU) | third << 21, (second & 0x1fffffU) | (third >> 11 & 0x3ffU)
                                                                                 << 21);
  }
};

struct Ld32 {
  static constexpr Spec spec{.syntax = "ld32 $d, $b, $o, i",
                             .encoding = "01bdoiii",
                             .pipe = Pipe::kMain,
                             .summary = "Loads a word.",
                             .encoding_source = Source::kMeasured};
  using Operands = List<OutM<'d'>, InM<'b'>, InM<'o'>, Imm<'i'>>;
  template <class Env>
  static U32 execute(Env& env, U32 base, U32 delta, U32 i) {
    return env.template load<U32>(base + delta + i * 4);
  }
};

struct Ld32Register {
  static constexpr Spec spec{.syntax = "ld32 $d, $b, $o, $r",
                             .encoding = "4Dbro0d9",
                             .pipe = Pipe::kMain,
                             .summary = "Loads a word.",
                             .encoding_source = Source::kAssumed};
  using Operands = List<OutM<'d'>, InM<'b'>, InM<'o'>, InM<'r'>>;
  template <class Env>
  static U32 execute(Env& env, U32 base, U32 delta, U32 i) {
    return env.template load<U32>(base + delta + i * 4);
  }
};

struct Ld32Step {
  static constexpr Spec spec{.syntax = "ld32step $d, $b, $o+=, i",
                             .encoding = "1Cbdo1ii",
                             .pipe = Pipe::kMain,
                             .summary = "Loads a word, then steps the delta.",
                             .encoding_source = Source::kAssumed};
  using Operands = List<OutM<'d'>, InM<'b'>, InOutM<'o'>, SignedImm<'i'>>;
  template <class Env>
  static std::tuple<U32, U32> execute(Env& env, U32 base, U32 delta, std::int32_t i) {
    return {env.template load<U32>(base + delta), delta + static_cast<U32>(i) * 4};
  }
};

struct Ld32StepRegister {
  static constexpr Spec spec{.syntax = "ld32step $d, $b, $o+=, $r",
                             .encoding = "47bro1d0",
                             .pipe = Pipe::kMain,
                             .summary = "Loads a word, then steps the delta.",
                             .encoding_source = Source::kAssumed};
  using Operands = List<OutM<'d'>, InM<'b'>, InOutM<'o'>, InM<'r'>>;
  template <class Env>
  static std::tuple<U32, U32> execute(Env& env, U32 base, U32 delta, U32 r) {
    return {env.template load<U32>(base + delta), delta + r * 4};
  }
};

struct Ld32A {
  static constexpr Spec spec{.syntax = "ld32 $d, $b, $o, i",
                             .encoding = "03bdoiii",
                             .pipe = Pipe::kMain,
                             .summary = "Loads a word.",
                             .where = Where::kWorker,
                             .encoding_source = Source::kAssumed};
  using Operands = List<OutA<'d'>, InM<'b'>, InM<'o'>, Imm<'i'>>;
  template <class Env>
  static U32 execute(Env& env, U32 base, U32 delta, U32 i) {
    return env.template load<U32>(base + delta + i * 4);
  }
};

struct Ld32ARegister {
  static constexpr Spec spec{.syntax = "ld32 $d, $b, $o, $r",
                             .encoding = "4Dbro0dD",
                             .pipe = Pipe::kMain,
                             .summary = "Loads a word.",
                             .where = Where::kWorker,
                             .encoding_source = Source::kAssumed};
  using Operands = List<OutA<'d'>, InM<'b'>, InM<'o'>, InM<'r'>>;
  template <class Env>
  static U32 execute(Env& env, U32 base, U32 delta, U32 i) {
    return env.template load<U32>(base + delta + i * 4);
  }
};

struct Ld32AStep {
  static constexpr Spec spec{.syntax = "ld32step $d, $b, $o+=, i",
                             .encoding = "1Ebdo1ii",
                             .pipe = Pipe::kMain,
                             .summary = "Loads a word, then steps the delta.",
                             .where = Where::kWorker,
                             .encoding_source = Source::kAssumed};
  using Operands = List<OutA<'d'>, InM<'b'>, InOutM<'o'>, SignedImm<'i'>>;
  template <class Env>
  static std::tuple<U32, U32> execute(Env& env, U32 base, U32 delta, std::int32_t i) {
    return {env.template load<U32>(base + delta), delta + static_cast<U32>(i) * 4};
  }
};

struct Ld32AStepRegister {
  static constexpr Spec spec{.syntax = "ld32step $d, $b, $o+=, $r",
                             .encoding = "47bro1d1",
                             .pipe = Pipe::kMain,
                             .summary = "Loads a word, then steps the delta.",
                             .where = Where::kWorker,
                             .encoding_source = Source::kAssumed};
  using Operands = List<OutA<'d'>, InM<'b'>, InOutM<'o'>, InM<'r'>>;
  template <class Env>
  static std::tuple<U32, U32> execute(Env& env, U32 base, U32 delta, U32 r) {
    return {env.template load<U32>(base + delta), delta + r * 4};
  }
};

struct Ld64 {
  static constexpr Spec spec{.syntax = "ld64 $d, $b, $o, i",
                             .encoding = "09bdoiii",
                             .pipe = Pipe::kMain,
                             .summary = "Loads 64 bits.",
                             .where = Where::kWorker};
  using Operands = List<OutA<'d', U64>, InM<'b'>, InM<'o'>, Imm<'i'>>;
  template <class Env>
  static U64 execute(Env& env, U32 base, U32 delta, U32 i) {
    return env.template load<U64>(base + delta + i * 8);
  }
};

struct Ld64Register {
  static constexpr Spec spec{.syntax = "ld64 $d, $b, $o, $r",
                             .encoding = "4Dbro8d1",
                             .pipe = Pipe::kMain,
                             .summary = "Loads 64 bits.",
                             .where = Where::kWorker};
  using Operands = List<OutA<'d', U64>, InM<'b'>, InM<'o'>, InM<'r'>>;
  template <class Env>
  static U64 execute(Env& env, U32 base, U32 delta, U32 i) {
    return env.template load<U64>(base + delta + i * 8);
  }
};

struct Ld64Step {
  static constexpr Spec spec{.syntax = "ld64step $d, $b, $o+=, i",
                             .encoding = "1Ebdo2ii",
                             .pipe = Pipe::kMain,
                             .summary = "Loads 64 bits, then steps the delta.",
                             .where = Where::kWorker};
  using Operands = List<OutA<'d', U64>, InM<'b'>, InOutM<'o'>, SignedImm<'i'>>;
  template <class Env>
  static std::tuple<U64, U32> execute(Env& env, U32 base, U32 delta, std::int32_t i) {
    return {env.template load<U64>(base + delta), delta + static_cast<U32>(i) * 8};
  }
};

struct Ld64StepRegister {
  static constexpr Spec spec{.syntax = "ld64step $d, $b, $o+=, $r",
                             .encoding = "47bro2d1",
                             .pipe = Pipe::kMain,
                             .summary = "Loads 64 bits, then steps the delta.",
                             .where = Where::kWorker};
  using Operands = List<OutA<'d', U64>, InM<'b'>, InOutM<'o'>, InM<'r'>>;
  template <class Env>
  static std::tuple<U64, U32> execute(Env& env, U32 base, U32 delta, U32 r) {
    return {env.template load<U64>(base + delta), delta + r * 8};
  }
};

struct Ld128 {
  static constexpr Spec spec{.syntax = "ld128 $d, $b, $o, i",
                             .encoding = "0Bbdoiii",
                             .pipe = Pipe::kMain,
                             .summary = "Loads 128 bits from interleaved memory.",
                             .where = Where::kWorker};
  using Operands = List<OutA<'d', U128>, InM<'b'>, InM<'o'>, Imm<'i'>>;
  template <class Env>
  static U128 execute(Env& env, U32 base, U32 delta, U32 i) {
    return env.template load<U128>(base + delta + i * 16);
  }
};

struct Ld128Register {
  static constexpr Spec spec{.syntax = "ld128 $d, $b, $o, $r",
                             .encoding = "4Dbro8d5",
                             .pipe = Pipe::kMain,
                             .summary = "Loads 128 bits from interleaved memory.",
                             .where = Where::kWorker};
  using Operands = List<OutA<'d', U128>, InM<'b'>, InM<'o'>, InM<'r'>>;
  template <class Env>
  static U128 execute(Env& env, U32 base, U32 delta, U32 i) {
    return env.template load<U128>(base + delta + i * 16);
  }
};

struct Ld128Step {
  static constexpr Spec spec{
      .syntax = "ld128step $d, $b, $o+=, i",
      .encoding = "1EbdoAii",
      .pipe = Pipe::kMain,
      .summary = "Loads 128 bits from interleaved memory, then steps the delta.",
      .where = Where::kWorker};
  using Operands = List<OutA<'d', U128>, InM<'b'>, InOutM<'o'>, SignedImm<'i'>>;
  template <class Env>
  static std::tuple<U128, U32> execute(Env& env, U32 base, U32 delta, std::int32_t i) {
    return {env.template load<U128>(base + delta), delta + static_cast<U32>(i) * 16};
  }
};

struct Ld128StepRegister {
  static constexpr Spec spec{
      .syntax = "ld128step $d, $b, $o+=, $r",
      .encoding = "47bro2d3",
      .pipe = Pipe::kMain,
      .summary = "Loads 128 bits from interleaved memory, then steps the delta.",
      .where = Where::kWorker};
  using Operands = List<OutA<'d', U128>, InM<'b'>, InOutM<'o'>, InM<'r'>>;
  template <class Env>
  static std::tuple<U128, U32> execute(Env& env, U32 base, U32 delta, U32 r) {
    return {env.template load<U128>(base + delta), delta + r * 16};
  }
};

struct Ldz8 {
  static constexpr Spec spec{.syntax = "ldz8 $d, $b, $o, i",
                             .encoding = "07bdoiii",
                             .pipe = Pipe::kMain,
                             .summary = "Loads a byte, zero-extended."};
  using Operands = List<OutM<'d'>, InM<'b'>, InM<'o'>, Imm<'i'>>;
  template <class Env>
  static U32 execute(Env& env, U32 base, U32 delta, U32 i) {
    return env.template load<std::uint8_t>(base + delta + i * 1);
  }
};

struct Ldz8Register {
  static constexpr Spec spec{.syntax = "ldz8 $d, $b, $o, $r",
                             .encoding = "4Dbro1d5",
                             .pipe = Pipe::kMain,
                             .summary = "Loads a byte, zero-extended."};
  using Operands = List<OutM<'d'>, InM<'b'>, InM<'o'>, InM<'r'>>;
  template <class Env>
  static U32 execute(Env& env, U32 base, U32 delta, U32 i) {
    return env.template load<std::uint8_t>(base + delta + i * 1);
  }
};

struct Ldz8Step {
  static constexpr Spec spec{.syntax = "ldz8step $d, $b, $o+=, i",
                             .encoding = "1Cbdo7ii",
                             .pipe = Pipe::kMain,
                             .summary = "Loads a byte, zero-extended, then steps the delta."};
  using Operands = List<OutM<'d'>, InM<'b'>, InOutM<'o'>, SignedImm<'i'>>;
  template <class Env>
  static std::tuple<U32, U32> execute(Env& env, U32 base, U32 delta, std::int32_t i) {
    return {env.template load<std::uint8_t>(base + delta), delta + static_cast<U32>(i) * 1};
  }
};

struct Ldz8StepRegister {
  static constexpr Spec spec{.syntax = "ldz8step $d, $b, $o+=, $r",
                             .encoding = "47bro7d0",
                             .pipe = Pipe::kMain,
                             .summary = "Loads a byte, zero-extended, then steps the delta."};
  using Operands = List<OutM<'d'>, InM<'b'>, InOutM<'o'>, InM<'r'>>;
  template <class Env>
  static std::tuple<U32, U32> execute(Env& env, U32 base, U32 delta, U32 r) {
    return {env.template load<std::uint8_t>(base + delta), delta + r * 1};
  }
};

struct Lds8 {
  static constexpr Spec spec{.syntax = "lds8 $d, $b, $o, i",
                             .encoding = "05bdoiii",
                             .pipe = Pipe::kMain,
                             .summary = "Loads a byte, sign-extended."};
  using Operands = List<OutM<'d'>, InM<'b'>, InM<'o'>, Imm<'i'>>;
  template <class Env>
  static U32 execute(Env& env, U32 base, U32 delta, U32 i) {
    return sign_extended_byte(env.template load<std::uint8_t>(base + delta + i * 1));
  }
};

struct Lds8Register {
  static constexpr Spec spec{.syntax = "lds8 $d, $b, $o, $r",
                             .encoding = "4Dbro1d1",
                             .pipe = Pipe::kMain,
                             .summary = "Loads a byte, sign-extended."};
  using Operands = List<OutM<'d'>, InM<'b'>, InM<'o'>, InM<'r'>>;
  template <class Env>
  static U32 execute(Env& env, U32 base, U32 delta, U32 i) {
    return sign_extended_byte(env.template load<std::uint8_t>(base + delta + i * 1));
  }
};

struct Lds8Step {
  static constexpr Spec spec{.syntax = "lds8step $d, $b, $o+=, i",
                             .encoding = "1Cbdo5ii",
                             .pipe = Pipe::kMain,
                             .summary = "Loads a byte, sign-extended, then steps the delta."};
  using Operands = List<OutM<'d'>, InM<'b'>, InOutM<'o'>, SignedImm<'i'>>;
  template <class Env>
  static std::tuple<U32, U32> execute(Env& env, U32 base, U32 delta, std::int32_t i) {
    return {sign_extended_byte(env.template load<std::uint8_t>(base + delta)),
            delta + static_cast<U32>(i) * 1};
  }
};

struct Lds8StepRegister {
  static constexpr Spec spec{.syntax = "lds8step $d, $b, $o+=, $r",
                             .encoding = "47bro5d0",
                             .pipe = Pipe::kMain,
                             .summary = "Loads a byte, sign-extended, then steps the delta."};
  using Operands = List<OutM<'d'>, InM<'b'>, InOutM<'o'>, InM<'r'>>;
  template <class Env>
  static std::tuple<U32, U32> execute(Env& env, U32 base, U32 delta, U32 r) {
    return {sign_extended_byte(env.template load<std::uint8_t>(base + delta)), delta + r * 1};
  }
};

struct Ldz16 {
  static constexpr Spec spec{.syntax = "ldz16 $d, $b, $o, i",
                             .encoding = "06bdoiii",
                             .pipe = Pipe::kMain,
                             .summary = "Loads a half word, zero-extended."};
  using Operands = List<OutM<'d'>, InM<'b'>, InM<'o'>, Imm<'i'>>;
  template <class Env>
  static U32 execute(Env& env, U32 base, U32 delta, U32 i) {
    return env.template load<std::uint16_t>(base + delta + i * 2);
  }
};

struct Ldz16Register {
  static constexpr Spec spec{.syntax = "ldz16 $d, $b, $o, $r",
                             .encoding = "4Dbro1d4",
                             .pipe = Pipe::kMain,
                             .summary = "Loads a half word, zero-extended."};
  using Operands = List<OutM<'d'>, InM<'b'>, InM<'o'>, InM<'r'>>;
  template <class Env>
  static U32 execute(Env& env, U32 base, U32 delta, U32 i) {
    return env.template load<std::uint16_t>(base + delta + i * 2);
  }
};

struct Ldz16Step {
  static constexpr Spec spec{.syntax = "ldz16step $d, $b, $o+=, i",
                             .encoding = "1Cbdo6ii",
                             .pipe = Pipe::kMain,
                             .summary = "Loads a half word, zero-extended, then steps the delta."};
  using Operands = List<OutM<'d'>, InM<'b'>, InOutM<'o'>, SignedImm<'i'>>;
  template <class Env>
  static std::tuple<U32, U32> execute(Env& env, U32 base, U32 delta, std::int32_t i) {
    return {env.template load<std::uint16_t>(base + delta), delta + static_cast<U32>(i) * 2};
  }
};

struct Ldz16StepRegister {
  static constexpr Spec spec{.syntax = "ldz16step $d, $b, $o+=, $r",
                             .encoding = "47bro6d0",
                             .pipe = Pipe::kMain,
                             .summary = "Loads a half word, zero-extended, then steps the delta."};
  using Operands = List<OutM<'d'>, InM<'b'>, InOutM<'o'>, InM<'r'>>;
  template <class Env>
  static std::tuple<U32, U32> execute(Env& env, U32 base, U32 delta, U32 r) {
    return {env.template load<std::uint16_t>(base + delta), delta + r * 2};
  }
};

struct Lds16 {
  static constexpr Spec spec{.syntax = "lds16 $d, $b, $o, i",
                             .encoding = "04bdoiii",
                             .pipe = Pipe::kMain,
                             .summary = "Loads a half word, sign-extended."};
  using Operands = List<OutM<'d'>, InM<'b'>, InM<'o'>, Imm<'i'>>;
  template <class Env>
  static U32 execute(Env& env, U32 base, U32 delta, U32 i) {
    return sign_extended_half(env.template load<std::uint16_t>(base + delta + i * 2));
  }
};

struct Lds16Register {
  static constexpr Spec spec{.syntax = "lds16 $d, $b, $o, $r",
                             .encoding = "4Dbro1d0",
                             .pipe = Pipe::kMain,
                             .summary = "Loads a half word, sign-extended."};
  using Operands = List<OutM<'d'>, InM<'b'>, InM<'o'>, InM<'r'>>;
  template <class Env>
  static U32 execute(Env& env, U32 base, U32 delta, U32 i) {
    return sign_extended_half(env.template load<std::uint16_t>(base + delta + i * 2));
  }
};

struct Lds16Step {
  static constexpr Spec spec{.syntax = "lds16step $d, $b, $o+=, i",
                             .encoding = "1Cbdo4ii",
                             .pipe = Pipe::kMain,
                             .summary = "Loads a half word, sign-extended, then steps the delta."};
  using Operands = List<OutM<'d'>, InM<'b'>, InOutM<'o'>, SignedImm<'i'>>;
  template <class Env>
  static std::tuple<U32, U32> execute(Env& env, U32 base, U32 delta, std::int32_t i) {
    return {sign_extended_half(env.template load<std::uint16_t>(base + delta)),
            delta + static_cast<U32>(i) * 2};
  }
};

struct Lds16StepRegister {
  static constexpr Spec spec{.syntax = "lds16step $d, $b, $o+=, $r",
                             .encoding = "47bro4d0",
                             .pipe = Pipe::kMain,
                             .summary = "Loads a half word, sign-extended, then steps the delta."};
  using Operands = List<OutM<'d'>, InM<'b'>, InOutM<'o'>, InM<'r'>>;
  template <class Env>
  static std::tuple<U32, U32> execute(Env& env, U32 base, U32 delta, U32 r) {
    return {sign_extended_half(env.template load<std::uint16_t>(base + delta)), delta + r * 2};
  }
};

struct Ldb16 {
  static constexpr Spec spec{.syntax = "ldb16 $d, $b, $o, i",
                             .encoding = "0Ebdoiii",
                             .pipe = Pipe::kMain,
                             .summary = "Loads a half word into both halves.",
                             .where = Where::kWorker};
  using Operands = List<OutA<'d'>, InM<'b'>, InM<'o'>, Imm<'i'>>;
  template <class Env>
  static U32 execute(Env& env, U32 base, U32 delta, U32 i) {
    return 0x10001U * env.template load<std::uint16_t>(base + delta + i * 2);
  }
};

struct Ldb16Register {
  static constexpr Spec spec{.syntax = "ldb16 $d, $b, $o, $r",
                             .encoding = "4Dbro9d4",
                             .pipe = Pipe::kMain,
                             .summary = "Loads a half word into both halves.",
                             .where = Where::kWorker};
  using Operands = List<OutA<'d'>, InM<'b'>, InM<'o'>, InM<'r'>>;
  template <class Env>
  static U32 execute(Env& env, U32 base, U32 delta, U32 i) {
    return 0x10001U * env.template load<std::uint16_t>(base + delta + i * 2);
  }
};

struct Ldb16Step {
  static constexpr Spec spec{.syntax = "ldb16step $d, $b, $o+=, i",
                             .encoding = "1Ebdo6ii",
                             .pipe = Pipe::kMain,
                             .summary = "Loads a half word into both halves, then steps the delta.",
                             .where = Where::kWorker};
  using Operands = List<OutA<'d'>, InM<'b'>, InOutM<'o'>, SignedImm<'i'>>;
  template <class Env>
  static std::tuple<U32, U32> execute(Env& env, U32 base, U32 delta, std::int32_t i) {
    return {0x10001U * env.template load<std::uint16_t>(base + delta),
            delta + static_cast<U32>(i) * 2};
  }
};

struct Ldb16StepRegister {
  static constexpr Spec spec{.syntax = "ldb16step $d, $b, $o+=, $r",
                             .encoding = "47bro6d1",
                             .pipe = Pipe::kMain,
                             .summary = "Loads a half word into both halves, then steps the delta.",
                             .where = Where::kWorker};
  using Operands = List<OutA<'d'>, InM<'b'>, InOutM<'o'>, InM<'r'>>;
  template <class Env>
  static std::tuple<U32, U32> execute(Env& env, U32 base, U32 delta, U32 r) {
    return {0x10001U * env.template load<std::uint16_t>(base + delta), delta + r * 2};
  }
};

struct St32 {
  static constexpr Spec spec{.syntax = "st32 $s, $b, $o, i",
                             .encoding = "4Fbsoiii",
                             .pipe = Pipe::kMain,
                             .summary = "Stores a word."};
  using Operands = List<InM<'s'>, InM<'b'>, InM<'o'>, Imm<'i'>>;
  template <class Env>
  static void execute(Env& env, U32 value, U32 base, U32 delta, U32 i) {
    env.store(base + delta + i * 4, value);
  }
};

struct St32Step {
  static constexpr Spec spec{.syntax = "st32step $s, $b, $o+=, i",
                             .encoding = "4Ebso0ii",
                             .pipe = Pipe::kMain,
                             .summary = "Stores a word, then steps the delta."};
  using Operands = List<InM<'s'>, InM<'b'>, InOutM<'o'>, SignedImm<'i'>>;
  template <class Env>
  static U32 execute(Env& env, U32 value, U32 base, U32 delta, std::int32_t i) {
    env.store(base + delta, value);
    return delta + static_cast<U32>(i) * 4;
  }
};

struct St32A {
  static constexpr Spec spec{.syntax = "st32 $s, $b, $o, i",
                             .encoding = "5Ebioisi",
                             .pipe = Pipe::kMain,
                             .summary = "Stores a word.",
                             .where = Where::kWorker};
  using Operands = List<InA<'s'>, InM<'b'>, InM<'o'>, Imm<'i'>>;
  template <class Env>
  static void execute(Env& env, U32 value, U32 base, U32 delta, U32 i) {
    env.store(base + delta + i * 4, value);
  }
};

struct St32ARegister {
  static constexpr Spec spec{.syntax = "st32 $s, $b, $o, $r",
                             .encoding = "54bro0s0",
                             .pipe = Pipe::kMain,
                             .summary = "Stores a word.",
                             .where = Where::kWorker};
  using Operands = List<InA<'s'>, InM<'b'>, InM<'o'>, InM<'r'>>;
  template <class Env>
  static void execute(Env& env, U32 value, U32 base, U32 delta, U32 i) {
    env.store(base + delta + i * 4, value);
  }
};

struct St32AStep {
  static constexpr Spec spec{.syntax = "st32step $s, $b, $o+=, i",
                             .encoding = "5Cbio0si",
                             .pipe = Pipe::kMain,
                             .summary = "Stores a word, then steps the delta.",
                             .where = Where::kWorker};
  using Operands = List<InA<'s'>, InM<'b'>, InOutM<'o'>, SignedImm<'i'>>;
  template <class Env>
  static U32 execute(Env& env, U32 value, U32 base, U32 delta, std::int32_t i) {
    env.store(base + delta, value);
    return delta + static_cast<U32>(i) * 4;
  }
};

struct St32AStepRegister {
  static constexpr Spec spec{.syntax = "st32step $s, $b, $o+=, $r",
                             .encoding = "55bro0s0",
                             .pipe = Pipe::kMain,
                             .summary = "Stores a word, then steps the delta.",
                             .where = Where::kWorker};
  using Operands = List<InA<'s'>, InM<'b'>, InOutM<'o'>, InM<'r'>>;
  template <class Env>
  static U32 execute(Env& env, U32 value, U32 base, U32 delta, U32 r) {
    env.store(base + delta, value);
    return delta + r * 4;
  }
};

struct St64 {
  static constexpr Spec spec{.syntax = "st64 $s, $b, $o, i",
                             .encoding = "5Fbioisi",
                             .pipe = Pipe::kMain,
                             .summary = "Stores 64 bits.",
                             .where = Where::kWorker};
  using Operands = List<InA<'s', U64>, InM<'b'>, InM<'o'>, Imm<'i'>>;
  template <class Env>
  static void execute(Env& env, U64 value, U32 base, U32 delta, U32 i) {
    env.store(base + delta + i * 8, value);
  }
};

struct St64Register {
  static constexpr Spec spec{.syntax = "st64 $s, $b, $o, $r",
                             .encoding = "54bro1s0",
                             .pipe = Pipe::kMain,
                             .summary = "Stores 64 bits.",
                             .where = Where::kWorker};
  using Operands = List<InA<'s', U64>, InM<'b'>, InM<'o'>, InM<'r'>>;
  template <class Env>
  static void execute(Env& env, U64 value, U32 base, U32 delta, U32 i) {
    env.store(base + delta + i * 8, value);
  }
};

struct St64Step {
  static constexpr Spec spec{.syntax = "st64step $s, $b, $o+=, i",
                             .encoding = "5Cbio1si",
                             .pipe = Pipe::kMain,
                             .summary = "Stores 64 bits, then steps the delta.",
                             .where = Where::kWorker};
  using Operands = List<InA<'s', U64>, InM<'b'>, InOutM<'o'>, SignedImm<'i'>>;
  template <class Env>
  static U32 execute(Env& env, U64 value, U32 base, U32 delta, std::int32_t i) {
    env.store(base + delta, value);
    return delta + static_cast<U32>(i) * 8;
  }
};

struct St64StepRegister {
  static constexpr Spec spec{.syntax = "st64step $s, $b, $o+=, $r",
                             .encoding = "55bro1s0",
                             .pipe = Pipe::kMain,
                             .summary = "Stores 64 bits, then steps the delta.",
                             .where = Where::kWorker};
  using Operands = List<InA<'s', U64>, InM<'b'>, InOutM<'o'>, InM<'r'>>;
  template <class Env>
  static U32 execute(Env& env, U64 value, U32 base, U32 delta, U32 r) {
    env.store(base + delta, value);
    return delta + r * 8;
  }
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

using MemoryInstructions =
    List<Ld32, Ld32Register, Ld32Step, Ld32StepRegister, Ld32A, Ld32ARegister, Ld32AStep,
         Ld32AStepRegister, Ld64, Ld64Register, Ld64Step, Ld64StepRegister, Ld128, Ld128Register,
         Ld128Step, Ld128StepRegister, Ldz8, Ldz8Register, Ldz8Step, Ldz8StepRegister, Lds8,
         Lds8Register, Lds8Step, Lds8StepRegister, Ldz16, Ldz16Register, Ldz16Step,
         Ldz16StepRegister, Lds16, Lds16Register, Lds16Step, Lds16StepRegister, Ldb16,
         Ldb16Register, Ldb16Step, Ldb16StepRegister, St32, St32Step, St32A, St32ARegister,
         St32AStep, St32AStepRegister, St64, St64Register, St64Step, St64StepRegister, Stm32,
         Stm32Step>;

}  // namespace superstep::isa
