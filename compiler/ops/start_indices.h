#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "compiler/ops/graph_builder.h"
#include "compiler/ops/indices.h"

namespace superstep {

/// The start indices of a gather or scatter: vectors along one dimension, whose elements belong to
/// dimensions of the operand.
class StartIndices {
 public:
  /// Of the attributes, which the two ops call by different names.
  struct Names {
    std::string_view map, operand_batching, batching;
  };

  /// Read from the op and checked; `operand` is what is indexed.
  StartIndices(const Op& op, const Names& names, const Shape& operand, const Shape& indices);

  /// From the elements of a vector to dimensions of the operand.
  [[nodiscard]] const Indices& map() const { return map_; }
  /// Dimensions of the operand, one index of which belongs to each batch.
  [[nodiscard]] const Indices& operand_batching() const { return operand_batching_; }
  /// All dimensions but that of the vectors: each element of them is a place.
  [[nodiscard]] Indices dimensions() const;
  /// The same, those of batches first and as the operand has them.
  [[nodiscard]] Indices ordered() const;
  [[nodiscard]] std::int64_t size(std::int64_t dimension) const {
    return shape_[static_cast<std::size_t>(dimension)];
  }
  [[nodiscard]] Shape sizes(const Indices& dimensions) const;

  /// By dimension of the operand, where windows begin: [batching..., count] with all other
  /// dimensions as one.
  [[nodiscard]] std::map<std::int64_t, Tensor> starts(Tensor indices) const;
  [[nodiscard]] Shape places() const;

  /// The dimensions of a tensor of windows, each as one of the operand or, with its rank added, of
  /// the indices. Those at `at` are `window`, dimensions of the operand, the others places.
  [[nodiscard]] Indices names(const Indices& at, const Indices& window) const;
  /// Where the window of a place begins, an index of `dimensions()`: by dimension of the operand,
  /// batches included.
  [[nodiscard]] Indices start_of(const HostTensor& indices, const Indices& place) const;
  /// By dimension of the operand.
  struct Element {
    Indices start;   ///< of its window
    Indices within;  ///< its index in the window
  };
  /// The element at an index of a tensor of windows whose dimensions are `names`.
  [[nodiscard]] Element element(const HostTensor& indices, const Indices& names,
                                const Indices& index) const;

 private:
  std::size_t rank_;  ///< of the operand
  Shape shape_;       ///< with the dimension of the vectors, of size 1 where there is none
  std::size_t vector_dimension_ = 0;
  Indices map_, operand_batching_, batching_;
};

/// An index of a host tensor; the greatest i64 for what is above that.
[[nodiscard]] std::int64_t read_index(const HostTensor& indices, std::size_t element);

/// Requires ascending dimensions.
void require_sorted(const Op& op, std::string_view name, const Indices& list);

}  // namespace superstep
