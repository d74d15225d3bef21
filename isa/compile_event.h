#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "isa/op_location.h"

namespace superstep {

/// A choice of the compiler that its user may not expect.
struct CompileEvent {
  enum class Kind : std::uint8_t {
    kNoAmp,         ///< a product of floats is not on the AMP units, or the machine has none
    kDroppedPlan,   ///< a product's plan did not fit; another one took its place
    kSlowRoute,     ///< elements move in passes, one in a word, or are combined one by one
    kSmallProduct,  ///< a product of floats is not on the AMP units, where it would take longer
    kWideEncoding,  ///< machine code is in an encoding of our own
  };
  Kind kind = Kind::kNoAmp;
  std::string operation;  ///< `dot_general.3`
  OpLocation source;
  std::string reason, advice;  ///< advice may be empty

  bool operator==(const CompileEvent&) const = default;
};

/// Whether it costs time.
[[nodiscard]] constexpr bool costs_time(CompileEvent::Kind kind) {
  return kind != CompileEvent::Kind::kSmallProduct && kind != CompileEvent::Kind::kWideEncoding;
}

/// `no_amp` and so on.
[[nodiscard]] constexpr std::string_view name_of(CompileEvent::Kind kind) {
  constexpr std::string_view kNames[] = {"no_amp", "dropped_plan", "slow_route", "small_product",
                                         "wide_encoding"};
  return kNames[static_cast<std::size_t>(kind)];
}

}  // namespace superstep
