#pragma once

#include <tuple>

#include "isa/instruction.h"
#include "isa/instructions/memory.h"

namespace superstep::isa {

struct Ld2x64pace {
  static constexpr Spec spec{.syntax = "ld2x64pace $d, $e, $p+=, $s, i",
                             .encoding = "46sdp0ei",
                             .pipe = Pipe::kMain,
                             .summary = "Two 64-bit loads, each stepping its own address.",
                             .where = Where::kWorker};
  using Operands = List<OutA<'d', U64>, OutA<'e', U64>, InOutM<'p', U64>, InM<'s'>, Imm<'i'>>;
  template <class Env>
  static std::tuple<U64, U64, U64> execute(Env& env, U64 addresses, U32 strides, U32 i) {
    if (env.template conflict<2>({low(addresses), high(addresses)})) return {};
    return {env.template load<U64>(low(addresses)), env.template load<U64>(high(addresses)),
            pair_of(low(addresses) + pace_step(i & 3, strides),
                    high(addresses) + pace_step(i >> 2 & 3, strides))};
  }
};

struct Ldst64pace {
  static constexpr Spec spec{
      .syntax = "ldst64pace $d, $e, $p+=, $s, i",
      .encoding = "56sdp1ei",
      .pipe = Pipe::kMain,
      .summary = "A 64-bit load and a 64-bit store, each stepping its own address.",
      .where = Where::kWorker};
  using Operands = List<OutA<'d', U64>, InA<'e', U64>, InOutM<'p', U64>, InM<'s'>, Imm<'i'>>;
  template <class Env>
  static std::tuple<U64, U64> execute(Env& env, U64 value, U64 addresses, U32 strides, U32 i) {
    PackedAddresses a = PackedAddresses::from(addresses);
    if (env.template conflict<2>({a.first, a.third})) return {};
    const U64 loaded = env.template load<U64>(a.first);
    env.store(a.third, value);
    a.first += pace_step(i & 3, strides);
    a.third += pace_step(i >> 2 & 3, strides);
    return {loaded, a.pack()};
  }
};

struct St64pace {
  static constexpr Spec spec{
      .syntax = "st64pace $e, $p+=, $s, i",
      .encoding = "5Cs0p2ei",
      .pipe = Pipe::kMain,
      .summary = "A 64-bit store to the third packed address, then steps it.",
      .where = Where::kWorker};
  using Operands = List<InA<'e', U64>, InOutM<'p', U64>, InM<'s'>, Imm<'i'>>;
  template <class Env>
  static U64 execute(Env& env, U64 value, U64 addresses, U32 strides, U32 i) {
    PackedAddresses a = PackedAddresses::from(addresses);
    env.store(a.third, value);
    a.third += pace_step(i & 3, strides);
    return a.pack();
  }
};

struct Ld2xst64pace {
  static constexpr Spec spec{
      .syntax = "ld2xst64pace $d, $e, $p+=, $s, i",
      .encoding = "56sdp[10ii]ei",
      .pipe = Pipe::kMain,
      .summary = "Two 64-bit loads and a 64-bit store, each stepping its own address.",
      .where = Where::kWorker};
  using Operands = List<OutA<'d', U128>, InA<'e', U64>, InOutM<'p', U64>, InM<'s'>, Imm<'i'>>;
  template <class Env>
  static std::tuple<U128, U64> execute(Env& env, U64 value, U64 addresses, U32 strides, U32 i) {
    PackedAddresses a = PackedAddresses::from(addresses);
    if (env.template conflict<3>({a.first, a.second, a.third})) return {};
    const U64 first = env.template load<U64>(a.first);
    const U64 second = env.template load<U64>(a.second);
    env.store(a.third, value);
    a.first += pace_step(i & 3, strides);
    a.second += pace_step(i >> 2 & 3, strides);
    a.third += pace_step(i >> 4 & 3, strides);
    return {U128{{low(first), high(first), low(second), high(second)}}, a.pack()};
  }
};

using PaceInstructions = List<Ld2x64pace, Ldst64pace, St64pace, Ld2xst64pace>;

}  // namespace superstep::isa
