#pragma once

#include <array>
#include <cstdint>
#include <iosfwd>
#include <cassert>
#include <map>
#include <math.h>
#include <numeric>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "poplar/PerfEstimateFunc.hpp"

// Names that declarations in PopLibs' headers mention; estimators use none of them.
namespace poplar {

class Interval {};
class Tensor {
 public:
  [[nodiscard]] std::size_t numElements() const { return 0; }
  [[nodiscard]] Type elementType() const { return {}; }
  [[nodiscard]] std::vector<std::size_t> shape() const { return {}; }
  [[nodiscard]] std::size_t rank() const { return 0; }
  [[nodiscard]] std::size_t dim(unsigned) const { return 0; }
};
class ComputeSet {};
class VertexRef {};
class Function {};
class Device {};
class OptionFlags {};
class DebugContext {
 public:
  DebugContext() = default;
  DebugContext(const char*) {}         // NOLINT: implicit
  DebugContext(const std::string&) {}  // NOLINT: implicit
};
class DebugInfo {};
class DebugNameAndId {};
class ProfileValue {
 public:
  using Map = std::map<std::string, ProfileValue>;
};
class QuarterMetadata {
 public:
  enum class Format { F143, F152 };
};
struct invalid_option : std::runtime_error {
  using std::runtime_error::runtime_error;
};
class SourceLocation {};
template <class T>
class ArrayRef {};
enum class TensorCloneMethod { PRESERVE_ORDER_UNLESS_ALIASES, PRESERVE_ORDER_AND_ALIASES };
inline Tensor concat(const std::vector<Tensor>&) { return {}; }
class Graph {
 public:
  void registerPerfEstimator(const std::string&, PerfEstimateFunc) {}
  using TileToTensorMapping = std::vector<std::vector<Interval>>;
};
namespace program {
class Program {};
class Sequence {};
}  // namespace program
struct poplar_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace poplar
