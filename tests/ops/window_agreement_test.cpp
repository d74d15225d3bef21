// Ops with windows and random attributes: what they expand to against their reference, exactly,
// since integers are the same in any order.

#include <algorithm>
#include <array>
#include <random>

#include "compiler/ops/elements.h"
#include "tests/ops/on_machine.h"
#include "tests/ops/op_case.h"
#include "tests/regions.h"

namespace superstep {
namespace {

using Indices = std::vector<std::int64_t>;
using enum DType;

class Draw {
 public:
  explicit Draw(std::uint32_t seed) : random_(seed) {}
  std::int64_t between(std::int64_t least, std::int64_t most) {
    return least +
           static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(most - least + 1));
  }
  bool one_in(std::int64_t n) { return between(1, n) == 1; }
  HostTensor integers(const Shape& shape, std::int64_t most) {
    HostTensor tensor(TensorType{kI32, shape});
    for (std::size_t i = 0; i < static_cast<std::size_t>(tensor.type.elements()); ++i) {
      write_int(tensor, i, between(-most, most));
    }
    return tensor;
  }

 private:
  std::mt19937 random_;
};

/// Products of matrices of two rows: in any order of multiplying, but not of factors.
Graph matrix_product() {
  return region_of(std::vector<TensorType>(8, TensorType{kI32, {}}), [](std::span<const Tensor> a) {
    return std::vector{a[0] * a[4] + a[1] * a[6], a[0] * a[5] + a[1] * a[7],
                       a[2] * a[4] + a[3] * a[6], a[2] * a[5] + a[3] * a[7]};
  });
}

/// Adds windows in a tensor of `shape`.
void add_windows(Draw& draw, const Shape& shape, bool dilates, Attributes& attributes) {
  Indices sizes, strides, padding, base, dilations;
  for (const std::int64_t size : shape) {
    const bool is_scan = size > 1 && draw.one_in(4);
    sizes.push_back(is_scan ? size + draw.between(0, 1) : draw.between(1, 6));
    strides.push_back(is_scan ? 1 : draw.one_in(3) ? sizes.back() : draw.between(1, 3));
    const bool is_reverse = draw.one_in(2);
    padding.push_back(is_scan ? (is_reverse ? 0 : sizes.back() - 1)
                              : std::max<std::int64_t>(draw.between(-3, 3), -1));
    padding.push_back(is_scan ? (is_reverse ? sizes.back() - 1 : 0)
                              : std::max<std::int64_t>(draw.between(-3, 5), -1));
    base.push_back(is_scan || !draw.one_in(4) ? 1 : 2);
    dilations.push_back(is_scan || !draw.one_in(4) ? 1 : draw.between(2, 3));
  }
  attributes["window_dimensions"] = sizes;
  attributes["window_strides"] = strides;
  attributes["padding"] = padding;
  if (!dilates) return;
  attributes["base_dilations"] = base;
  attributes["window_dilations"] = dilations;
}

Shape some_shape(Draw& draw) {
  Shape shape;
  for (std::int64_t d = draw.between(1, 3); d > 0; --d) shape.push_back(draw.between(1, 9));
  return shape;
}

OpCase random_reduce_window(Draw& draw) {
  const Shape shape = some_shape(draw);
  OpCase use{"stablehlo.reduce_window", "", {}, {}, {}, 0, {}};
  const bool multiplies = draw.one_in(2);
  const std::size_t count = multiplies ? 4 : 1;
  for (std::size_t i = 0; i < count; ++i) use.operands.push_back(draw.integers(shape, 1000000));
  for (std::size_t i = 0; i < count; ++i) use.operands.push_back(draw.integers({}, 1000000));
  use.regions = {
      multiplies ? matrix_product()
                 : binary_reducer(draw.one_in(2) ? "stablehlo.maximum" : "stablehlo.add", kI32)};
  add_windows(draw, shape, true, use.attributes);
  return use;
}

OpCase random_select_and_scatter(Draw& draw) {
  OpCase use{"stablehlo.select_and_scatter", "", {}, {}, {}, 0, {}};
  const Shape shape = some_shape(draw);
  add_windows(draw, shape, false, use.attributes);
  const auto list = [&](const char* name) { return std::get<Indices>(use.attributes.at(name)); };
  Shape counts;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const std::int64_t left = shape[d] + list("padding")[2 * d] + list("padding")[2 * d + 1] -
                              list("window_dimensions")[d];
    counts.push_back(left < 0 ? 0 : left / list("window_strides")[d] + 1);
  }
  // Small ones, so that there are equal ones.
  use.operands = {draw.integers(shape, 3), draw.integers(counts, 1000), draw.integers({}, 1000)};
  // Neither associative nor commutative.
  use.regions = {region_of({{kI32, {}}, {kI32, {}}},
                           [](std::span<const Tensor> a) {
                             return std::vector{compare("GE", a[0] + 1, a[1])};
                           }),
                 region_of({{kI32, {}}, {kI32, {}}},
                           [](std::span<const Tensor> a) { return std::vector{a[0] * 3 + a[1]}; })};
  return use;
}

/// `[b, 1, 0, f]` with its letters in any order, and the sizes in that order.
std::pair<std::string, Shape> in_any_order(Draw& draw, char first, char second,
                                           const Shape& sizes) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    order.insert(order.begin() + draw.between(0, static_cast<std::int64_t>(i)), i);
  }
  std::string text;
  Shape shape;
  for (const std::size_t i : order) {
    text += text.empty() ? "[" : ", ";
    text += i == 0   ? std::string(1, first)
            : i == 1 ? std::string(1, second)
                     : std::to_string(i - 2);
    shape.push_back(sizes[i]);
  }
  return {text + "]", shape};
}

OpCase random_convolution(Draw& draw) {
  OpCase use{"stablehlo.convolution", "", {}, {}, {}, 0, {}};
  const std::int64_t groups = draw.one_in(2) ? 1 : draw.between(2, 3);
  const bool of_batches = draw.one_in(2);
  const auto some = [&] { return draw.one_in(4) ? draw.between(8, 9) : draw.between(1, 3); };
  const std::int64_t inputs = some();
  Shape image{some(), inputs}, kernel{inputs, some() * groups}, result{1, 1};
  image[of_batches ? 0 : 1] *= groups;
  Indices strides, padding, base, dilations, reversal;
  for (std::int64_t d = draw.between(0, 2); d > 0; --d) {
    image.push_back(draw.between(1, 7));
    kernel.push_back(draw.between(1, draw.one_in(3) ? 7 : 3));
    result.push_back(1);
    strides.push_back(draw.between(1, 2));
    padding.push_back(draw.between(-1, 3));
    padding.push_back(draw.between(-1, 3));
    base.push_back(draw.one_in(3) ? draw.between(2, 4) : 1);
    dilations.push_back(draw.one_in(3) ? 2 : 1);
    reversal.push_back(draw.between(0, 1));
    // Something is left.
    padding.back() += image.back() == 1 ? 2 : 0;
  }
  const auto [image_text, image_shape] = in_any_order(draw, 'b', 'f', image);
  const auto [kernel_text, kernel_shape] = in_any_order(draw, 'i', 'o', kernel);
  use.operands = {draw.integers(image_shape, 1000), draw.integers(kernel_shape, 1000)};
  use.attributes = {{"dimension_numbers", image_text + "x" + kernel_text + "->" +
                                              in_any_order(draw, 'b', 'f', result).first},
                    {"window_strides", strides},
                    {"padding", padding},
                    {"lhs_dilation", base},
                    {"rhs_dilation", dilations},
                    {"window_reversal", reversal},
                    {"feature_group_count", of_batches ? 1 : groups},
                    {"batch_group_count", of_batches ? groups : 1}};
  return use;
}

using Make = OpCase (*)(Draw&);

class WindowAgreement : public ::testing::TestWithParam<Make> {};

std::string text_of(const OpCase& use) {
  std::string text = use.op;
  for (const HostTensor& operand : use.operands) text += " " + operand.type.text();
  for (const auto& [name, value] : use.attributes) {
    text += "\n" + name + " =";
    if (const auto* list = std::get_if<Indices>(&value)) {
      for (const std::int64_t n : *list) text += " " + std::to_string(n);
    } else if (const auto* number = std::get_if<std::int64_t>(&value)) {
      text += " " + std::to_string(*number);
    } else if (const auto* words = std::get_if<std::string>(&value)) {
      text += " " + *words;
    }
  }
  return text;
}

void expect_equal(const OpCase& use, const std::vector<HostTensor>& found,
                  const std::vector<HostTensor>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_TRUE(close(found[i], expected[i], 0)) << "result " << i << " of " << text_of(use);
  }
}

TEST_P(WindowAgreement, ExpansionsGiveWhatTheReferenceGives) {
  Draw draw(1);
  int with_elements = 0;
  for (int i = 0; i < 300; ++i) {
    const OpCase use = GetParam()(draw);
    const Graph graph = graph_of(use);
    with_elements += graph.type(graph.results()[0]).elements() > 0 ? 1 : 0;
    expect_equal(use, run_lowering(graph.ops()[0], graph, use.operands),
                 evaluate(graph, use.operands));
  }
  EXPECT_GT(with_elements, 100);
}

TEST_P(WindowAgreement, TilesGiveWhatTheReferenceGives) {
  Draw draw(2);
  for (int i = 0; i < 12; ++i) {
    const OpCase use = GetParam()(draw);
    const Graph graph = graph_of(use);
    expect_equal(use, run_on("tiny4", graph, use.operands), evaluate(graph, use.operands));
  }
}

constexpr std::array kNames = {"ReduceWindow", "SelectAndScatter", "Convolution"};

INSTANTIATE_TEST_SUITE_P(Ops, WindowAgreement,
                         ::testing::Values(random_reduce_window, random_select_and_scatter,
                                           random_convolution),
                         [](const auto& info) { return std::string(kNames.at(info.index)); });

}  // namespace
}  // namespace superstep
