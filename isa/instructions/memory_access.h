#pragma once

#include <limits>
#include <tuple>
#include <type_traits>

#include "isa/instruction.h"

namespace superstep::isa {

// What the forms of loads and stores share: an address of a base, a delta and a further offset or
// step that counts values of the access.

template <class T>
constexpr T unchanged(T value) {
  return value;
}
template <class T>
constexpr U32 zero_extended(T value) {
  return value;
}
template <class T>
constexpr U32 sign_extended(T value) {
  return static_cast<U32>(static_cast<std::int32_t>(static_cast<std::make_signed_t<T>>(value)));
}
/// As often as a register holds it.
template <class T>
constexpr U32 repeated(T value) {
  return value * (~U32{0} / std::numeric_limits<T>::max());
}

/// One of several accesses of an instruction, for `env.reach`.
template <class T>
struct Read {
  using Value = T;
  U32 address;
};
template <class T>
struct Write {
  using Value = T;
  U32 address;
};

/// A load of a `Stored` from memory, of which `kRegister` makes what `TheDestination` gets.
template <class TheStored, class TheDestination, auto kRegister = unchanged<TheStored>>
struct Loaded {
  using Stored = TheStored;
  using Destination = TheDestination;
  using Value = typename Destination::Value;
  static constexpr U32 kSize = sizeof(Stored);
  /// Behind an `env.reach` of it.
  template <class Env>
  static Value reached(Env& env, U32 address) {
    return kRegister(env.template get<Stored>(address));
  }
  template <class Env>
  static Value at(Env& env, U32 address) {
    return kRegister(env.template load<Stored>(address));
  }
};

/// `$d, $b, $o, offset`: the offset is an `Imm<'i'>` or an `InM<'r'>`.
template <class Access, class Offset>
struct Load {
  using Operands = List<typename Access::Destination, InM<'b'>, InM<'o'>, Offset>;
  template <class Env>
  static typename Access::Value execute(Env& env, U32 base, U32 delta, U32 offset) {
    return Access::at(env, base + delta + offset * Access::kSize);
  }
};

/// `$d, $b, $o+=, step`: the step is a `SignedImm<'i'>` or an `InM<'r'>`.
template <class Access, class Step>
struct LoadStep {
  using Operands = List<typename Access::Destination, InM<'b'>, InOutM<'o'>, Step>;
  template <class Env>
  static std::tuple<typename Access::Value, U32> execute(Env& env, U32 base, U32 delta,
                                                         typename Step::Value step) {
    return {Access::at(env, base + delta), delta + static_cast<U32>(step) * Access::kSize};
  }
};

/// `$s, $b, $o, offset`.
template <class Source, class Offset>
struct Store {
  using Operands = List<Source, InM<'b'>, InM<'o'>, Offset>;
  template <class Env>
  static void execute(Env& env, typename Source::Value value, U32 base, U32 delta, U32 offset) {
    env.store(base + delta + offset * U32{sizeof value}, value);
  }
};

/// `$s, $b, $o+=, step`.
template <class Source, class Step>
struct StoreStep {
  using Operands = List<Source, InM<'b'>, InOutM<'o'>, Step>;
  template <class Env>
  static U32 execute(Env& env, typename Source::Value value, U32 base, U32 delta,
                     typename Step::Value step) {
    env.store(base + delta, value);
    return delta + static_cast<U32>(step) * U32{sizeof value};
  }
};

}  // namespace superstep::isa
