#include "compiler/ops/series.h"

#include "compiler/ops/ops.h"

namespace superstep {
namespace {

/// Element `i`, an i32, of constants, in the shape of `like`.
Tensor element(std::span<const double> numbers, Tensor i, Tensor like) {
  HostTensor table(TensorType{DType::kF64, {static_cast<std::int64_t>(numbers.size())}});
  for (std::size_t n = 0; n < numbers.size(); ++n) table.set(n, numbers[n]);
  GraphBuilder& builder = *i.builder;
  Op op;
  op.attributes = {{"slice_sizes", std::vector<std::int64_t>{1}}};
  const Tensor one =
      builder.apply(kDynamicSliceOp, {builder.constant(std::move(table)), i}, std::move(op));
  return broadcast(reshape(one, {}), like.shape(), {});
}

}  // namespace

Tensor polynomial(Tensor x, const Coefficients& coefficients) {
  const std::span<const double> numbers = coefficients.of(x.dtype());
  Tensor sum = x.like(numbers.back());
  const std::size_t steps = numbers.size() - 1;
  if (x.dtype() != DType::kF64) {
    for (std::size_t i = steps; i-- > 0;) sum = sum * x + numbers[i];
    return sum;
  }
  const Tensor place = x.builder->number(DType::kI32, static_cast<double>(steps) - 1);
  const std::vector<Tensor> values = {sum, x, place};
  return repeat(static_cast<std::int64_t>(steps), values, [&](std::span<const Tensor> v) {
    const Tensor next = v[0] * v[1] + element(numbers, v[2], v[1]);
    return std::vector<Tensor>{next, v[1], v[2] - 1.0};
  })[0];
}

Tensor polynomial(Tensor x, Tensor condition, const Coefficients& first,
                  const Coefficients& second) {
  const std::span<const double> a = first.of(x.dtype()), b = second.of(x.dtype());
  SUPERSTEP_CHECK(a.size() == b.size(), "polynomials by condition have one degree");
  Tensor sum = select(condition, x.like(a.back()), x.like(b.back()));
  const std::size_t steps = a.size() - 1;
  if (x.dtype() != DType::kF64) {
    for (std::size_t i = steps; i-- > 0;) {
      sum = sum * x + select(condition, x.like(a[i]), x.like(b[i]));
    }
    return sum;
  }
  const Tensor place = x.builder->number(DType::kI32, static_cast<double>(steps) - 1);
  const std::vector<Tensor> values = {sum, x, place, condition};
  return repeat(static_cast<std::int64_t>(steps), values, [&](std::span<const Tensor> v) {
    const Tensor number = select(v[3], element(a, v[2], v[1]), element(b, v[2], v[1]));
    return std::vector<Tensor>{v[0] * v[1] + number, v[1], v[2] - 1.0, v[3]};
  })[0];
}

Tensor stacked(const std::vector<Tensor>& parts) {
  std::vector<Tensor> rows;
  for (const Tensor& part : parts) {
    Shape shape = part.shape();
    shape.insert(shape.begin(), 1);
    rows.push_back(reshape(part, shape));
  }
  return concatenate(rows, 0);
}
Tensor part_of_stack(Tensor stack, std::int64_t i) {
  std::vector<std::int64_t> start(stack.shape().size());
  start[0] = i;
  Shape sizes = stack.shape();
  sizes[0] = 1;
  const Tensor row = window(stack, start, sizes);
  sizes.erase(sizes.begin());
  return reshape(row, sizes);
}

Tensor widened(Tensor x) { return is_short_float(x.dtype()) ? convert(x, DType::kF32) : x; }

}  // namespace superstep
