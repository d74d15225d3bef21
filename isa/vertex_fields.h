#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isa/machine_config.h"

namespace superstep {

/// How a vertex state holds a vector (graphcore/poplibs; the vendor's page on vertex vector types).
enum class PointerLayout : std::uint8_t {
  kOnePtr,        ///< 32-bit address
  kSpan,          ///< 32-bit address, 32-bit count
  kShortSpan,     ///< one word: address in bits 19:0, count in 31:20
  kScaledPtr32,   ///< 16 bits: words from the begin of region 0
  kScaledPtr64,   ///< 16 bits: address / 8
  kScaledPtr128,  ///< 16 bits: address / 16
  kCompactPtr,    ///< kScaledPtr128 when the vector is 16-byte aligned, else kOnePtr
};

/// `one_ptr`, `span`, `short_span`, …
[[nodiscard]] std::optional<PointerLayout> pointer_layout(std::string_view name);
[[nodiscard]] const std::vector<std::string>& pointer_layout_names();

/// A vector that a vertex state points to.
struct VertexVector {
  std::uint32_t address = 0;
  std::uint32_t count = 0;  ///< elements
  std::uint32_t alignment =
      1;  ///< bytes that the type promises, not what the address happens to be
};

/// The fields of a vertex as they lie in tile memory: in order, each aligned to its size. What does
/// not fit a field is thrown as MalformedInput.
class VertexFields {
 public:
  explicit VertexFields(const MachineConfig& machine) : region0_(machine.tile.memory_base) {}

  /// A number of 1, 2, 4 or 8 bytes.
  void add_number(std::uint64_t value, std::size_t bytes);
  void add_vector(PointerLayout layout, const VertexVector& vector);
  /// A list of vectors as DELTANELEMENTS: base and count in the lowest 24 and highest 8 bits of two
  /// words; `table` is where `delta_table` will be.
  void add_vector_list(std::uint32_t base, std::uint32_t table, std::uint32_t rows);

  /// What has been added; the state itself is 8-byte aligned.
  [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::uint32_t region0_;
  std::vector<std::byte> bytes_;
};

/// A word for each vector of a DELTANELEMENTS list: elements of `element_bytes` from `base` on in
/// the low 21 - log2(element_bytes) bits, their count in the others.
[[nodiscard]] std::vector<std::uint32_t> delta_table(std::span<const VertexVector> vectors,
                                                     std::uint32_t base,
                                                     std::uint32_t element_bytes);

}  // namespace superstep
