#include "compiler/ops/iota.h"

#include <array>

#include "compiler/ops/elements.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/verify.h"

namespace superstep {
namespace {

std::vector<TensorType> infer(const Op& op, std::span<const TensorType>) {
  TensorType result = required_result(op);
  require_dtype(op, result.dtype, kNumbers | kComplex);
  dimension(op, "iota_dimension", result.shape.size());
  return {std::move(result)};
}

std::vector<HostTensor> evaluate(const Op& op, std::span<const HostTensor>) {
  HostTensor result(required_result(op));
  const Shape& shape = result.type.shape;
  const std::size_t along = dimension(op, "iota_dimension", shape.size());
  const std::int64_t stride = row_major_strides(shape)[along];
  for (std::int64_t i = 0; i < result.type.elements(); ++i) {
    const std::int64_t value = i / stride % shape[along];
    const auto element = static_cast<std::size_t>(i);
    if (is_complex(result.type.dtype)) {
      write_complex(result, element, static_cast<double>(value));
    } else if (is_float(result.type.dtype)) {
      write_float(result, element, static_cast<double>(value));
    } else {
      write_int(result, element, value);
    }
  }
  return {std::move(result)};
}

constexpr std::array kKeywords = {Keyword{"dim", Keyword::Value::kInteger, "iota_dimension"}};

}  // namespace

bool is_place(const Graph& graph, ValueId v, std::int64_t dimension) {
  const Op* op = graph.producer_of(v);
  if (op == nullptr || !is_integer(graph.type(v).dtype)) return false;
  if (op->definition == &kIotaOp) {
    return attribute<std::int64_t>(*op, "iota_dimension") == dimension;
  }
  // One that is folded already.
  const std::optional<HostTensor> value = constant_value(graph, v);
  if (!value) return false;
  const auto d = static_cast<std::size_t>(dimension);
  const std::int64_t size = value->type.shape[d];
  const std::int64_t stride = row_major_strides(value->type.shape)[d];
  for (std::int64_t i = 0; i < value->type.elements(); ++i) {
    if (read_int(*value, static_cast<std::size_t>(i)) != i / stride % size) return false;
  }
  return true;
}

const OpDefinition kIotaOp{
    .name = "stablehlo.iota",
    .summary = "Each element's index in one dimension.",
    .infer = infer,
    .evaluate = evaluate,
    .lowerings = {ConstantLowering{}},
    .traits = {.operands = {}},
    .syntax = {.keywords = kKeywords},
};

}  // namespace superstep
