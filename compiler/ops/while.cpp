#include <fmt/format.h>

#include "compiler/import/parser.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/step_lowerings.h"
#include "compiler/ops/verify.h"

namespace superstep {
namespace {

/// Operands are the carried values, then what the regions use of outside; both regions take all of
/// them. Results are the carried values.
std::vector<TensorType> infer(const Op& op, std::span<const TensorType> operands) {
  const Graph &condition = op.regions[0], &body = op.regions[1];
  for (const Graph* region : {&condition, &body}) {
    const std::string_view name = region == &body ? "body" : "condition";
    if (region->arguments().size() != operands.size()) {
      malformed(op, fmt::format("the {} has {} arguments, expected {}", name,
                                region->arguments().size(), operands.size()));
    }
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const TensorType& type = region->type(region->arguments()[i]);
      if (type == operands[i]) continue;
      malformed(op, fmt::format("argument {} of the {} is {}, but the operand is {}", i, name,
                                type.text(), operands[i].text()));
    }
  }
  const TensorType predicate{DType::kI1, {}};
  if (condition.results().size() != 1 || condition.type(condition.results()[0]) != predicate) {
    malformed(op, "the condition does not return one tensor<i1>");
  }
  if (body.results().size() > operands.size()) {
    malformed(op, fmt::format("the body returns {} values, but {} are carried",
                              body.results().size(), operands.size()));
  }
  std::vector<TensorType> results;
  for (std::size_t i = 0; i < body.results().size(); ++i) {
    const TensorType& type = body.type(body.results()[i]);
    if (type != operands[i]) {
      malformed(op, fmt::format("the body returns {} as value {}, but {} is carried", type.text(),
                                i, operands[i].text()));
    }
    results.push_back(type);
  }
  return results;
}

std::vector<HostTensor> evaluate(const Op& op, std::span<const HostTensor> operands) {
  std::vector<HostTensor> values(operands.begin(), operands.end());
  while (superstep::evaluate(op.regions[0], values)[0].get<std::uint8_t>(0) != 0) {
    std::vector<HostTensor> next = superstep::evaluate(op.regions[1], values);
    std::ranges::move(next, values.begin());
  }
  values.resize(op.results.size());
  return values;
}

std::vector<Vote> votes(const Op&, const Graph&) { return {}; }

// `while(%x = %a, %y = %b) : types attributes {…} cond {…} do {…}`
void parse(import::Parser& parser, import::SyntaxOp& op, int depth) {
  import::SyntaxBlock carried;
  parser.expect('(', "in front of the carried values");
  if (!parser.accept(')')) {
    do {
      import::SyntaxArgument& argument = carried.arguments.emplace_back();
      argument.offset = parser.token().offset;
      argument.name = parser.parse_value().name;
      parser.expect('=', "behind a carried value");
      op.operands.push_back(parser.parse_value());
    } while (parser.accept(','));
    parser.expect(')', "behind the carried values");
    if (const auto types = parser.parse_listed_types(op)) op.operand_types = *types;
    op.result_types = op.operand_types;
    if (op.operand_types.size() != op.operands.size()) {
      throw import::SyntaxError{op.offset,
                                fmt::format("{} values are carried, but {} types are given",
                                            op.operands.size(), op.operand_types.size())};
    }
    for (std::size_t i = 0; i < carried.arguments.size(); ++i) {
      carried.arguments[i].type = op.operand_types[i];
    }
  }
  if (parser.accept_word("attributes")) parser.add_optional_dictionary(op);
  for (const std::string_view word : {"cond", "do"}) {
    if (!parser.accept_word(word)) {
      parser.fail(fmt::format("expected `{} {{…}}`, found {}", word, parser.found()));
    }
    parser.expect('{', fmt::format("behind `{}`", word));
    import::SyntaxBlock block = carried;
    parser.parse_block(block, depth + 1);
    op.regions.push_back(std::move(block));
    parser.expect('}', "at the end of a region of a loop");
  }
}

}  // namespace

const OpDefinition kWhileOp{
    .name = "stablehlo.while",
    .summary = "Carried values that a body replaces as long as a condition holds for them.",
    .infer = infer,
    .evaluate = evaluate,
    .lowerings = {StepLowering{.lower = lower_while, .votes = votes}},
    .traits = {.operands = OperandTypes::any_number_of(kAnyDType),
               .regions = 2,
               .control = Control::kLoop},
    .syntax = {.parse = parse},
};

}  // namespace superstep
