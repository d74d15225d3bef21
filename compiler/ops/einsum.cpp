// Products by other names: of vectors and matrices, and by equations of labelled dimensions.

#include <algorithm>
#include <array>
#include <cctype>
#include <complex>
#include <fmt/format.h>
#include <map>
#include <string>

#include "compiler/ops/elements.h"
#include "compiler/ops/graph_builder.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/verify.h"

namespace superstep {
namespace {

/// A letter for each dimension.
using Labels = std::string;

bool has(const Labels& labels, char label) { return labels.find(label) != Labels::npos; }
Labels without(Labels labels, std::size_t i) { return labels.erase(i, 1); }
std::int64_t place(const Labels& labels, char label) {
  return static_cast<std::int64_t>(labels.find(label));
}

/// `ab,bc->ac` of operands of these shapes. An ellipsis stands for as many labels of its own as
/// its operand has further dimensions.
struct Equation {
  std::vector<Labels> operands;
  Labels result;
  std::map<char, std::int64_t> sizes;

  Equation(const Op& op, std::span<const Shape> shapes) {
    const auto& text = attribute<std::string>(op, "einsum_config");
    const std::size_t arrow = text.find("->");
    if (arrow == std::string::npos) malformed(op, fmt::format("{} has no ->", text));
    std::string left = text.substr(0, arrow);
    for (std::size_t comma = 0; (comma = left.find(',')) != std::string::npos;) {
      operands.push_back(left.substr(0, comma));
      left.erase(0, comma + 1);
    }
    operands.push_back(left);
    if (operands.size() != shapes.size()) {
      malformed(op, fmt::format("{} is of {} operands", text, operands.size()));
    }
    std::size_t hidden = 0;
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      const std::size_t own = spelt_out(op, operands[i], 0).size();
      const std::size_t rank = shapes[i].size();
      const bool has_ellipsis = operands[i].find("...") != std::string::npos;
      if (own > rank || (own < rank && !has_ellipsis) || rank > kMostRank) {
        malformed(op, fmt::format("{} has {} labels for {} dimensions", text, own, rank));
      }
      if (has_ellipsis) hidden = std::max(hidden, rank - own);
      operands[i] = spelt_out(op, operands[i], rank - own);
      for (std::size_t d = 0; d < rank; ++d) {
        const auto [at, is_new] = sizes.emplace(operands[i][d], shapes[i][d]);
        if (at->second == shapes[i][d]) continue;
        malformed(op, fmt::format("{} names dimensions of {} and {} elements alike", text,
                                  at->second, shapes[i][d]));
      }
    }
    result = spelt_out(op, text.substr(arrow + 2), hidden);
    for (std::size_t d = 0; d < result.size(); ++d) {
      if (sizes.contains(result[d]) && place(result, result[d]) == static_cast<std::int64_t>(d)) {
        continue;
      }
      malformed(op, fmt::format("the result of {} has a label twice or a new one", text));
    }
  }

  [[nodiscard]] Shape shape(const Labels& labels) const {
    Shape shape;
    for (const char label : labels) shape.push_back(sizes.at(label));
    return shape;
  }

 private:
  static constexpr std::size_t kMostRank = 52;

  /// The labels of one operand. Those of an ellipsis are no letters, the same ones from the last.
  static Labels spelt_out(const Op& op, const std::string& text, std::size_t hidden) {
    Labels labels;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == ' ') continue;
      if (text.compare(i, 3, "...") == 0) {
        for (std::size_t h = hidden; h-- > 0;) labels.push_back(static_cast<char>(h + 1));
        i += 2;
      } else if (std::isalpha(static_cast<unsigned char>(text[i])) != 0) {
        labels.push_back(text[i]);
      } else {
        malformed(op, fmt::format("an equation has no '{}'", text[i]));
      }
    }
    return labels;
  }
};

template <class T>
std::vector<Shape> shapes_of(std::span<const T> operands, Shape (*shape)(const T&)) {
  std::vector<Shape> shapes;
  for (const T& operand : operands) shapes.push_back(shape(operand));
  return shapes;
}
Equation equation_of(const Op& op, std::span<const TensorType> operands) {
  return {op, shapes_of<TensorType>(operands, [](const TensorType& x) { return x.shape; })};
}

std::vector<TensorType> infer(const Op& op, std::span<const TensorType> operands) {
  const DType dtype = op.declared.empty() ? operands[0].dtype : op.declared[0].dtype;
  for (const TensorType& operand : operands) {
    if (operand.dtype == dtype) continue;
    unsupported(op, fmt::format("of {} as {}", name_of(operand.dtype), name_of(dtype)));
  }
  const Equation equation = equation_of(op, operands);
  return {{dtype, equation.shape(equation.result)}};
}

/// A product of elements for each value of all labels, added where the result's are the same.
std::vector<HostTensor> evaluate(const Op& op, std::span<const HostTensor> operands) {
  const Equation equation{
      op, shapes_of<HostTensor>(operands, [](const HostTensor& x) { return x.type.shape; })};
  const DType dtype = operands[0].type.dtype;
  HostTensor result(TensorType{dtype, equation.shape(equation.result)});
  const auto elements = static_cast<std::size_t>(result.type.elements());
  std::vector<std::complex<double>> sums(elements);
  std::vector<std::int64_t> whole(elements);
  Labels all;
  for (const auto& [label, size] : equation.sizes) all.push_back(label);
  const Shape box = equation.shape(all);
  const auto element = [&](const Labels& labels, const Indices& index) {
    std::int64_t number = 0;
    for (const char label : labels) {
      number =
          number * equation.sizes.at(label) + index[static_cast<std::size_t>(place(all, label))];
    }
    return static_cast<std::size_t>(number);
  };
  Indices index(box.size());
  const bool is_whole = !is_float(dtype) && !is_complex(dtype);
  if (std::ranges::find(box, 0) == box.end()) {
    do {
      std::complex<double> product = 1;
      std::uint64_t whole_product = 1;
      for (std::size_t i = 0; i < operands.size(); ++i) {
        const std::size_t at = element(equation.operands[i], index);
        if (is_whole) {
          whole_product *= static_cast<std::uint64_t>(read_int(operands[i], at));
        } else {
          product = i == 0 ? read_number(operands[i], at) : product * read_number(operands[i], at);
        }
      }
      const std::size_t to = element(equation.result, index);
      sums[to] += product;
      whole[to] =
          dtype == DType::kI1
              ? whole[to] | static_cast<std::int64_t>(whole_product)
              : static_cast<std::int64_t>(static_cast<std::uint64_t>(whole[to]) + whole_product);
    } while (next_index(index, box));
  }
  for (std::size_t i = 0; i < elements; ++i) {
    is_whole ? write_int(result, i, whole[i]) : write_number(result, i, sums[i]);
  }
  return {std::move(result)};
}

/// The elements whose indices of two dimensions are equal, without the second of them.
Tensor diagonal(Tensor x, std::int64_t first, std::int64_t second) {
  const TensorType numbers{DType::kI32, x.shape()};
  GraphBuilder& builder = *x.builder;
  const Tensor on = compare("EQ", builder.iota(numbers, first), builder.iota(numbers, second));
  return sum(select(on, x, x.like(0)), {second});
}

/// An operand whose labels differ from each other and are needed elsewhere.
Tensor reduced(Tensor x, Labels& labels, const std::string& others) {
  for (std::size_t d = 0; d < labels.size();) {
    const std::int64_t first = place(labels, labels[d]), here = static_cast<std::int64_t>(d);
    if (first != here) {
      x = diagonal(x, first, here);
    } else if (!has(others, labels[d]) && labels.find(labels[d], d + 1) == Labels::npos) {
      x = sum(x, {here});
    } else {
      ++d;
      continue;
    }
    labels = without(labels, d);
    d = 0;
  }
  return x;
}

Tensor in_order(Tensor x, const Labels& labels, const Labels& wanted) {
  if (labels == wanted) return x;
  Indices permutation;
  for (const char label : wanted) permutation.push_back(place(labels, label));
  return transpose(x, permutation);
}

std::vector<Tensor> expand(GraphBuilder&, const Op& op, std::span<const Tensor> operands) {
  const Equation equation{op,
                          shapes_of<Tensor>(operands, [](const Tensor& x) { return x.shape(); })};
  Labels left = equation.operands[0];
  const bool is_unary = operands.size() == 1;
  const Tensor a =
      reduced(operands[0], left, equation.result + (is_unary ? Labels() : equation.operands[1]));
  if (is_unary) return {in_order(a, left, equation.result)};
  Labels right = equation.operands[1];
  const Tensor b = reduced(operands[1], right, equation.result + equation.operands[0]);
  ProductDimensions dimensions;
  Labels batch, free_left, free_right;
  for (const char label : left) {
    if (!has(right, label)) {
      free_left.push_back(label);
      continue;
    }
    const bool is_kept = has(equation.result, label);
    (is_kept ? dimensions.left_batching : dimensions.left_contracting)
        .push_back(place(left, label));
    (is_kept ? dimensions.right_batching : dimensions.right_contracting)
        .push_back(place(right, label));
    if (is_kept) batch.push_back(label);
  }
  for (const char label : right) {
    if (!has(left, label)) free_right.push_back(label);
  }
  const Tensor product = dot_general(a, b, dimensions, a.dtype());
  return {in_order(product, batch + free_left + free_right, equation.result)};
}

/// The last dimension of the first operand with the first one of the second.
Op product_of_matrices(const Op& op, std::size_t left_rank, std::size_t right_rank) {
  for (const std::size_t rank : {left_rank, right_rank}) {
    if (rank != 1 && rank != 2) malformed(op, fmt::format("an operand has rank {}", rank));
  }
  Op product = op;
  product.definition = &kDotGeneralOp;
  const Indices none, last{static_cast<std::int64_t>(left_rank) - 1}, first{0};
  product.attributes.insert_or_assign("lhs_batching_dimensions", none);
  product.attributes.insert_or_assign("rhs_batching_dimensions", none);
  product.attributes.insert_or_assign("lhs_contracting_dimensions", last);
  product.attributes.insert_or_assign("rhs_contracting_dimensions", first);
  return product;
}

std::vector<TensorType> infer_dot(const Op& op, std::span<const TensorType> operands) {
  return infer_types(product_of_matrices(op, operands[0].shape.size(), operands[1].shape.size()),
                     operands);
}
std::vector<HostTensor> evaluate_dot(const Op& op, std::span<const HostTensor> operands) {
  return kDotGeneralOp.evaluate(
      product_of_matrices(op, operands[0].type.shape.size(), operands[1].type.shape.size()),
      operands);
}
std::vector<Tensor> expand_dot(GraphBuilder& builder, const Op& op,
                               std::span<const Tensor> operands) {
  return builder.append(
      kDotGeneralOp, operands,
      product_of_matrices(op, operands[0].shape().size(), operands[1].shape().size()));
}

constexpr std::array kDotKeywords = {
    Keyword{"precision", Keyword::Value::kWords, "precision_config"}};
constexpr std::array kKeywords = {Keyword{"config", Keyword::Value::kString, "einsum_config"}};

}  // namespace

const OpDefinition kDotOp{
    .name = "stablehlo.dot",
    .summary = "The product of two vectors or matrices.",
    .infer = infer_dot,
    .evaluate = evaluate_dot,
    .lowerings = {ExpandLowering{expand_dot}},
    .traits = {.operands = {kAnyDType, kAnyDType}, .is_shorthand = true},
    .syntax = {.keywords = kDotKeywords},
};
const OpDefinition kEinsumOp{
    .name = "stablehlo.einsum",
    .summary = "Sums of products of two tensors, by an equation such as `ab,bc->ac`.",
    .infer = infer,
    .evaluate = evaluate,
    .lowerings = {ExpandLowering{expand}},
    .traits = {.operands = {kAnyDType, kAnyDType}, .is_shorthand = true},
    .syntax = {.keywords = kKeywords},
};
const OpDefinition kUnaryEinsumOp{
    .name = "stablehlo.unary_einsum",
    .summary = "Sums, diagonals and another order of dimensions, by an equation such as `ab->ba`.",
    .infer = infer,
    .evaluate = evaluate,
    .lowerings = {ExpandLowering{expand}},
    .traits = {.operands = {kAnyDType}, .is_shorthand = true},
    .syntax = {.keywords = kKeywords},
};

}  // namespace superstep
