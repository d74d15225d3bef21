#pragma once

#include <array>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "isa/instruction.h"

namespace superstep {

template <class Operand>
constexpr bool is_input() {
  if constexpr (Operand::kIsRegister) {
    return Operand::kRole != isa::Role::kOut;
  } else {
    return true;
  }
}
template <class Operand>
constexpr bool is_output() {
  if constexpr (Operand::kIsRegister) {
    return Operand::kRole != isa::Role::kIn;
  } else {
    return false;
  }
}

/// Whether every register among the operands is one of the main file.
template <class... Operands>
constexpr bool are_single_main(isa::List<Operands...>) {
  return ([] {
    if constexpr (Operands::kIsRegister) {
      return Operands::kFile == isa::File::kMain && Operands::kCount == 1;
    } else {
      return true;
    }
  }() && ...);
}

/// The inputs of an instruction as a tuple; `fetch.operator()<Operand, ordinal>()` gives one.
template <class Fetch, class... Operands>
auto gather(isa::List<Operands...>, Fetch&& fetch) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    const auto one = [&]<class Operand, std::size_t kOrdinal>() {
      if constexpr (is_input<Operand>()) {
        return std::tuple<typename Operand::Value>(fetch.template operator()<Operand, kOrdinal>());
      } else {
        return std::tuple<>();
      }
    };
    return std::tuple_cat(one.template operator()<Operands, I>()...);
  }
  (std::index_sequence_for<Operands...>{});
}

/// What `execute` returned, as a tuple of outputs.
template <class T>
auto outputs_of(const T& value) {
  return std::tuple<T>(value);
}
template <class... T>
auto outputs_of(const std::tuple<T...>& values) {
  return values;
}

/// `execute` with or without `env`; the outputs as a tuple.
template <class R, class Env, class... Inputs>
auto execute_record(Env& env, const std::tuple<Inputs...>& inputs) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    if constexpr (requires { R::execute(env, std::get<I>(inputs)...); }) {
      if constexpr (std::is_void_v<decltype(R::execute(env, std::get<I>(inputs)...))>) {
        R::execute(env, std::get<I>(inputs)...);
        return std::tuple<>();
      } else {
        return outputs_of(R::execute(env, std::get<I>(inputs)...));
      }
    } else {
      return outputs_of(R::execute(std::get<I>(inputs)...));
    }
  }
  (std::index_sequence_for<Inputs...>{});
}

/// Whether `execute` goes without `env`: it cannot fail and has no effect but its outputs.
template <class R, class Inputs>
inline constexpr bool kIsPure = false;
template <class R, class... Inputs>
inline constexpr bool kIsPure<R, std::tuple<Inputs...>> = requires(const Inputs&... inputs) {
  R::execute(inputs...);
};

/// How many outputs stand before operand `ordinal`.
template <class... Operands>
constexpr std::size_t outputs_before(isa::List<Operands...>, std::size_t ordinal) {
  constexpr std::array<bool, sizeof...(Operands) + 1> kWritten = {is_output<Operands>()..., false};
  std::size_t count = 0;
  for (std::size_t i = 0; i < ordinal; ++i) count += kWritten[i] ? 1 : 0;
  return count;
}

/// Hands each output to `put.operator()<Operand, ordinal>(value)`.
template <class Outputs, class Put, class... Operands>
void scatter(isa::List<Operands...> operands, const Outputs& outputs, Put&& put) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    const auto one = [&]<class Operand, std::size_t kOrdinal>() {
      if constexpr (is_output<Operand>()) {
        constexpr std::size_t kNumber = outputs_before(isa::List<Operands...>{}, kOrdinal);
        put.template operator()<Operand, kOrdinal>(std::get<kNumber>(outputs));
      }
    };
    (one.template operator()<Operands, I>(), ...);
  }
  (std::index_sequence_for<Operands...>{});
  static_cast<void>(operands);
}

/// Where operand `ordinal` begins in `WorkerStep::registers`; an in-out operand has a place to read
/// and one to write.
template <class... Operands>
constexpr std::size_t register_slot(isa::List<Operands...>, std::size_t ordinal) {
  constexpr std::array<std::size_t, sizeof...(Operands) + 1> kSizes = {
      (Operands::kIsRegister
           ? std::size_t{is_input<Operands>()} + std::size_t{is_output<Operands>()}
           : 0)...,
      0};
  std::size_t slot = 0;
  for (std::size_t i = 0; i < ordinal; ++i) slot += kSizes[i];
  return slot;
}

}  // namespace superstep
