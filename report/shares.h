#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "isa/fused_operation.h"

namespace superstep {

/// A part of a whole.
struct Share {
  std::uint64_t begin = 0, end = 1, whole = 1;

  /// The part of a number; those of all parts add up to it.
  [[nodiscard]] std::uint64_t of(std::uint64_t number) const {
    return scaled(number, end, whole) - scaled(number, begin, whole);
  }

  /// The same; where the number is no more than `outer`, no part of it is more than that of
  /// `outer`.
  [[nodiscard]] std::uint64_t of(std::uint64_t number, std::uint64_t outer) const {
    if (number > outer || outer == 0) return of(number);
    return scaled(number, scaled(outer, end, whole), outer) -
           scaled(number, scaled(outer, begin, whole), outer);
  }

 private:
  static std::uint64_t scaled(std::uint64_t number, std::uint64_t place, std::uint64_t of) {
    return static_cast<std::uint64_t>(static_cast<__uint128_t>(number) * place / of);
  }
};

/// What each of a step's operations has of it; nothing where no weights are known.
[[nodiscard]] std::vector<Share> shares_of(std::span<const FusedOperation> operations);

/// The same as text: `multiply.1 40 %, add.2 60 %`.
[[nodiscard]] std::string shares_text(std::span<const FusedOperation> operations);

}  // namespace superstep
