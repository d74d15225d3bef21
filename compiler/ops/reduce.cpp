#include <fmt/format.h>

#include <algorithm>

#include "compiler/import/parser.h"
#include "compiler/import/refused_ops.h"
#include "compiler/ops/argmax.h"
#include "compiler/ops/elements.h"
#include "compiler/ops/graph_builder.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/scalar_region.h"
#include "compiler/ops/step_lowerings.h"
#include "compiler/ops/verify.h"

namespace superstep {
namespace {

Shape kept_shape(const Shape& shape, const Indices& reduced) {
  Shape kept;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (!contains(reduced, static_cast<std::int64_t>(d))) {
      kept.push_back(shape[d]);
    }
  }
  return kept;
}

std::vector<TensorType> infer(const Op& op, std::span<const TensorType> operands) {
  if (operands.empty() || operands.size() % 2 != 0) {
    malformed(op, fmt::format("has {} operands, expected as many inputs as initial values",
                              operands.size()));
  }
  const std::size_t count = operands.size() / 2;
  const Shape& shape = operands[0].shape;
  const Indices reduced = dimension_list(op, "dimensions", shape.size());
  std::vector<TensorType> results;
  for (std::size_t i = 0; i < count; ++i) {
    if (operands[i].shape != shape) malformed(op, "the inputs have different shapes");
    const TensorType scalar{operands[i].dtype, {}};
    if (operands[count + i] != scalar) {
      malformed(op, fmt::format("initial value {} is {}, expected {}", i,
                                operands[count + i].text(), scalar.text()));
    }
    results.push_back({operands[i].dtype, kept_shape(shape, reduced)});
  }
  check_scalar_region(op, operands.subspan(count));
  return results;
}

HostTensor filled(const TensorType& type, const HostTensor& scalar) {
  HostTensor result(type);
  const auto elements = static_cast<std::size_t>(type.elements());
  for (std::size_t i = 0; i < elements; ++i) copy_element(result, i, scalar, 0);
  return result;
}

/// Numbers of the elements that are reduced into each element of the result, in row-major order:
/// [reduced index][result element].
std::vector<std::vector<std::size_t>> gather_order(const Shape& shape, const Indices& reduced) {
  const Indices strides = row_major_strides(shape);
  Shape reduced_sizes, kept_sizes;
  Indices reduced_strides, kept_strides;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const bool reduces = contains(reduced, static_cast<std::int64_t>(d));
    (reduces ? reduced_sizes : kept_sizes).push_back(shape[d]);
    (reduces ? reduced_strides : kept_strides).push_back(strides[d]);
  }
  std::vector<std::vector<std::size_t>> order;
  if (std::ranges::find(shape, 0) != shape.end()) return order;
  Indices outer(reduced_sizes.size());
  do {
    std::vector<std::size_t>& row = order.emplace_back();
    Indices inner(kept_sizes.size());
    do {
      row.push_back(element_at(outer, reduced_strides) + element_at(inner, kept_strides));
    } while (next_index(inner, kept_sizes));
  } while (next_index(outer, reduced_sizes));
  return order;
}

/// Elements are taken in ascending order, from the initial value; float sums are kept in f64 and
/// rounded once.
std::vector<HostTensor> evaluate(const Op& op, std::span<const HostTensor> operands) {
  const std::size_t count = operands.size() / 2;
  const Shape& shape = operands[0].type.shape;
  const Indices reduced = dimension_list(op, "dimensions", shape.size());
  const Shape kept = kept_shape(shape, reduced);
  const auto order = gather_order(shape, reduced);
  const DType dtype = operands[0].type.dtype;
  if (count == 1 && sums_floats(op.regions[0])) {
    HostTensor result(TensorType{dtype, kept});
    const auto elements = static_cast<std::size_t>(result.type.elements());
    for (std::size_t i = 0; i < elements; ++i) {
      double sum = read_float(operands[1], 0);
      for (const auto& row : order) sum += read_float(operands[0], row[i]);
      write_float(result, i, sum);
    }
    return {std::move(result)};
  }

  std::vector<HostTensor> accumulators;
  for (std::size_t i = 0; i < count; ++i) {
    accumulators.push_back(filled({operands[i].type.dtype, kept}, operands[count + i]));
  }
  for (const auto& row : order) {
    std::vector<HostTensor> arguments = accumulators;
    for (std::size_t i = 0; i < count; ++i) {
      HostTensor slice(accumulators[i].type);
      for (std::size_t e = 0; e < row.size(); ++e) {
        copy_element(slice, e, operands[i], row[e]);
      }
      arguments.push_back(std::move(slice));
    }
    std::vector<HostTensor> results = evaluate_scalar_region(op.regions[0], std::move(arguments));
    for (std::size_t i = 0; i < count; ++i) {
      // A reducer that ignores its arguments gives one value for all.
      accumulators[i] = results[i].type == accumulators[i].type
                            ? std::move(results[i])
                            : filled(accumulators[i].type, results[i]);
    }
  }
  return accumulators;
}

// The body of the short form: one op over two scalars.
void apply_reducer(import::SyntaxOp& op, const import::Token& reducer) {
  if (op.operand_types.size() != 2) {
    throw import::SyntaxError{op.offset, "expected the types of an operand and its initial value"};
  }
  const import::TypeUse scalar = op.operand_types[1];
  import::SyntaxBlock& block = op.regions.emplace_back();
  block.arguments = {{"lhs", scalar, reducer.offset, {}}, {"rhs", scalar, reducer.offset, {}}};
  import::SyntaxOp& body = block.ops.emplace_back();
  body.name = std::string(reducer.text);
  body.offset = reducer.offset;
  body.results = {{"result", 1, reducer.offset}};
  body.operands = {{"lhs", 0, reducer.offset}, {"rhs", 0, reducer.offset}};
  body.operand_types = {scalar, scalar};
  body.result_types = {scalar};
  import::SyntaxOp& end = block.ops.emplace_back();
  end.name = "return";
  end.offset = reducer.offset;
  end.operands = {{"result", 0, reducer.offset}};
  end.operand_types = {scalar};
}

void parse_reducer(import::Parser& parser, import::SyntaxOp& op, std::size_t inputs, int depth) {
  if (!parser.accept_word("reducer"))
    parser.fail("expected `reducer(…) {…}`, found " + parser.found());
  std::vector<import::SyntaxArgument> right;
  import::SyntaxBlock block;
  for (std::size_t i = 0; i < inputs; ++i) {
    parser.expect('(', "in front of two arguments of a reducer");
    block.arguments.push_back(parser.parse_argument());
    parser.expect(',', "between two arguments of a reducer");
    right.push_back(parser.parse_argument());
    parser.expect(')', "behind two arguments of a reducer");
  }
  // Printed in pairs; the region takes all left ones first.
  block.arguments.insert(block.arguments.end(), right.begin(), right.end());
  parser.expect('{', "in front of the reducer's body");
  parser.parse_block(block, depth + 1);
  parser.expect('}', "at the end of the reducer's body");
  op.regions.push_back(std::move(block));
}

// `reduce(%x init: %a), (%y init: %b) across dimensions = [0] : types reducer(…) {…}` and
// `reduce(%x init: %a) applies stablehlo.add across dimensions = [0] : types`.
void parse(import::Parser& parser, import::SyntaxOp& op, int depth) {
  std::vector<import::ValueUse> initial;
  do {
    parser.expect('(', "in front of an operand and its initial value");
    op.operands.push_back(parser.parse_value());
    if (!parser.accept_word("init"))
      parser.fail("expected `init:` and the initial value, found " + parser.found());
    parser.expect(':', "behind `init`");
    initial.push_back(parser.parse_value());
    parser.expect(')', "behind an initial value");
  } while (parser.accept(','));
  const std::size_t inputs = op.operands.size();
  op.operands.insert(op.operands.end(), initial.begin(), initial.end());

  import::Token reducer;
  if (parser.accept_word("applies")) {
    reducer = parser.token();
    if (reducer.kind != import::TokenKind::kWord)
      parser.fail("expected the op of a reduction, found " + parser.found());
    if (find_op(reducer.text) == nullptr) {
      throw import::SyntaxError{reducer.offset, import::refusal_of(reducer.text), true};
    }
    if (inputs != 1) parser.fail("`applies` goes with one operand");
    parser.advance();
  }
  if (!parser.accept_word("across") || !parser.accept_word("dimensions")) {
    parser.fail("expected `across dimensions = […]`, found " + parser.found());
  }
  parser.expect('=', "behind `dimensions`");
  op.attributes.insert_or_assign("dimensions", parser.parse_integer_list());
  parser.add_optional_dictionary(op);
  parser.parse_function_type(op);
  if (reducer.kind == import::TokenKind::kWord) {
    apply_reducer(op, reducer);
  } else {
    parse_reducer(parser, op, inputs, depth);
  }
}

/// Whether the one op of the reducer combines the initial value with the only element of each
/// result.
bool takes_one_element(const Op& op, const Graph& graph) {
  if (op.operands.size() != 2) return false;
  const std::int64_t results = graph.type(op.results[0]).elements();
  if (results == 0 || graph.type(op.operands[0]).elements() != results) return false;
  return only_op_of(op.regions[0]) != nullptr;
}

/// A sum of bf16 is kept in f32 and rounded once.
bool sums_brain_floats(const Op& op, DType dtype) {
  return dtype == DType::kBF16 && op.operands.size() == 2 && sums_floats(op.regions[0]);
}

/// Whether one boolean is made of many by `or` or `and`, as by `jnp.any`. Tiles then exchange and
/// combine words, which take less than bytes; for many results it is storing these that counts.
bool decides_of_many(const Op& op, DType dtype, std::int64_t results) {
  if (dtype != DType::kI1 || results != 1 || op.operands.size() != 2) return false;
  const Op* only = only_op_of(op.regions[0]);
  return only != nullptr && (only->definition == &kOrOp || only->definition == &kAndOp);
}

bool takes(const Op& op, const Graph& graph) {
  const DType dtype = graph.type(op.operands[0]).dtype;
  return takes_one_element(op, graph) || sums_brain_floats(op, dtype) ||
         decides_of_many(op, dtype, graph.type(op.results[0]).elements()) || is_argmax(op, graph);
}

/// The op of the reducer, of all elements and the initial value; or the reduction of words or f32;
/// or the place of an extreme.
std::vector<Tensor> expand(GraphBuilder& builder, const Op& op, std::span<const Tensor> operands) {
  if (sums_brain_floats(op, operands[0].dtype())) {
    const Tensor sums =
        reduce(convert(operands[0], DType::kF32), convert(operands[1], DType::kF32),
               attribute<Indices>(op, "dimensions"), [](Tensor a, Tensor b) { return a + b; });
    return {convert(sums, DType::kBF16)};
  }
  if (op.operands.size() == 4) return expand_argmax(op, operands);
  const Shape input = operands[0].shape();
  const Shape shape = kept_shape(input, dimension_list(op, "dimensions", input.size()));
  if (operands[0].type().elements() != 1 && decides_of_many(op, operands[0].dtype(), 1)) {
    const bool is_or = op.regions[0].ops()[0].definition == &kOrOp;
    const Tensor words =
        reduce(convert(operands[0], DType::kU32), convert(operands[1], DType::kU32),
               attribute<Indices>(op, "dimensions"),
               [&](Tensor a, Tensor b) { return is_or ? a | b : a & b; });
    return {convert(words, DType::kI1)};
  }
  const Tensor element = reshape(operands[0], shape), initial = broadcast(operands[1], shape, {});
  const Op& only = op.regions[0].ops()[0];
  std::vector<Tensor> combined;
  for (const ValueId taken : only.operands) {
    combined.push_back(taken == op.regions[0].arguments()[0] ? initial : element);
  }
  Op rest;
  rest.attributes = only.attributes;
  rest.declared = {element.type()};
  return builder.append(*only.definition, combined, std::move(rest));
}

/// Neighbours that become one result stay together.
std::vector<Vote> votes(const Op& op, const Graph& graph) {
  const auto& reduced = attribute<Indices>(op, "dimensions");
  const Shape& shape = graph.type(op.operands[0]).shape;
  std::int64_t row = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    const bool is_reduced = contains(reduced, static_cast<std::int64_t>(d));
    if (shape[d] == 1) continue;
    if (!is_reduced) break;
    row *= shape[d];
  }
  return {{op.operands[0], row}};
}

}  // namespace

const OpDefinition kReduceOp{
    .name = "stablehlo.reduce",
    .summary = "Elements of some dimensions combined by a function of scalars.",
    .infer = infer,
    .evaluate = evaluate,
    .lowerings = {ExpandLowering{expand, takes}, StepLowering{lower_reduce, votes}},
    .traits = {.operands = OperandTypes::any_number_of(kAnyDType),
               .regions = 1,
               .is_reduction = true},
    .syntax = {.parse = parse},
    .attributes = "dimensions",
};

}  // namespace superstep
