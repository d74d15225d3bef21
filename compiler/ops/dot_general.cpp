#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "compiler/ops/dot_algorithm.h"
#include "compiler/ops/elements.h"
#include "compiler/ops/graph_builder.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/step_lowerings.h"
#include "compiler/ops/verify.h"

namespace superstep {
namespace {

/// The dimensions of one operand by what they do; `free` ascends.
struct OperandDimensions {
  Indices batching, contracting, free;
};

OperandDimensions dimensions_of(const Op& op, const std::string& prefix, std::size_t rank) {
  OperandDimensions side{dimension_list(op, prefix + "_batching_dimensions", rank),
                         dimension_list(op, prefix + "_contracting_dimensions", rank),
                         {}};
  for (std::int64_t d = 0; d < static_cast<std::int64_t>(rank); ++d) {
    const bool batches = contains(side.batching, d);
    const bool contracts = contains(side.contracting, d);
    if (batches && contracts) {
      malformed(op, fmt::format("dimension {} of {} both batches and contracts", d, prefix));
    }
    if (!batches && !contracts) side.free.push_back(d);
  }
  return side;
}

Shape sizes(const Shape& shape, const Indices& dimensions) {
  Shape result;
  for (const std::int64_t d : dimensions) result.push_back(shape[static_cast<std::size_t>(d)]);
  return result;
}

void append(Shape& shape, const Shape& more) {
  shape.insert(shape.end(), more.begin(), more.end());
}

Shape result_shape(const TensorType& lhs, const OperandDimensions& left, const TensorType& rhs,
                   const OperandDimensions& right) {
  Shape shape = sizes(lhs.shape, left.batching);
  append(shape, sizes(lhs.shape, left.free));
  append(shape, sizes(rhs.shape, right.free));
  return shape;
}

std::vector<TensorType> infer(const Op& op, std::span<const TensorType> operands) {
  const TensorType& lhs = operands[0];
  const TensorType& rhs = operands[1];
  const OperandDimensions left = dimensions_of(op, "lhs", lhs.shape.size());
  const OperandDimensions right = dimensions_of(op, "rhs", rhs.shape.size());
  if (sizes(lhs.shape, left.batching) != sizes(rhs.shape, right.batching) ||
      sizes(lhs.shape, left.contracting) != sizes(rhs.shape, right.contracting)) {
    malformed(op, fmt::format("the batching or contracting dimensions of {} and {} do not match",
                              lhs.text(), rhs.text()));
  }
  const DType dtype = op.declared.empty() ? lhs.dtype : op.declared[0].dtype;
  const auto family = [](DType d) { return is_complex(d) ? 2 : is_float(d) ? 1 : 0; };
  const bool makes_bits =
      dtype == DType::kI1 && (lhs.dtype != DType::kI1 || rhs.dtype != DType::kI1);
  if (family(lhs.dtype) != family(rhs.dtype) || family(lhs.dtype) != family(dtype) || makes_bits) {
    unsupported(op, fmt::format("product of {} and {} as {}; expected all floats, all integers or "
                                "all complex numbers",
                                name_of(lhs.dtype), name_of(rhs.dtype), name_of(dtype)));
  }
  check_algorithm(op, lhs.dtype, rhs.dtype, dtype);
  return {{dtype, result_shape(lhs, left, rhs, right)}};
}

/// Element number of every index of `dimensions`, in row-major order.
std::vector<std::size_t> offsets(const Shape& shape, const Indices& dimensions) {
  const Indices strides = sizes(row_major_strides(shape), dimensions);
  const Shape box = sizes(shape, dimensions);
  std::vector<std::size_t> result;
  if (std::ranges::find(box, 0) != box.end()) return result;
  Indices index(box.size());
  do {
    result.push_back(element_at(index, strides));
  } while (next_index(index, box));
  return result;
}

/// Sums of products in f64, rounded once; of integers at the width of the result; OR of ANDs of
/// booleans.
HostTensor evaluate_product(const Op& op, std::span<const HostTensor> operands) {
  const HostTensor& lhs = operands[0];
  const HostTensor& rhs = operands[1];
  const OperandDimensions left = dimensions_of(op, "lhs", lhs.type.shape.size());
  const OperandDimensions right = dimensions_of(op, "rhs", rhs.type.shape.size());
  const std::vector<TensorType> types = {lhs.type, rhs.type};
  HostTensor result(infer(op, types)[0]);
  const DType dtype = result.type.dtype;

  const auto batch_left = offsets(lhs.type.shape, left.batching);
  const auto batch_right = offsets(rhs.type.shape, right.batching);
  const auto free_left = offsets(lhs.type.shape, left.free);
  const auto free_right = offsets(rhs.type.shape, right.free);
  const auto sum_left = offsets(lhs.type.shape, left.contracting);
  const auto sum_right = offsets(rhs.type.shape, right.contracting);
  std::size_t element = 0;
  for (std::size_t b = 0; b < batch_left.size(); ++b) {
    for (const std::size_t i : free_left) {
      for (const std::size_t j : free_right) {
        const std::size_t from_left = batch_left[b] + i;
        const std::size_t from_right = batch_right[b] + j;
        double float_sum = 0;
        std::complex<double> complex_sum = 0;
        std::uint64_t sum = 0;
        for (std::size_t k = 0; k < sum_left.size(); ++k) {
          const std::size_t l = from_left + sum_left[k];
          const std::size_t r = from_right + sum_right[k];
          if (is_complex(dtype)) {
            complex_sum += read_complex(lhs, l) * read_complex(rhs, r);
          } else if (is_float(dtype)) {
            float_sum += read_float(lhs, l) * read_float(rhs, r);
          } else {
            const auto product = static_cast<std::uint64_t>(read_int(lhs, l)) *
                                 static_cast<std::uint64_t>(read_int(rhs, r));
            sum = dtype == DType::kI1 ? sum | product : sum + product;
          }
        }
        if (is_complex(dtype)) {
          write_complex(result, element++, complex_sum);
        } else if (is_float(dtype)) {
          write_float(result, element++, float_sum);
        } else {
          write_int(result, element++, static_cast<std::int64_t>(sum));
        }
      }
    }
  }
  return result;
}

/// By parts those of the operands, each rounded once, and their sum in f32. What has no highest
/// bits is left out where it is NaN: infinity has no other parts.
std::vector<HostTensor> evaluate(const Op& op, std::span<const HostTensor> operands) {
  const auto algorithm = parts_algorithm(op, operands[0].type.dtype, operands[1].type.dtype);
  if (!algorithm) return {evaluate_product(op, operands)};
  Op plain = op;
  erase_algorithm(plain);
  for (TensorType& type : plain.declared) type.dtype = DType::kF32;
  const auto left = parts_of(operands[0], *algorithm), right = parts_of(operands[1], *algorithm);
  const std::vector<TensorType> types = {operands[0].type, operands[1].type};
  HostTensor result(infer(op, types)[0]);
  std::vector<float> sums(static_cast<std::size_t>(result.type.elements()), -0.0F);
  for (const auto& [l, r] : algorithm->products) {
    const HostTensor product = evaluate_product(plain, std::array{left[l], right[r]});
    for (std::size_t i = 0; i < sums.size(); ++i) {
      if (l + r == 0 && std::isnan(sums[i])) sums[i] = 0;
      sums[i] += static_cast<float>(read_float(product, i));
    }
  }
  for (std::size_t i = 0; i < sums.size(); ++i) write_float(result, i, sums[i]);
  return {std::move(result)};
}

/// What the operands have to be for a vertex; none when they are right.
std::optional<DType> operand_dtype(DType left, DType right, DType result) {
  // bf16 has the range of f32, which f16 does not have.
  if (left == DType::kBF16 || result == DType::kBF16) return DType::kF32;
  if (left == right && left != DType::kI1) return std::nullopt;
  if (is_float(left)) return DType::kF32;
  // Integer products wrap: they are right at the width of the result.
  if (result != DType::kI1) return result;
  return left == right ? std::optional(DType::kU8) : std::nullopt;
}

/// Whether no vertex takes operands and result as the op says.
bool is_of_others(const Op& op, const Graph& graph) {
  const auto dtype = [&](ValueId v) { return graph.type(v).dtype; };
  const DType left = dtype(op.operands[0]), right = dtype(op.operands[1]);
  const DType result = dtype(op.results[0]);
  return parts_algorithm(op, left, right).has_value() || is_wide(left) || is_wide(right) ||
         is_wide(result) || operand_dtype(left, right, result).has_value();
}

/// The same product of other operands.
Tensor product_of(const Op& op, Tensor lhs, Tensor rhs, TensorType type) {
  Op product;
  product.attributes = op.attributes;
  erase_algorithm(product);
  product.declared = {std::move(type)};
  return lhs.builder->apply(*op.definition, {lhs, rhs}, std::move(product));
}

/// As `evaluate` does it.
Tensor product_of_parts(const Op& op, Tensor lhs, Tensor rhs, TensorType type,
                        const PartsAlgorithm& algorithm) {
  const DType result = std::exchange(type.dtype, DType::kF32);
  const std::vector<Tensor> left = parts_of(lhs, algorithm), right = parts_of(rhs, algorithm);
  std::optional<Tensor> sum;
  for (const auto& [l, r] : algorithm.products) {
    const Tensor product = product_of(op, left[l], right[r], type);
    if (sum && l + r == 0) sum = select(compare("EQ", *sum, *sum), *sum, sum->like(0));
    sum = sum ? *sum + product : product;
  }
  return convert(*sum, result);
}

/// One product of floats: a + bi as the row (a, b), c + di as the matrix ((c, d), (-d, c)), in
/// another contracted dimension and one of the result. The smaller operand is the matrix.
Tensor complex_product(const Op& op, Tensor lhs, Tensor rhs, const TensorType& type) {
  const auto part = [](const OpDefinition& definition, Tensor x) {
    return x.builder->apply(definition, {x});
  };
  const auto stacked = [](Tensor a, Tensor b) {
    Shape shape = a.shape();
    shape.insert(shape.begin(), 1);
    return concatenate(std::array{reshape(a, shape), reshape(b, shape)}, 0);
  };
  const auto as_rows = [&](Tensor x) { return stacked(part(kRealOp, x), part(kImagOp, x)); };
  const auto as_matrices = [&](Tensor x) {
    const Tensor real = part(kRealOp, x), imaginary = part(kImagOp, x);
    return stacked(stacked(real, imaginary), stacked(-imaginary, real));
  };
  const bool is_left_matrix = lhs.type().elements() < rhs.type().elements();
  OperandDimensions left = dimensions_of(op, "lhs", lhs.shape().size());
  OperandDimensions right = dimensions_of(op, "rhs", rhs.shape().size());
  const std::size_t parts_at = left.batching.size() + (is_left_matrix ? 0 : left.free.size());
  // Behind the new dimensions.
  const auto moved = [](Indices dimensions, std::int64_t by) {
    for (std::int64_t& d : dimensions) d += by;
    return dimensions;
  };
  const auto contracting = [&](const OperandDimensions& side, std::int64_t by) {
    Indices all = moved(side.contracting, by);
    all.insert(all.begin(), 0);
    return all;
  };
  const std::int64_t left_by = is_left_matrix ? 2 : 1, right_by = is_left_matrix ? 1 : 2;
  Op product;
  product.attributes = op.attributes;
  product.attributes.insert_or_assign("lhs_batching_dimensions", moved(left.batching, left_by));
  product.attributes.insert_or_assign("rhs_batching_dimensions", moved(right.batching, right_by));
  product.attributes.insert_or_assign("lhs_contracting_dimensions", contracting(left, left_by));
  product.attributes.insert_or_assign("rhs_contracting_dimensions", contracting(right, right_by));
  Shape shape = type.shape;
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(parts_at), 2);
  product.declared = {{real_of(type.dtype), shape}};
  const Tensor both = lhs.builder->apply(*op.definition,
                                         {is_left_matrix ? as_matrices(lhs) : as_rows(lhs),
                                          is_left_matrix ? as_rows(rhs) : as_matrices(rhs)},
                                         std::move(product));
  shape[parts_at] = 1;
  const auto part_of_both = [&](std::int64_t i) {
    Indices start(shape.size());
    start[parts_at] = i;
    return reshape(window(both, start, shape), type.shape);
  };
  return lhs.builder->apply(kComplexOp, {part_of_both(0), part_of_both(1)});
}

/// Each product as an element of a tensor, which is summed.
Tensor summed_products(const Op& op, Tensor lhs, Tensor rhs, const TensorType& type) {
  const OperandDimensions left = dimensions_of(op, "lhs", lhs.shape().size());
  const OperandDimensions right = dimensions_of(op, "rhs", rhs.shape().size());
  // Batches, free dimensions of both, then what is contracted.
  Shape shape = type.shape;
  append(shape, sizes(lhs.shape(), left.contracting));
  const auto spread = [&](Tensor x, const OperandDimensions& side, std::size_t free_at) {
    Indices to(x.shape().size());
    const auto place = [&](const Indices& dimensions, std::size_t at) {
      for (const std::int64_t d : dimensions) {
        to[static_cast<std::size_t>(d)] = static_cast<std::int64_t>(at++);
      }
    };
    place(side.batching, 0);
    place(side.free, free_at);
    place(side.contracting, type.shape.size());
    return broadcast(convert(x, type.dtype), shape, to);
  };
  const std::size_t batches = left.batching.size();
  const Tensor products =
      spread(lhs, left, batches) * spread(rhs, right, batches + left.free.size());
  Indices contracted;
  for (std::size_t d = type.shape.size(); d < shape.size(); ++d) {
    contracted.push_back(static_cast<std::int64_t>(d));
  }
  return sum(products, contracted);
}

/// The product of operands of one dtype that a vertex takes, or of what stands for wide ones.
std::vector<Tensor> expand(GraphBuilder&, const Op& op, std::span<const Tensor> operands) {
  const Tensor lhs = operands[0], rhs = operands[1];
  const std::vector<TensorType> types = {lhs.type(), rhs.type()};
  TensorType type = infer(op, types)[0];
  const DType result = type.dtype;
  if (is_complex(result)) return {complex_product(op, lhs, rhs, type)};
  if (const auto algorithm = parts_algorithm(op, lhs.dtype(), rhs.dtype())) {
    return {product_of_parts(op, lhs, rhs, type, *algorithm)};
  }
  if (is_wide(lhs.dtype()) || is_wide(rhs.dtype()) || is_wide(result)) {
    return {summed_products(op, lhs, rhs, type)};
  }
  const DType dtype = *operand_dtype(lhs.dtype(), rhs.dtype(), result);
  // Sums of booleans count pairs of true; 32 bits hold any depth that fits a machine.
  if (result == DType::kI1) type.dtype = DType::kU32;
  if (result == DType::kBF16) type.dtype = DType::kF32;
  return {convert(product_of(op, convert(lhs, dtype), convert(rhs, dtype), type), result)};
}

std::vector<Vote> votes(const Op& op, const Graph&) {
  return {{op.operands[0]}, {op.operands[1]}, {op.results[0]}};
}

constexpr std::array kKeywords = {
    Keyword{"batching_dims", Keyword::Value::kPair, "lhs_batching_dimensions",
            "rhs_batching_dimensions"},
    Keyword{"contracting_dims", Keyword::Value::kPair, "lhs_contracting_dimensions",
            "rhs_contracting_dimensions"},
    Keyword{"precision", Keyword::Value::kWords, "precision_config"},
    Keyword{"algorithm", Keyword::Value::kFields, "algorithm"}};

}  // namespace

const OpDefinition kDotGeneralOp{
    .name = "stablehlo.dot_general",
    .summary =
        "Sums of products over contracting dimensions, for each batch; of f32 also of parts, "
        "as an algorithm of bf16 or tf32 says.",
    .infer = infer,
    .evaluate = evaluate,
    .lowerings = {ExpandLowering{expand, is_of_others}, StepLowering{lower_product, votes}},
    .traits = {.operands = {kAnyDType, kAnyDType}, .is_product = true},
    .syntax = {.keywords = kKeywords},
    .attributes =
        "dot_dimension_numbers lhs_precision_type rhs_precision_type accumulation_type "
        "lhs_component_count rhs_component_count num_primitive_operations "
        "allow_imprecise_accumulation",
};

}  // namespace superstep
