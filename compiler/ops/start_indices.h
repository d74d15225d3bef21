#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "compiler/ops/graph_builder.h"

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
  [[nodiscard]] const std::vector<std::int64_t>& map() const { return map_; }
  /// Dimensions of the operand, one index of which belongs to each batch.
  [[nodiscard]] const std::vector<std::int64_t>& operand_batching() const {
    return operand_batching_;
  }
  /// All dimensions but that of the vectors: each element of them is a place.
  [[nodiscard]] std::vector<std::int64_t> dimensions() const;
  /// The same, those of batches first and as the operand has them.
  [[nodiscard]] std::vector<std::int64_t> ordered() const;
  [[nodiscard]] std::int64_t size(std::int64_t dimension) const {
    return shape_[static_cast<std::size_t>(dimension)];
  }
  [[nodiscard]] Shape sizes(const std::vector<std::int64_t>& dimensions) const;

  /// By dimension of the operand, where windows begin: [batching..., count] with all other
  /// dimensions as one.
  [[nodiscard]] std::map<std::int64_t, Tensor> starts(Tensor indices) const;
  [[nodiscard]] Shape places() const;
  /// By dimension of the operand, where the window of a place begins, an index of `dimensions()`;
  /// batches included.
  [[nodiscard]] std::vector<std::int64_t> start_of(const HostTensor& indices,
                                                   const std::vector<std::int64_t>& place,
                                                   std::size_t rank) const;

 private:
  Shape shape_;  ///< with the dimension of the vectors, of size 1 where there is none
  std::size_t vector_dimension_ = 0;
  std::vector<std::int64_t> map_, operand_batching_, batching_;
};

/// Requires ascending dimensions.
void require_sorted(const Op& op, std::string_view name, const std::vector<std::int64_t>& list);

}  // namespace superstep
