#include "compiler/ops/library/matrices.h"

#include <limits>
#include <utility>
#include <vector>

#include "compiler/ops/elements.h"
#include "compiler/ops/ops.h"

namespace superstep {

Tensor real_part(Tensor x) { return is_complex(x.dtype()) ? x.builder->apply(kRealOp, {x}) : x; }

Tensor imaginary_part(Tensor x) {
  return is_complex(x.dtype()) ? x.builder->apply(kImagOp, {x}) : x.like(0);
}

Tensor with_dtype(Tensor real, DType dtype) { return of_parts(real, real.like(0), dtype); }

Tensor of_parts(Tensor real, Tensor imaginary, DType dtype) {
  return is_complex(dtype) ? real.builder->apply(kComplexOp, {real, imaginary}) : real;
}

Tensor square_of_size(Tensor x) {
  if (!is_complex(x.dtype())) return x * x;
  const Tensor real = real_part(x), imaginary = imaginary_part(x);
  return real * real + imaginary * imaginary;
}

Tensor indices_along(Tensor like, std::int64_t dimension) {
  return like.builder->iota({DType::kI32, like.shape()}, dimension);
}

Tensor where_index_is(const char* direction, Tensor scalar, Tensor like, std::int64_t dimension) {
  return compare(direction, indices_along(like, dimension), broadcast(scalar, like.shape(), {}));
}

Tensor row_at(Tensor x, Tensor row) {
  const Tensor zero = x.builder->number(row.dtype(), 0);
  const Shape shape = x.shape();
  const std::vector<Tensor> start = {zero, row, zero};
  return reshape(dynamic_window(x, start, {shape[0], 1, shape[2]}), {shape[0], shape[2]});
}

Tensor with_row(Tensor x, Tensor row, Tensor values) {
  const Tensor zero = x.builder->number(row.dtype(), 0);
  const Shape shape = x.shape();
  const std::vector<Tensor> operands = {x, reshape(values, {shape[0], 1, shape[2]}), zero, row,
                                        zero};
  return x.builder->append(kDynamicUpdateSliceOp, operands).front();
}

Tensor spread(Tensor x, Tensor like, std::vector<std::int64_t> dimensions) {
  return broadcast(x, like.shape(), std::move(dimensions));
}

Tensor largest(Tensor x, std::int64_t dimension) {
  return superstep::reduce(x, x.builder->number(x.dtype(), 0), {dimension},
                           [](Tensor a, Tensor b) { return maximum(a, b); });
}

Tensor scale_of(Tensor x) {
  const Tensor most = largest(largest(abs(x), 2), 1);
  const bool is_wide = most.dtype() == DType::kF64;
  // The bits of the exponent only.
  const Tensor bits = bitcast(most, {is_wide ? DType::kU64 : DType::kU32, most.shape()});
  const double exponent = is_wide ? 0x7ff0000000000000 : 0x7f800000;
  const Tensor power = bitcast(bits & bits.like(exponent), most.type());
  const double smallest = is_wide ? std::numeric_limits<double>::min()
                                  : static_cast<double>(std::numeric_limits<float>::min());
  const Tensor is_finite = most < std::numeric_limits<double>::infinity();
  return select(is_finite, maximum(power, most.like(smallest)), most.like(std::nan("")));
}

namespace {

Tensor as_elements(Tensor scale, Tensor x) {
  return with_dtype(spread(scale, real_part(x), {0}), x.dtype());
}

}  // namespace

Tensor divided_by_scale(Tensor x, Tensor scale) { return x / as_elements(scale, x); }

Tensor times_scale(Tensor x, Tensor scale) { return x * as_elements(scale, x); }

Tensor identity(GraphBuilder& builder, DType dtype, std::int64_t batch, std::int64_t rows,
                std::int64_t columns) {
  HostTensor ones(TensorType{dtype, {rows, columns}});
  for (std::int64_t i = 0; i < rows && i < columns; ++i) {
    write_number(ones, static_cast<std::size_t>(i * columns + i), 1);
  }
  return broadcast(builder.constant(std::move(ones)), {batch, rows, columns}, {1, 2});
}

}  // namespace superstep
