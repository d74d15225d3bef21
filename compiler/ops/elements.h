#pragma once

#include <complex>
#include <cstdint>
#include <span>
#include <vector>

#include "base/dtype.h"

namespace superstep {

/// Elements of host tensors as numbers, whatever their dtype (for reference semantics: simple,
/// slow).
/// Of elements of at most 64 bits.
[[nodiscard]] std::uint64_t read_bits(const HostTensor& tensor, std::size_t element);
void write_bits(HostTensor& tensor, std::size_t element, std::uint64_t bits);
/// Of tensors of one dtype, which may be wider than those bits.
void copy_element(HostTensor& to, std::size_t element, const HostTensor& from, std::size_t source);
/// Whether all elements have the same bits.
[[nodiscard]] bool all_equal(const HostTensor& tensor);
/// An integer or i1 element.
[[nodiscard]] std::int64_t read_int(const HostTensor& tensor, std::size_t element);
/// Wraps at the width of the dtype.
void write_int(HostTensor& tensor, std::size_t element, std::int64_t value);
/// A float element.
[[nodiscard]] double read_float(const HostTensor& tensor, std::size_t element);
/// Rounds once, to nearest even.
void write_float(HostTensor& tensor, std::size_t element, double value);

[[nodiscard]] std::complex<double> read_complex(const HostTensor& tensor, std::size_t element);
/// Rounds each part once.
void write_complex(HostTensor& tensor, std::size_t element, std::complex<double> value);

/// A float or complex element.
[[nodiscard]] std::complex<double> read_number(const HostTensor& tensor, std::size_t element);
/// Rounds each part once; of a float there is the real one only.
void write_number(HostTensor& tensor, std::size_t element, std::complex<double> value);

/// Elements from one index of each dimension to the next in row-major order.
[[nodiscard]] std::vector<std::int64_t> row_major_strides(const Shape& shape);

/// Steps `index` to the next of `shape` in row-major order; false after the last one.
bool next_index(std::vector<std::int64_t>& index, const Shape& shape);

/// Row-major number of the element at `index`.
[[nodiscard]] std::size_t element_at(const std::vector<std::int64_t>& index,
                                     const std::vector<std::int64_t>& strides);

/// Visits the elements of a window: the number of each in the tensor and in the window.
template <class Visit>
void for_each_of_window(const Shape& shape, const Shape& sizes,
                        const std::vector<std::int64_t>& start, const Visit& visit) {
  if (TensorType{{}, sizes}.elements() == 0) return;
  const std::vector<std::int64_t> outside = row_major_strides(shape);
  const std::vector<std::int64_t> inside = row_major_strides(sizes);
  const std::size_t first = element_at(start, outside);
  std::vector<std::int64_t> index(sizes.size());
  do {
    visit(first + element_at(index, outside), element_at(index, inside));
  } while (next_index(index, sizes));
}

}  // namespace superstep
