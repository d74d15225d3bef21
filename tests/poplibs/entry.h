#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace superstep::poplibs {

/// Elements of a field.
enum class Element : std::uint8_t {
  kFloat,
  kHalf,
  kQuarter,
  kBool,
  kSigned,
  kUnsigned,
  kOther  ///< a struct: bytes
};

/// How a field is connected.
enum class Shape : std::uint8_t {
  kValue,       ///< a value in the vertex state
  kPointer,     ///< one connected element
  kVector,      ///< one connected vector
  kVectors,     ///< a vector of connected vectors
  kVectorList,  ///< vectors that share a base address
};

enum class Direction : std::uint8_t { kInput, kOutput, kInOut };

/// How pointers and lengths of a vector lie in vertex state: poplar's layouts.
enum class Layout : std::uint8_t {
  kSpan,
  kShortSpan,
  kOnePointer,
  kScaled32,
  kScaled64,
  kScaled128,
  kCompact,
  kDeltaElements,
  kDelta
};

/// A field of a vertex class, in the order of the class.
struct Field {
  std::string name;
  Shape shape = Shape::kValue;
  Direction direction = Direction::kInput;
  Element element = Element::kOther;
  std::size_t element_bytes = 0;
  std::size_t element_alignment = 1;
  Layout layout = Layout::kSpan;        ///< of the field
  Layout inner_layout = Layout::kSpan;  ///< of the vectors in a vector of vectors
  std::size_t alignment = 1;            ///< that the (inner) vectors ask for
  bool interleaved = false;
  std::size_t host_offset = 0;
};

/// A vertex class of PopLibs with its C++ codelet.
struct Entry {
  enum class Kind : std::uint8_t { kWorker, kMultiVertex, kSupervisor };
  std::string type;           ///< `popops::Fill<float>`, as PopLibs' estimators are named
  std::string symbol;         ///< of its assembly codelet, if it has one
  Kind kind = Kind::kWorker;  ///< of the C++ codelet
  std::size_t host_bytes = 0;
  std::vector<Field> fields;
  /// Runs the C++ codelet on a host object for one worker (0, for those that know none).
  void (*compute)(void* vertex, unsigned worker) = nullptr;
};

/// What a connected field holds on the host (the layout of `poplar::HostEdge`).
struct HostEdge {
  void* data = nullptr;
  std::size_t size = 0;
  const unsigned char* metadata = nullptr;
};

/// Every vertex class of the checkout, in the order of its sources.
const std::vector<Entry>& all_entries();

}  // namespace superstep::poplibs
