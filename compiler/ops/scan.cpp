#include <algorithm>
#include <fmt/format.h>

#include "compiler/import/parser.h"
#include "compiler/ops/elements.h"
#include "compiler/ops/graph_builder.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/verify.h"

namespace superstep {
namespace {

constexpr const char* kSegments = "operandSegmentSizes";

/// Operands are the inputs, then what is carried from place to place; the region takes one slice of
/// each input and the carried values, and gives a slice of each output and the next carried values.
struct Scan {
  std::size_t inputs, carried, outputs;
  std::size_t dimension = 0;
  std::int64_t places = 0;
  bool is_reverse = false;

  Scan(const Op& op, std::span<const TensorType> operands) {
    const Indices& segments = index_list(op, kSegments, 2);
    if (segments[0] < 1 || segments[1] < 0 ||
        segments[0] + segments[1] != static_cast<std::int64_t>(operands.size())) {
      malformed(op, fmt::format("{} are {} and {} of {} operands", kSegments, segments[0],
                                segments[1], operands.size()));
    }
    inputs = static_cast<std::size_t>(segments[0]);
    carried = static_cast<std::size_t>(segments[1]);
    const std::size_t results = op.regions[0].results().size();
    if (results < carried) {
      malformed(
          op, fmt::format("the function returns {} values, but {} are carried", results, carried));
    }
    outputs = results - carried;
    dimension = superstep::dimension(op, "dimension", operands[0].shape.size());
    places = operands[0].shape[dimension];
    if (const auto at = op.attributes.find("is_reverse"); at != op.attributes.end()) {
      is_reverse = attribute<bool>(op, "is_reverse");
    }
  }

  /// A tensor of one place, of all of them.
  [[nodiscard]] TensorType without_places(TensorType type) const {
    type.shape.erase(type.shape.begin() + static_cast<std::ptrdiff_t>(dimension));
    return type;
  }
  [[nodiscard]] TensorType with_places(TensorType type) const {
    type.shape.insert(type.shape.begin() + static_cast<std::ptrdiff_t>(dimension), places);
    return type;
  }
  [[nodiscard]] Shape of_one(Shape shape) const {
    shape[dimension] = 1;
    return shape;
  }
};

void check_arguments(const Op& op, const Scan& scan, std::span<const TensorType> operands) {
  const Graph& region = op.regions[0];
  if (region.arguments().size() != operands.size()) {
    malformed(op, fmt::format("the function has {} arguments, expected {}",
                              region.arguments().size(), operands.size()));
  }
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const bool is_input = i < scan.inputs;
    if (is_input && (operands[i].shape.size() <= scan.dimension ||
                     operands[i].shape[scan.dimension] != scan.places)) {
      malformed(op, fmt::format("input {} is {}, expected {} places in dimension {}", i,
                                operands[i].text(), scan.places, scan.dimension));
    }
    const TensorType expected = is_input ? scan.without_places(operands[i]) : operands[i];
    const TensorType& found = region.type(region.arguments()[i]);
    if (found == expected) continue;
    malformed(op, fmt::format("argument {} of the function is {}, expected {}", i, found.text(),
                              expected.text()));
  }
}

std::vector<TensorType> infer(const Op& op, std::span<const TensorType> operands) {
  const Scan scan(op, operands);
  check_arguments(op, scan, operands);
  const Graph& region = op.regions[0];
  std::vector<TensorType> results;
  for (std::size_t i = 0; i < region.results().size(); ++i) {
    const TensorType& type = region.type(region.results()[i]);
    if (i < scan.outputs) {
      if (type.shape.size() < scan.dimension) {
        malformed(op, fmt::format("the function returns {}, which has no place for dimension {}",
                                  type.text(), scan.dimension));
      }
      results.push_back(scan.with_places(type));
      continue;
    }
    const TensorType& carried = operands[scan.inputs + i - scan.outputs];
    if (type != carried) {
      malformed(op, fmt::format("the function returns {}, but {} is carried", type.text(),
                                carried.text()));
    }
    results.push_back(type);
  }
  return results;
}

std::vector<TensorType> types_of(std::span<const HostTensor> tensors) {
  std::vector<TensorType> types;
  for (const HostTensor& tensor : tensors) types.push_back(tensor.type);
  return types;
}

/// Visits the elements of one place: the number of each in the whole and in the slice.
template <class Visit>
void for_each_of_place(const Scan& scan, const Shape& whole, std::int64_t place,
                       const Visit& visit) {
  Indices start(whole.size());
  start[scan.dimension] = place;
  for_each_of_window(whole, scan.of_one(whole), start, visit);
}

std::vector<HostTensor> evaluate(const Op& op, std::span<const HostTensor> operands) {
  const std::vector<TensorType> types = types_of(operands);
  const Scan scan(op, types);
  std::vector<HostTensor> results;
  for (const TensorType& type : infer(op, types)) results.emplace_back(type);
  std::copy(operands.begin() + static_cast<std::ptrdiff_t>(scan.inputs), operands.end(),
            results.begin() + static_cast<std::ptrdiff_t>(scan.outputs));
  for (std::int64_t turn = 0; turn < scan.places; ++turn) {
    const std::int64_t place = scan.is_reverse ? scan.places - 1 - turn : turn;
    std::vector<HostTensor> arguments;
    for (std::size_t i = 0; i < scan.inputs; ++i) {
      HostTensor& slice = arguments.emplace_back(scan.without_places(operands[i].type));
      for_each_of_place(scan, operands[i].type.shape, place, [&](std::size_t from, std::size_t to) {
        copy_element(slice, to, operands[i], from);
      });
    }
    arguments.insert(arguments.end(), results.begin() + static_cast<std::ptrdiff_t>(scan.outputs),
                     results.end());
    std::vector<HostTensor> next = superstep::evaluate(op.regions[0], arguments);
    for (std::size_t i = 0; i < scan.outputs; ++i) {
      for_each_of_place(scan, results[i].type.shape, place, [&](std::size_t to, std::size_t from) {
        copy_element(results[i], to, next[i], from);
      });
    }
    std::move(next.begin() + static_cast<std::ptrdiff_t>(scan.outputs), next.end(),
              results.begin() + static_cast<std::ptrdiff_t>(scan.outputs));
  }
  return results;
}

/// A counted loop of inputs, outputs and carried values, which takes and replaces slices.
std::vector<Tensor> expand(GraphBuilder& builder, const Op& op, std::span<const Tensor> operands) {
  std::vector<TensorType> types;
  for (const Tensor& operand : operands) types.push_back(operand.type());
  const Scan scan(op, types);
  const std::vector<TensorType> result_types = infer(op, types);
  std::vector<Tensor> values(operands.begin(), operands.end());
  for (std::size_t i = 0; i < scan.outputs; ++i) {
    const Tensor zero = builder.number(result_types[i].dtype, 0);
    values.push_back(broadcast(zero, result_types[i].shape, {}));
  }
  const std::size_t first_output = operands.size();
  if (scan.places == 0) {
    std::vector<Tensor> results(values.begin() + static_cast<std::ptrdiff_t>(first_output),
                                values.end());
    results.insert(results.end(), operands.begin() + static_cast<std::ptrdiff_t>(scan.inputs),
                   operands.end());
    return results;
  }
  const auto step = [&](Tensor turn, std::span<const Tensor> before) {
    GraphBuilder& inner = *turn.builder;
    const Tensor last = turn.like(static_cast<double>(scan.places - 1));
    const Tensor place = scan.is_reverse ? last - turn : turn;
    const auto start = [&](const Shape& shape) {
      std::vector<Tensor> start(shape.size(), turn.like(0));
      start[scan.dimension] = place;
      return start;
    };
    std::vector<Tensor> arguments;
    for (std::size_t i = 0; i < scan.inputs; ++i) {
      const Shape& shape = types[i].shape;
      const Tensor slice = dynamic_window(before[i], start(shape), scan.of_one(shape));
      arguments.push_back(reshape(slice, scan.without_places(types[i]).shape));
    }
    for (std::size_t i = scan.inputs; i < first_output; ++i) arguments.push_back(before[i]);
    const std::vector<Tensor> made = inner.append_graph(op.regions[0], arguments);
    std::vector<Tensor> after(before.begin(),
                              before.begin() + static_cast<std::ptrdiff_t>(scan.inputs));
    after.insert(after.end(), made.begin() + static_cast<std::ptrdiff_t>(scan.outputs), made.end());
    for (std::size_t i = 0; i < scan.outputs; ++i) {
      const Shape& shape = result_types[i].shape;
      std::vector<Tensor> update = {before[first_output + i], reshape(made[i], scan.of_one(shape))};
      for (const Tensor& at : start(shape)) update.push_back(at);
      after.push_back(inner.append(kDynamicUpdateSliceOp, update)[0]);
    }
    return after;
  };
  const std::vector<Tensor> last = repeat_counted(scan.places, values, step);
  std::vector<Tensor> results(last.begin() + static_cast<std::ptrdiff_t>(first_output), last.end());
  results.insert(results.end(), last.begin() + static_cast<std::ptrdiff_t>(scan.inputs),
                 last.begin() + static_cast<std::ptrdiff_t>(first_output));
  return results;
}

std::vector<import::ValueUse> parse_values(import::Parser& parser) {
  std::vector<import::ValueUse> values;
  parser.expect('(', "in front of values");
  if (parser.accept(')')) return values;
  do {
    values.push_back(parser.parse_value());
  } while (parser.accept(','));
  parser.expect(')', "behind values");
  return values;
}

// `(%x, %y) inits(%a) dimension=0 attributes {…} {…} : types -> types`
void parse(import::Parser& parser, import::SyntaxOp& op, int depth) {
  op.operands = parse_values(parser);
  const auto inputs = static_cast<std::int64_t>(op.operands.size());
  if (!parser.accept_word("inits")) parser.fail("expected `inits`, found " + parser.found());
  const std::vector<import::ValueUse> carried = parse_values(parser);
  op.operands.insert(op.operands.end(), carried.begin(), carried.end());
  if (!parser.accept_word("dimension")) {
    parser.fail("expected `dimension`, found " + parser.found());
  }
  parser.expect('=', "behind `dimension`");
  op.attributes.insert_or_assign("dimension", parser.expect_integer("a dimension"));
  op.attributes.insert_or_assign(kSegments,
                                 Indices{inputs, static_cast<std::int64_t>(carried.size())});
  if (parser.accept_word("attributes")) parser.add_optional_dictionary(op);
  parser.expect('{', "in front of the function");
  parser.parse_block(op.regions.emplace_back(), depth + 1);
  parser.expect('}', "behind the function");
  parser.parse_function_type(op);
}

}  // namespace

const OpDefinition kScanOp{
    .name = "chlo.scan",
    .summary =
        "What a function makes of each place of a dimension and what it gave for the one "
        "before, and what it gave last.",
    .infer = infer,
    .evaluate = evaluate,
    .lowerings = {ExpandLowering{expand}},
    .traits = {.operands = OperandTypes{kAnyDType}.then_any_number_of(kAnyDType),
               .regions = 1,
               .is_shorthand = true},
    .syntax = {.parse = parse},
    .attributes =
        "dimension is_reverse is_associative scan_dim_size operandSegmentSizes resultSegmentSizes",
};

}  // namespace superstep
