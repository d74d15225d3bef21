#pragma once

#include "isa/instruction.h"

namespace superstep::isa {

// Forms of instructions that apply one function of integers to their sources.

template <auto kFunction>
struct OnMain {
  using Operands = List<OutM<'d'>, InM<'a'>, InM<'b'>>;
  static U32 execute(U32 a, U32 b) { return kFunction(a, b); }
};
template <auto kFunction>
struct OnAux {
  using Operands = List<OutA<'d'>, InA<'a'>, InA<'b'>>;
  static U32 execute(U32 a, U32 b) { return kFunction(a, b); }
};
template <auto kFunction>
struct OnPairs {
  using Operands = List<OutA<'d', U64>, InA<'a', U64>, InA<'b', U64>>;
  static U64 execute(U64 a, U64 b) { return kFunction(a, b); }
};

/// With a zero-extended immediate, above `kTail` zeros.
template <auto kFunction, unsigned kTail = 0>
struct OnMainImmediate {
  using Operands = List<OutM<'d'>, InM<'a'>, Imm<'i'>>;
  static U32 execute(U32 a, U32 i) { return kFunction(a, i << kTail); }
};
template <auto kFunction, unsigned kTail = 0>
struct OnAuxImmediate {
  using Operands = List<OutA<'d'>, InA<'a'>, Imm<'i'>>;
  static U32 execute(U32 a, U32 i) { return kFunction(a, i << kTail); }
};

/// With a sign-extended immediate.
template <auto kFunction>
struct OnMainSigned {
  using Operands = List<OutM<'d'>, InM<'a'>, SignedImm<'i'>>;
  static U32 execute(U32 a, std::int32_t i) { return kFunction(a, static_cast<U32>(i)); }
};

/// Of one source.
template <auto kFunction>
struct OfMain {
  using Operands = List<OutM<'d'>, InM<'a'>>;
  static U32 execute(U32 a) { return kFunction(a); }
};
template <auto kFunction>
struct OfAux {
  using Operands = List<OutA<'d'>, InA<'a'>>;
  static U32 execute(U32 a) { return kFunction(a); }
};
template <auto kFunction>
struct OfPair {
  using Operands = List<OutA<'d', U64>, InA<'a', U64>>;
  static U64 execute(U64 a) { return kFunction(a); }
};

}  // namespace superstep::isa
