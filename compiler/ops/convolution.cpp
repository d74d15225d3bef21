#include "compiler/ops/convolution.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

#include "compiler/import/parser.h"
#include "compiler/ops/elements.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/verify.h"

namespace superstep {
namespace {

std::size_t at(std::int64_t d) { return static_cast<std::size_t>(d); }

/// The next `[b, 0, 1, f]` of the text, which begins behind it then.
Convolution::Dimensions labels(const Op& op, std::string_view& text, char first, char second) {
  const std::size_t begin = text.find('['), end = text.find(']');
  const auto fail = [&] {
    malformed(op, fmt::format("dimension_numbers are not of the form [b, 0, 1, f]x[0, 1, i, o]->"
                              "[b, 0, 1, f] with each dimension once"));
  };
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) fail();
  std::string_view list = text.substr(begin + 1, end - begin - 1);
  text.remove_prefix(end + 1);
  Convolution::Dimensions dimensions{-1, -1, {}};
  std::int64_t position = 0;
  std::vector<std::pair<std::int64_t, std::int64_t>> spatial;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    std::string_view label = list.substr(0, comma);
    list.remove_prefix(std::min(comma + 1, list.size()));
    while (!label.empty() && label.front() == ' ') label.remove_prefix(1);
    while (!label.empty() && label.back() == ' ') label.remove_suffix(1);
    std::int64_t number = 0;
    const char* const behind = label.data() + label.size();
    if (label.size() == 1 && label[0] == first && dimensions.first < 0) {
      dimensions.first = position;
    } else if (label.size() == 1 && label[0] == second && dimensions.second < 0) {
      dimensions.second = position;
    } else if (const auto [end_of_number, error] = std::from_chars(label.data(), behind, number);
               error == std::errc() && end_of_number == behind) {
      spatial.emplace_back(number, position);
    } else {
      fail();
    }
    ++position;
  }
  std::ranges::sort(spatial);
  for (std::size_t i = 0; i < spatial.size(); ++i) {
    if (spatial[i].first != static_cast<std::int64_t>(i)) fail();
    dimensions.spatial.push_back(spatial[i].second);
  }
  if (dimensions.first < 0 || dimensions.second < 0) fail();
  return dimensions;
}

std::int64_t group_count(const Op& op, std::string_view name) {
  if (!op.attributes.contains(name)) return 1;
  const auto count = attribute<std::int64_t>(op, name);
  if (count < 1) malformed(op, fmt::format("{} is {}, expected 1 or more", name, count));
  return count;
}

Convolution convolution_of(const Op& op, const Shape& image, const Shape& kernel) {
  Convolution found;
  std::string_view text = attribute<std::string>(op, "dimension_numbers");
  found.image = labels(op, text, 'b', 'f');
  found.kernel = labels(op, text, 'i', 'o');
  found.result = labels(op, text, 'b', 'f');
  const std::size_t rank = found.image.spatial.size();
  for (const std::size_t other : {found.kernel.spatial.size(), found.result.spatial.size(),
                                  image.size() - 2, kernel.size() - 2}) {
    if (other == rank) continue;
    malformed(op, fmt::format("operands of ranks {} and {} do not have the dimensions that "
                              "dimension_numbers names",
                              image.size(), kernel.size()));
  }
  Shape sizes, shape;
  for (std::size_t d = 0; d < rank; ++d) {
    sizes.push_back(kernel[at(found.kernel.spatial[d])]);
    shape.push_back(image[at(found.image.spatial[d])]);
  }
  found.windows = sliding_windows(op, sizes, shape,
                                  {"window_strides", "padding", "lhs_dilation", "rhs_dilation"});
  found.reversed.assign(rank, false);
  if (op.attributes.contains("window_reversal")) {
    const Indices& reversal = index_list(op, "window_reversal", rank);
    for (std::size_t d = 0; d < rank; ++d) found.reversed[d] = reversal[d] != 0;
  }
  found.feature_groups = group_count(op, "feature_group_count");
  found.batch_groups = group_count(op, "batch_group_count");
  return found;
}

std::vector<TensorType> infer(const Op& op, std::span<const TensorType> operands) {
  const TensorType &image = operands[0], &kernel = operands[1];
  if (image.shape.size() < 2 || image.shape.size() != kernel.shape.size()) {
    malformed(op, fmt::format("convolves {} and {}, expected the same rank of 2 or more",
                              image.text(), kernel.text()));
  }
  const Convolution found = convolution_of(op, image.shape, kernel.shape);
  const std::int64_t batches = image.shape[at(found.image.first)];
  const std::int64_t features = image.shape[at(found.image.second)];
  const std::int64_t inputs = kernel.shape[at(found.kernel.first)];
  const std::int64_t outputs = kernel.shape[at(found.kernel.second)];
  if (found.feature_groups > 1 && found.batch_groups > 1) {
    malformed(op, "has groups of features and of batches");
  }
  if (features % found.feature_groups != 0 || features / found.feature_groups != inputs) {
    malformed(op, fmt::format("the image has {} features, expected {} groups of the kernel's {}",
                              features, found.feature_groups, inputs));
  }
  if (batches % found.batch_groups != 0) {
    malformed(op, fmt::format("{} batches are not {} groups", batches, found.batch_groups));
  }
  const std::int64_t groups = found.feature_groups * found.batch_groups;
  if (outputs % groups != 0) {
    malformed(op, fmt::format("{} output features are not {} groups", outputs, groups));
  }
  const DType dtype = op.declared.empty() ? image.dtype : op.declared[0].dtype;
  const auto family = [](DType d) { return is_complex(d) ? 2 : is_float(d) ? 1 : 0; };
  const bool makes_bits =
      dtype == DType::kI1 && (image.dtype != DType::kI1 || kernel.dtype != DType::kI1);
  if (family(image.dtype) != family(kernel.dtype) || family(image.dtype) != family(dtype) ||
      makes_bits) {
    unsupported(op, fmt::format("convolution of {} and {} as {}; expected all floats, all integers "
                                "or all complex numbers",
                                name_of(image.dtype), name_of(kernel.dtype), name_of(dtype)));
  }
  return {{dtype, found.result_shape(image.shape, kernel.shape)}};
}

/// Sums of products in f64, rounded once; of integers at the width of the result.
class Sums {
 public:
  explicit Sums(DType dtype) : dtype_(dtype) {}
  void add(const HostTensor& a, std::size_t i, const HostTensor& b, std::size_t j) {
    if (has_infinities()) {
      number_ += read_number(a, i) * read_number(b, j);
      return;
    }
    const auto product =
        static_cast<std::uint64_t>(read_int(a, i)) * static_cast<std::uint64_t>(read_int(b, j));
    integer_ = dtype_ == DType::kI1 ? integer_ | product : integer_ + product;
  }
  /// Zero times an element: NaN where that is infinite or NaN.
  void add_zero_times(const HostTensor& b, std::size_t j) {
    if (has_infinities()) number_ += 0.0 * read_number(b, j);
  }
  void write(HostTensor& to, std::size_t element) const {
    if (has_infinities()) {
      write_number(to, element, number_);
    } else {
      write_int(to, element, static_cast<std::int64_t>(integer_));
    }
  }

 private:
  [[nodiscard]] bool has_infinities() const { return is_complex(dtype_) || is_float(dtype_); }

  DType dtype_;
  std::complex<double> number_ = 0;
  std::uint64_t integer_ = 0;
};

std::vector<HostTensor> evaluate(const Op& op, std::span<const HostTensor> operands) {
  const HostTensor &image = operands[0], &kernel = operands[1];
  const std::vector<TensorType> types = {image.type, kernel.type};
  HostTensor result(infer(op, types)[0]);
  if (result.type.elements() == 0) return {std::move(result)};
  const Convolution found = convolution_of(op, image.type.shape, kernel.type.shape);
  const Indices in = row_major_strides(image.type.shape), of = row_major_strides(kernel.type.shape);
  const std::int64_t inputs = kernel.type.shape[at(found.kernel.first)];
  const std::int64_t outputs = kernel.type.shape[at(found.kernel.second)];
  const std::int64_t batches = result.type.shape[at(found.result.first)];
  const std::int64_t group_size = outputs / (found.feature_groups * found.batch_groups);
  Shape places;
  for (const SlidingWindow& window : found.windows) places.push_back(window.size);
  const bool is_empty = TensorType{DType::kI1, kernel.type.shape}.elements() == 0;
  Indices index(result.type.shape.size());
  std::size_t element = 0;
  do {
    const std::int64_t output = index[at(found.result.second)];
    const std::int64_t group = output / group_size;
    Sums sum(result.type.dtype);
    Indices place(places.size());
    Indices from(index.size()), by(index.size());
    from[at(found.image.first)] =
        index[at(found.result.first)] + (found.batch_groups > 1 ? group * batches : 0);
    by[at(found.kernel.second)] = output;
    if (!is_empty) {
      do {
        bool is_inside = true;
        for (std::size_t d = 0; d < places.size(); ++d) {
          const auto position =
              found.windows[d].element(index[at(found.result.spatial[d])], place[d],
                                       image.type.shape[at(found.image.spatial[d])]);
          is_inside = is_inside && position;
          from[at(found.image.spatial[d])] = position.value_or(0);
          by[at(found.kernel.spatial[d])] = found.reversed[d] ? places[d] - 1 - place[d] : place[d];
        }
        for (std::int64_t i = 0; i < inputs; ++i) {
          from[at(found.image.second)] = i + (found.feature_groups > 1 ? group * inputs : 0);
          by[at(found.kernel.first)] = i;
          if (is_inside) {
            sum.add(image, element_at(from, in), kernel, element_at(by, of));
          } else {
            sum.add_zero_times(kernel, element_at(by, of));
          }
        }
      } while (next_index(place, places));
    }
    sum.write(result, element++);
  } while (next_index(index, result.type.shape));
  return {std::move(result)};
}

std::vector<Tensor> expand(GraphBuilder&, const Op& op, std::span<const Tensor> operands) {
  const std::vector<TensorType> types = {operands[0].type(), operands[1].type()};
  const TensorType type = infer(op, types)[0];
  const Convolution found = convolution_of(op, types[0].shape, types[1].shape);
  return {convolve(found, operands[0], operands[1], type.dtype)};
}

/// `[b, 0, 1, f]`, as text.
std::string parse_labels(import::Parser& parser) {
  std::string text = "[";
  parser.expect('[', "in front of the dimensions of a convolution");
  while (!parser.token().is(']')) {
    if (text.size() > 1) {
      parser.expect(',', "between the dimensions of a convolution");
      text += ", ";
    }
    if (parser.token().kind != import::TokenKind::kWord &&
        parser.token().kind != import::TokenKind::kInteger) {
      parser.fail("expected a dimension such as b or 0, found " + parser.found());
    }
    text += parser.token().text;
    parser.advance();
  }
  parser.advance();
  return text + "]";
}

/// `[[1, 1], [0, 2]]` or `[false, true]`, one number after the other.
Indices parse_numbers(import::Parser& parser) {
  Indices numbers;
  parser.expect('[', "in front of a list");
  if (parser.accept(']')) return numbers;
  do {
    if (parser.token().is('[')) {
      const Indices inner = parse_numbers(parser);
      numbers.insert(numbers.end(), inner.begin(), inner.end());
    } else if (parser.token().is_word("true") || parser.token().is_word("false")) {
      numbers.push_back(parser.token().is_word("true") ? 1 : 0);
      parser.advance();
    } else {
      numbers.push_back(parser.expect_integer("an integer"));
    }
  } while (parser.accept(','));
  parser.expect(']', "at the end of a list");
  return numbers;
}

// `(%a, %b) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1]} {…} : types`.
void parse(import::Parser& parser, import::SyntaxOp& op, int) {
  parser.expect('(', "in front of the operands of a convolution");
  op.operands.push_back(parser.parse_value());
  parser.expect(',', "between the operands of a convolution");
  op.operands.push_back(parser.parse_value());
  parser.expect(')', "behind the operands of a convolution");
  if (!parser.accept_word("dim_numbers")) {
    parser.fail("expected `dim_numbers`, found " + parser.found());
  }
  parser.expect('=', "behind `dim_numbers`");
  std::string text = parse_labels(parser);
  if (!parser.accept_word("x")) parser.fail("expected `x`, found " + parser.found());
  text += "x" + parse_labels(parser);
  if (parser.token().kind != import::TokenKind::kArrow) {
    parser.fail("expected `->`, found " + parser.found());
  }
  parser.advance();
  text += "->" + parse_labels(parser);
  op.attributes.insert_or_assign("dimension_numbers", text);
  parser.expect(',', "behind the dimensions of a convolution");
  if (!parser.accept_word("window")) parser.fail("expected `window`, found " + parser.found());
  parser.expect('=', "behind `window`");
  parser.expect('{', "in front of a window");
  constexpr std::pair<std::string_view, std::string_view> kFields[] = {
      {"stride", "window_strides"},
      {"pad", "padding"},
      {"lhs_dilate", "lhs_dilation"},
      {"rhs_dilate", "rhs_dilation"},
      {"reverse", "window_reversal"}};
  while (!parser.token().is('}')) {
    const auto* const field = std::ranges::find(
        kFields, parser.token().text, &std::pair<std::string_view, std::string_view>::first);
    if (field == std::end(kFields)) {
      parser.fail("expected stride, pad, lhs_dilate, rhs_dilate or reverse, found " +
                  parser.found());
    }
    parser.advance();
    parser.expect('=', "behind what a window has");
    op.attributes.insert_or_assign(std::string(field->second), parse_numbers(parser));
    if (!parser.accept(',')) break;
  }
  parser.expect('}', "at the end of a window");
  parser.add_optional_dictionary(op);
  parser.parse_types(op);
}

}  // namespace

Shape Convolution::result_shape(const Shape& image_shape, const Shape& kernel_shape) const {
  Shape shape(image_shape.size());
  shape[at(result.first)] = image_shape[at(image.first)] / batch_groups;
  shape[at(result.second)] = kernel_shape[at(kernel.second)];
  for (std::size_t d = 0; d < windows.size(); ++d) {
    shape[at(result.spatial[d])] = windows[d].count(image_shape[at(image.spatial[d])]);
  }
  return shape;
}

const OpDefinition kConvolutionOp{
    .name = "stablehlo.convolution",
    .summary = "Sums of products of a kernel and each place of an image.",
    .infer = infer,
    .evaluate = evaluate,
    .lowerings = {ExpandLowering{expand}},
    .traits = {.operands = {kAnyDType, kAnyDType}, .folds_expanded = true},
    .syntax = {.parse = parse},
    .attributes =
        "dimension_numbers window_strides padding lhs_dilation rhs_dilation window_reversal "
        "feature_group_count batch_group_count precision_config",
};

}  // namespace superstep
