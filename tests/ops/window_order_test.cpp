// Sums and products of floats in short windows are those of one element after the other, to the
// bit.

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <random>

#include "compiler/ops/elements.h"
#include "compiler/ops/graph_builder.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/sliding_window.h"
#include "tests/ops/on_machine.h"
#include "tests/ops/op_case.h"
#include "tests/regions.h"

namespace superstep {
namespace {

using enum DType;

struct Windows {
  const char* name;
  DType dtype;
  Shape shape;
  std::vector<SlidingWindow> windows;
  bool adds = true;
  double initial = 0;
};

SlidingWindow of(std::int64_t size, std::int64_t stride = 1, std::int64_t low = 0,
                 std::int64_t high = 0, std::int64_t base = 1, std::int64_t dilation = 1) {
  return {size, stride, low, high, base, dilation};
}

const Windows kCases[] = {
    {"pairs", kF32, {4, 6}, {of(2), of(2)}},
    {"pairs_of_f64", kF64, {4, 6}, {of(2), of(2, 2)}},
    {"padded", kF32, {12, 12}, {of(3, 2, 0, 1), of(3, 2, 1, 0)}, true, 0.3},
    {"cut", kF32, {9, 8}, {of(3, 1, -1, 2), of(4, 1, 1, -2)}},
    {"dilated", kF32, {7, 6}, {of(3, 1, 2, 3, 2, 1), of(3, 2, 1, 1, 3, 2)}, true, -0.0},
    {"apart", kF32, {8, 12}, {of(4, 4), of(3, 3)}},
    {"up_to_each", kF32, {5, 40}, {of(1), of(40, 1, 39, 0)}},
    {"up_to_each_row", kF64, {9, 7}, {of(9, 1, 8, 0), of(1)}},
    {"from_each_on", kF32, {9, 8}, {of(9, 1, 0, 8), of(1)}},
    {"products", kF32, {6, 9}, {of(3, 1, 1, 1), of(5, 1, 2, 2)}, false, 1},
    {"products_up_to_each", kF64, {8, 3}, {of(8, 1, 7, 0), of(1)}, false, 1},
    {"complex", kC64, {6, 5}, {of(3, 1, 1, 1), of(2, 2, 0, 1)}},
    {"complex_products", kC64, {6, 5}, {of(3, 1, 1, 1), of(2, 2, 0, 1)}, false, 1},
};

/// Numbers whose sums cancel, with zeros of both signs.
HostTensor cancelling(DType dtype, const Shape& shape) {
  HostTensor x(TensorType{dtype, shape});
  std::mt19937 random(3);
  const auto number = [&] {
    const double size = static_cast<double>(random()) / 0x1p31 - 1;
    return random() % 6 == 0 ? (size < 0 ? -0.0 : 0.0)
                             : std::ldexp(size, static_cast<int>(random() % 6));
  };
  for (std::size_t i = 0; i < static_cast<std::size_t>(x.type.elements()); ++i) {
    if (is_complex(dtype)) {
      write_complex(x, i, {number(), number()});
    } else {
      write_float(x, i, number());
    }
  }
  return x;
}

template <class Number>
Number rounded(std::complex<double> x) {
  if constexpr (std::is_floating_point_v<Number>) {
    return static_cast<Number>(x.real());
  } else {
    using Part = typename Number::value_type;
    return Number(static_cast<Part>(x.real()), static_cast<Part>(x.imag()));
  }
}
template <class Number>
Number element(const HostTensor& x, std::size_t i) {
  return rounded<Number>(is_complex(x.type.dtype) ? read_complex(x, i) : read_float(x, i));
}

/// As StableHLO's text has it, but that padding is nothing.
template <class Number>
HostTensor expected(const Windows& c, const HostTensor& x) {
  HostTensor result(TensorType{c.dtype, window_counts(c.windows, c.shape)});
  Shape sizes;
  for (const SlidingWindow& window : c.windows) sizes.push_back(window.size);
  const std::vector<std::int64_t> strides = row_major_strides(c.shape);
  std::vector<std::int64_t> window(c.shape.size());
  std::size_t number = 0;
  do {
    auto value = rounded<Number>(c.initial);
    std::vector<std::int64_t> place(c.shape.size());
    do {
      std::optional<std::int64_t> at = 0;
      for (std::size_t d = 0; d < c.shape.size(); ++d) {
        const auto one = c.windows[d].element(window[d], place[d], c.shape[d]);
        at = at && one ? std::optional(*at + *one * strides[d]) : std::nullopt;
      }
      if (!at) continue;
      const auto next = element<Number>(x, static_cast<std::size_t>(*at));
      if constexpr (std::is_floating_point_v<Number>) {
        value = c.adds ? value + next : value * next;
      } else {
        value = c.adds ? value + next
                       : Number(value.real() * next.real() - value.imag() * next.imag(),
                                value.real() * next.imag() + value.imag() * next.real());
      }
    } while (next_index(place, sizes));
    if constexpr (std::is_floating_point_v<Number>) {
      write_float(result, number++, value);
    } else {
      write_complex(result, number++, std::complex<double>(value));
    }
  } while (next_index(window, result.type.shape));
  return result;
}

TEST(WindowOrder, IsThatOfElementsInRows) {
  for (const Windows& c : kCases) {
    SCOPED_TRACE(c.name);
    Graph graph;
    GraphBuilder builder(graph, {});
    const Tensor x = builder.argument({c.dtype, c.shape});
    const TensorType scalar{c.dtype, {}};
    Tensor initial = builder.number(real_of(c.dtype), c.initial);
    if (is_complex(c.dtype)) {
      initial = builder.apply(kComplexOp, {initial, builder.number(real_of(c.dtype), 0)});
    }
    Op op;
    op.regions = {region_of({scalar, scalar}, [&](std::span<const Tensor> a) {
      return std::vector{c.adds ? a[0] + a[1] : a[0] * a[1]};
    })};
    std::vector<std::int64_t> sizes, strides, padding, base, dilations;
    for (const SlidingWindow& window : c.windows) {
      sizes.push_back(window.size);
      strides.push_back(window.stride);
      padding.insert(padding.end(), {window.low, window.high});
      base.push_back(window.base_dilation);
      dilations.push_back(window.window_dilation);
    }
    op.attributes = {{"window_dimensions", sizes},
                     {"window_strides", strides},
                     {"padding", padding},
                     {"base_dilations", base},
                     {"window_dilations", dilations}};
    graph.set_results(
        {builder.append(kReduceWindowOp, std::vector{x, initial}, std::move(op))[0].id});
    const HostTensor input = cancelling(c.dtype, c.shape);
    const HostTensor found = run_on("tiny4", graph, std::vector{input})[0];
    const HostTensor wanted = c.dtype == kF32   ? expected<float>(c, input)
                              : c.dtype == kF64 ? expected<double>(c, input)
                                                : expected<std::complex<float>>(c, input);
    ASSERT_EQ(found.type, wanted.type);
    EXPECT_EQ(found.data, wanted.data);
    EXPECT_TRUE(close(found, wanted, 0));
  }
}

}  // namespace
}  // namespace superstep
