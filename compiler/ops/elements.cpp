#include "compiler/ops/elements.h"

#include <cmath>
#include <cstring>
#include <numeric>

#include "compiler/vertex/number.h"

namespace superstep {

std::uint64_t read_bits(const HostTensor& tensor, std::size_t element) {
  const std::size_t size = size_of(tensor.type.dtype);
  std::uint64_t bits = 0;
  std::memcpy(&bits, tensor.data.data() + element * size, size);
  return bits;
}

void write_bits(HostTensor& tensor, std::size_t element, std::uint64_t bits) {
  const std::size_t size = size_of(tensor.type.dtype);
  std::memcpy(tensor.data.data() + element * size, &bits, size);
}

void copy_element(HostTensor& to, std::size_t element, const HostTensor& from, std::size_t source) {
  const std::size_t size = size_of(to.type.dtype);
  std::memcpy(to.data.data() + element * size, from.data.data() + source * size, size);
}

bool all_equal(const HostTensor& tensor) {
  const std::size_t size = size_of(tensor.type.dtype);
  return tensor.data.size() <= size ||
         std::memcmp(tensor.data.data(), tensor.data.data() + size, tensor.data.size() - size) == 0;
}

std::int64_t read_int(const HostTensor& tensor, std::size_t element) {
  return vertex::int_of(tensor.type.dtype, read_bits(tensor, element));
}

void write_int(HostTensor& tensor, std::size_t element, std::int64_t value) {
  write_bits(tensor, element, vertex::bits_of_int(tensor.type.dtype, value));
}

double read_float(const HostTensor& tensor, std::size_t element) {
  return vertex::float_of(tensor.type.dtype, read_bits(tensor, element));
}

void write_float(HostTensor& tensor, std::size_t element, double value) {
  write_bits(tensor, element, vertex::bits_of_float(tensor.type.dtype, value));
}

std::complex<double> read_complex(const HostTensor& tensor, std::size_t element) {
  if (tensor.type.dtype == DType::kC128) {
    return {tensor.get<double>(2 * element), tensor.get<double>(2 * element + 1)};
  }
  const std::uint64_t bits = read_bits(tensor, element);
  return {vertex::float_of(DType::kF32, bits & 0xffffffff),
          vertex::float_of(DType::kF32, bits >> 32)};
}

void write_complex(HostTensor& tensor, std::size_t element, std::complex<double> value) {
  if (tensor.type.dtype == DType::kC128) {
    const auto part = [](double x) { return std::isnan(x) ? std::fabs(x) : x; };
    tensor.set(2 * element, part(value.real()));
    tensor.set(2 * element + 1, part(value.imag()));
    return;
  }
  write_bits(tensor, element,
             vertex::bits_of_float(DType::kF32, value.real()) |
                 vertex::bits_of_float(DType::kF32, value.imag()) << 32);
}

std::complex<double> read_number(const HostTensor& tensor, std::size_t element) {
  return is_complex(tensor.type.dtype) ? read_complex(tensor, element)
                                       : read_float(tensor, element);
}
void write_number(HostTensor& tensor, std::size_t element, std::complex<double> value) {
  if (is_complex(tensor.type.dtype)) {
    write_complex(tensor, element, value);
  } else {
    write_float(tensor, element, value.real());
  }
}

std::vector<std::int64_t> row_major_strides(const Shape& shape) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

bool next_index(std::vector<std::int64_t>& index, const Shape& shape) {
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (++index[i] < shape[i]) return true;
    index[i] = 0;
  }
  return false;
}

std::size_t element_at(const std::vector<std::int64_t>& index,
                       const std::vector<std::int64_t>& strides) {
  return static_cast<std::size_t>(
      std::inner_product(index.begin(), index.end(), strides.begin(), std::int64_t{0}));
}

}  // namespace superstep
