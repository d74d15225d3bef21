#pragma once

#include <tuple>

#include "isa/instruction.h"
#include "isa/instructions/memory_access.h"

namespace superstep::isa {

// Two loads at once: of sparse data at a base plus a 16-bit delta in bytes, and of dense data,
// among them the next deltas, at an address that steps. They must be in different memory elements
// (graphcore/poplibs lib/popsparse/codelets/SparseGather.cpp, constraint).

/// `$d, $p++, $b, $o@`: data at $b + $o, the next 16-bit delta to $o.
template <class Access>
struct DeltaLoad {
  using Operands = List<typename Access::Destination, InOutM<'p'>, InM<'b'>, InOutM<'o'>>;
  template <class Env>
  static std::tuple<typename Access::Value, U32, U32> execute(Env& env, U32 next, U32 base,
                                                              U32 delta) {
    const U32 address = base + (delta & 0xffffU);
    using Stored = typename Access::Stored;
    if (!env.reach(Read<Stored>{address}, Read<std::uint16_t>{next})) return {};
    return {Access::reached(env, address), next + 2, env.template get<std::uint16_t>(next)};
  }
};

struct Ldd16a32 : DeltaLoad<Loaded<U32, OutA<'d'>>> {
  static constexpr Spec spec = worker_spec("ldd16a32 $d, $p++, $b, $o@", "45bopAd0",
                                           "Loads a word at base and delta, and the next delta.");
};

struct Ldd16a64 : DeltaLoad<Loaded<U64, OutA<'d', U64>>> {
  static constexpr Spec spec = worker_spec("ldd16a64 $d, $p++, $b, $o@", "45bopBd0",
                                           "Loads 64 bits at base and delta, and the next delta.");
};

struct Ldd16b16 : DeltaLoad<Loaded<std::uint16_t, OutA<'d'>, repeated<std::uint16_t>>> {
  static constexpr Spec spec =
      worker_spec("ldd16b16 $d, $p++, $b, $o@", "45bopCd0",
                  "Loads a half word at base and delta into both halves, and the next delta.");
};

struct Ldd16v2a32 {
  static constexpr Spec spec =
      worker_spec("ldd16v2a32 $d, $p++, $b, $o@", "45bop8d0",
                  "Loads a word at base and the upper of two deltas, and the next two deltas.");
  using Operands = List<OutA<'d'>, InOutM<'p'>, InM<'b'>, InOutM<'o'>>;
  template <class Env>
  static std::tuple<U32, U32, U32> execute(Env& env, U32 next, U32 base, U32 deltas) {
    const U32 address = base + (deltas >> 16);
    if (!env.reach(Read<U32>{address}, Read<U32>{next})) return {};
    return {env.template get<U32>(address), next + 4, env.template get<U32>(next)};
  }
};

struct Ld64a32 {
  static constexpr Spec spec = worker_spec(
      "ld64a32 $d, $p++, $b, $o", "47bop7d3",
      "Loads 64 bits into the upper pair, and a word at base and the lower delta into the second "
      "register; the first is kept.");
  using Operands = List<InOutA<'d', U128>, InOutM<'p'>, InM<'b'>, InM<'o'>>;
  template <class Env>
  static std::tuple<U128, U32> execute(Env& env, U128 quad, U32 next, U32 base, U32 deltas) {
    const U32 address = base + (deltas & 0xffffU);
    if (!env.reach(Read<U64>{next}, Read<U32>{address})) return {};
    const U64 dense = env.template get<U64>(next);
    const U32 sparse = env.template get<U32>(address);
    return {U128{{pair_of(quad.word(0), sparse), dense}}, next + 8};
  }
};

struct Ldb16b16 {
  static constexpr Spec spec =
      worker_spec("ldb16b16 $d, $b, $o++, $m>>", "45bom9d0",
                  "Loads two half words at base and each delta, each into both halves; the lower "
                  "delta steps by one, the upper by 4 bits of $m.");
  using Operands = List<OutA<'d', U64>, InM<'b'>, InOutM<'o'>, InOutM<'m'>>;
  template <class Env>
  static std::tuple<U64, U32, U32> execute(Env& env, U32 base, U32 deltas, U32 steps) {
    const U32 first = base + (deltas & 0xffffU), second = base + (deltas >> 16);
    if (!env.reach(Read<std::uint16_t>{first}, Read<std::uint16_t>{second})) return {};
    const U32 lower = (deltas + 2) & 0xffffU;
    const U32 upper = (deltas >> 16) + (steps & 0xfU) * 2;
    return {pair_of(repeated(env.template get<std::uint16_t>(first)),
                    repeated(env.template get<std::uint16_t>(second))),
            upper << 16 | lower, steps >> 4};
  }
};

using DeltaLoadInstructions = List<Ldd16a32, Ldd16a64, Ldd16b16, Ldd16v2a32, Ld64a32, Ldb16b16>;

}  // namespace superstep::isa
