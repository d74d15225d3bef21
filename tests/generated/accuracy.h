#pragma once

#include <optional>
#include <string_view>

#include "compiler/graph/graph.h"

namespace superstep {

/// The largest number whose error a bound can hold: of wider types that of f32. Of complex dtypes,
/// here and below, what holds for their parts.
[[nodiscard]] double largest(DType dtype);
/// The distance of a number to the next one.
[[nodiscard]] double ulp(DType dtype, double x);
/// Half the distance of 1 to the next number.
[[nodiscard]] double unit_roundoff(DType dtype);

/// Whether the results of an elementwise op are of the exact numbers, rounded once, if it is one of
/// floats: of complex numbers that are multiplied and divided they are not.
[[nodiscard]] bool is_rounded_once(std::string_view op, DType dtype);

/// An operand of an elementwise op: a float or the size of a complex number.
struct Operand {
  double value, error;
};

/// How far the result of one element of an elementwise op of exact numbers may be off, by what
/// docs/numerics.md says of the function; empty where it says nothing.
[[nodiscard]] std::optional<double> function_error(std::string_view op, DType dtype, double result,
                                                   const Operand* operands, std::size_t count);

}  // namespace superstep
