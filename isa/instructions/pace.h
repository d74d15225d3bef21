#pragma once

#include <array>
#include <bit>
#include <optional>
#include <tuple>

#include "isa/instruction.h"
#include "isa/instructions/memory_access.h"

namespace superstep::isa {

/// The step in bytes that a 2-bit pace selector asks for: one atom, or one of three signed 10-bit
/// fields of `strides` (graphcore/poplibs lib/poplin/codelets/asm/conv_partial_1x1_float_float.S,
/// comments).
constexpr U32 pace_step(U32 selector, U32 strides, U32 atom = 8) {
  const U64 fields = U64{strides} << 10 | 1;
  const U32 field = static_cast<U32>(fields >> (selector * 10));
  return static_cast<U32>(static_cast<std::int32_t>(field << 22) >> 22) * atom;
}

/// Three 21-bit byte addresses in a register pair; the third is split over the upper bits of both
/// (graphcore/poplibs lib/popops/codelets/asm/binaryOps1D.S).
struct PackedAddresses {
  U64 pair;

  [[nodiscard]] constexpr U32 first() const { return low(pair & kFirstTwo); }
  [[nodiscard]] constexpr U32 second() const { return high(pair & kFirstTwo); }
  [[nodiscard]] constexpr U32 third() const {
    return low(pair) >> 21 | low(pair >> 42 & 0x1ff800U);
  }
  /// With the first two stepped by as many bytes. Each sum stays within its register.
  [[nodiscard]] constexpr PackedAddresses step(U32 first, U32 second) const {
    return {(pair & kThird) | stepped(first, second)};
  }
  /// The same, and another third.
  [[nodiscard]] constexpr PackedAddresses step(U32 first, U32 second, U32 third) const {
    return {third_of(third) | stepped(first, second)};
  }
  [[nodiscard]] constexpr PackedAddresses with_third(U32 address) const {
    return {(pair & kFirstTwo) | third_of(address)};
  }

 private:
  static constexpr U64 kFirstTwo = 0x001fffff'001fffffU;
  static constexpr U64 kThird = 0x7fe00000'ffe00000U;

  [[nodiscard]] constexpr U64 stepped(U32 first, U32 second) const {
    return ((pair & kFirstTwo) + (pair_of(first, second) & kFirstTwo)) & kFirstTwo;
  }
  [[nodiscard]] static constexpr U64 third_of(U32 address) {
    return U64{address << 21} | (U64{address} << 42 & pair_of(0, high(kThird)));
  }
};

/// Which packed addresses an instruction accesses, 64 bits at each: the bits of its immediate where
/// the selectors of their steps begin.
struct PackedAccess {
  std::optional<U32> first, second, third;
};

/// `$d, $e, $p+=, $s, i`: 64 bits at the lower address, `Second` at the upper one.
template <class Second>
struct LoadTwoPace {
  using Operands =
      List<OutA<'d', U64>, typename Second::Destination, InOutM<'p', U64>, InM<'s'>, Imm<'i'>>;
  template <class Env>
  static std::tuple<U64, typename Second::Value, U64> execute(Env& env, U64 addresses, U32 strides,
                                                              U32 i) {
    // A third address may be packed into the upper bits.
    const PackedAddresses a{addresses};
    if (!env.reach(Read<U64>{a.first()}, Read<typename Second::Stored>{a.second()})) return {};
    return {env.template get<U64>(a.first()), Second::reached(env, a.second()),
            a.step(pace_step(i & 3, strides), pace_step(i >> 2 & 3, strides, Second::kSize)).pair};
  }
};

struct Ld2x64pace : LoadTwoPace<Loaded<U64, OutA<'e', U64>>> {
  static constexpr Spec spec = worker_spec("ld2x64pace $d, $e, $p+=, $s, i", "46sdp0ei",
                                           "Two 64-bit loads, each stepping its own address.");
  static constexpr PackedAccess access{.first = 0, .second = 2, .third = {}};
};

struct Ld64a32pace : LoadTwoPace<Loaded<U32, OutA<'e'>>> {
  static constexpr Spec spec =
      worker_spec("ld64a32pace $d, $e, $p+=, $s, i", "46sdp3ei",
                  "A 64-bit and a 32-bit load, each stepping its own address.");
};

struct Ld64b16pace : LoadTwoPace<Loaded<std::uint16_t, OutA<'e'>, repeated<std::uint16_t>>> {
  static constexpr Spec spec = worker_spec(
      "ld64b16pace $d, $e, $p+=, $s, i", "46sdp2ei",
      "A 64-bit load and one of a half word into both halves, each stepping its own address.");
};

struct Ldst64pace {
  static constexpr Spec spec{
      .syntax = "ldst64pace $d, $e, $p+=, $s, i",
      .encoding = "56sdp1ei",
      .pipe = Pipe::kMain,
      .summary = "A 64-bit load and a 64-bit store, each stepping its own address.",
      .where = Where::kWorker};
  static constexpr PackedAccess access{.first = 0, .second = {}, .third = 2};
  using Operands = List<OutA<'d', U64>, InA<'e', U64>, InOutM<'p', U64>, InM<'s'>, Imm<'i'>>;
  template <class Env>
  static std::tuple<U64, U64> execute(Env& env, U64 value, U64 addresses, U32 strides, U32 i) {
    const PackedAddresses a{addresses};
    const U32 third = a.third();
    if (!env.reach(Read<U64>{a.first()}, Write<U64>{third})) return {};
    const U64 loaded = env.template get<U64>(a.first());
    env.put(third, value);
    const U32 next_third = third + pace_step(i >> 2 & 3, strides);
    return {loaded, a.step(pace_step(i & 3, strides), 0, next_third).pair};
  }
};

struct St64pace {
  static constexpr Spec spec{
      .syntax = "st64pace $e, $p+=, $s, i",
      .encoding = "5Cs0p2ei",
      .pipe = Pipe::kMain,
      .summary = "A 64-bit store to the third packed address, then steps it.",
      .where = Where::kWorker};
  static constexpr PackedAccess access{.first = {}, .second = {}, .third = 0};
  using Operands = List<InA<'e', U64>, InOutM<'p', U64>, InM<'s'>, Imm<'i'>>;
  template <class Env>
  static U64 execute(Env& env, U64 value, U64 addresses, U32 strides, U32 i) {
    const PackedAddresses a{addresses};
    env.store(a.third(), value);
    return a.with_third(a.third() + pace_step(i & 3, strides)).pair;
  }
};

struct Ld2xst64pace {
  static constexpr Spec spec{
      .syntax = "ld2xst64pace $d, $e, $p+=, $s, i",
      .encoding = "56sdp[10ii]ei",
      .pipe = Pipe::kMain,
      .summary = "Two 64-bit loads and a 64-bit store, each stepping its own address.",
      .where = Where::kWorker};
  static constexpr PackedAccess access{.first = 0, .second = 2, .third = 4};
  using Operands = List<OutA<'d', U128>, InA<'e', U64>, InOutM<'p', U64>, InM<'s'>, Imm<'i'>>;
  template <class Env>
  static std::tuple<U128, U64> execute(Env& env, U64 value, U64 addresses, U32 strides, U32 i) {
    const PackedAddresses a{addresses};
    const U32 third = a.third();
    if (!env.reach(Read<U64>{a.first()}, Read<U64>{a.second()}, Write<U64>{third})) return {};
    const U64 first = env.template get<U64>(a.first());
    const U64 second = env.template get<U64>(a.second());
    env.put(third, value);
    const U32 next_third = third + pace_step(i >> 4 & 3, strides);
    return {U128{{first, second}},
            a.step(pace_step(i & 3, strides), pace_step(i >> 2 & 3, strides), next_third).pair};
  }
};

using PaceInstructions =
    List<Ld2x64pace, Ld64a32pace, Ld64b16pace, Ldst64pace, St64pace, Ld2xst64pace>;
/// Those that only load, and that only store.
using PaceLoadInstructions = List<Ld2x64pace, Ld64a32pace, Ld64b16pace>;
using PaceStoreInstructions = List<St64pace>;

}  // namespace superstep::isa
