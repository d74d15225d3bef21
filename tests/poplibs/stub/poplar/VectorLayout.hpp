#pragma once

#include <ostream>

namespace poplar::layout {

enum class Vector { NotAVector, Span, OnePtr, ShortSpan, ScaledPtr32, ScaledPtr64, ScaledPtr128 };
enum class VectorList {
  NotAVector,
  OnePtr,
  ScaledPtr32,
  ScaledPtr64,
  ScaledPtr128,
  DeltaN,
  DeltaNElements
};
inline std::ostream& operator<<(std::ostream& out, Vector layout) { return out << int(layout); }
inline std::ostream& operator<<(std::ostream& out, VectorList layout) { return out << int(layout); }

}  // namespace poplar::layout
