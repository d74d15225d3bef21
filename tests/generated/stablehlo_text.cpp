#include "tests/generated/stablehlo_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "base/overloaded.h"
#include "compiler/ops/elements.h"
#include "compiler/ops/op.h"

namespace superstep {
namespace {

/// Attributes that StableHLO has as one.
struct Structure {
  std::string_view op, attribute, type;
  std::vector<std::string_view> fields;
};

const std::array kStructures{
    Structure{"stablehlo.dot_general",
              "dot_dimension_numbers",
              "dot",
              {"lhs_batching_dimensions", "rhs_batching_dimensions", "lhs_contracting_dimensions",
               "rhs_contracting_dimensions"}},
    Structure{"stablehlo.gather",
              "dimension_numbers",
              "gather",
              {"offset_dims", "collapsed_slice_dims", "operand_batching_dims",
               "start_indices_batching_dims", "start_index_map", "index_vector_dim"}},
    Structure{
        "stablehlo.scatter",
        "scatter_dimension_numbers",
        "scatter",
        {"update_window_dims", "inserted_window_dims", "input_batching_dims",
         "scatter_indices_batching_dims", "scatter_dims_to_operand_dims", "index_vector_dim"}}};

/// `tensor` from its dimension `d` on; floats by their bits.
std::string elements_text(const HostTensor& tensor, std::size_t d, std::size_t& next) {
  const TensorType& type = tensor.type;
  if (d < type.shape.size()) {
    std::vector<std::string> parts;
    for (std::int64_t i = 0; i < type.shape[d]; ++i) {
      parts.push_back(elements_text(tensor, d + 1, next));
    }
    return fmt::format("[{}]", fmt::join(parts, ", "));
  }
  const std::size_t i = next++;
  if (type.dtype == DType::kI1) return read_bits(tensor, i) != 0 ? "true" : "false";
  if (!is_float(type.dtype)) return std::to_string(read_int(tensor, i));
  return fmt::format("0x{:0{}X}", read_bits(tensor, i), 2 * size_of(type.dtype));
}

std::string dense(const HostTensor& tensor) {
  std::size_t next = 0;
  const bool is_empty = tensor.type.elements() == 0;
  return fmt::format("dense<{}> : {}", is_empty ? "" : elements_text(tensor, 0, next),
                     tensor.type.text());
}

class Printer {
 public:
  std::string print(const Module& module) {
    const Graph& graph = module.main;
    std::vector<std::string> names(graph.values().size()), arguments;
    for (std::size_t a = 0; a < graph.arguments().size(); ++a) {
      const ValueId argument = graph.arguments()[a];
      names[index(argument)] = fmt::format("%arg{}", a);
      const auto alias = module.argument_alias[a];
      arguments.push_back(
          fmt::format("%arg{}: {}{}", a, graph.type(argument).text(),
                      alias ? fmt::format(" {{tf.aliasing_output = {} : i32}}", *alias) : ""));
    }
    out_ = fmt::format("func.func public @main({}) -> ({}) {{\n", fmt::join(arguments, ", "),
                       types(graph, graph.results()));
    block(graph, std::move(names), "func.return", "  ");
    return out_ + "}\n";
  }

 private:
  static std::string types(const Graph& graph, const std::vector<ValueId>& values) {
    std::vector<std::string> texts;
    for (const ValueId value : values) texts.push_back(graph.type(value).text());
    return fmt::format("{}", fmt::join(texts, ", "));
  }

  static std::string names_of(const std::vector<std::string>& names,
                              const std::vector<ValueId>& values) {
    std::vector<std::string> texts;
    for (const ValueId value : values) texts.push_back(names[index(value)]);
    return fmt::format("{}", fmt::join(texts, ", "));
  }

  /// Ops and what ends them; `names` has those of the arguments.
  void block(const Graph& graph, std::vector<std::string> names, std::string_view end,
             const std::string& indent) {
    for (const Op& op : graph.ops()) {
      const std::string name = fmt::format("%{}", next_++);
      for (std::size_t i = 0; i < op.results.size(); ++i) {
        names[index(op.results[i])] = op.results.size() == 1 ? name : fmt::format("{}#{}", name, i);
      }
      out_ += indent + name;
      if (op.results.size() > 1) out_ += fmt::format(":{}", op.results.size());
      print(graph, op, names, indent);
    }
    out_ += fmt::format("{}\"{}\"({}) : ({}) -> ()\n", indent, end,
                        names_of(names, graph.results()), types(graph, graph.results()));
  }

  void print(const Graph& graph, const Op& op, const std::vector<std::string>& names,
             const std::string& indent) {
    // What regions use of outside is not among the operands of the text.
    const Control control = op.definition->traits.control;
    std::vector<ValueId> operands = op.operands;
    if (control == Control::kLoop) operands.resize(op.results.size());
    if (control == Control::kBranch) operands.resize(1);
    out_ += fmt::format(" = \"{}\"({}){}", op.definition->name, names_of(names, operands),
                        attributes(op));
    for (std::size_t r = 0; r < op.regions.size(); ++r) {
      const Graph& region = op.regions[r];
      out_ += r == 0 ? " ({\n" : ", {\n";
      std::vector<std::string> inside(region.values().size()), arguments;
      const std::size_t first = control == Control::kBranch ? 1 : 0;
      for (std::size_t a = 0; a < region.arguments().size(); ++a) {
        std::string& name = inside[index(region.arguments()[a])];
        const bool is_captured =
            control == Control::kBranch || (control == Control::kLoop && a >= op.results.size());
        if (is_captured) {
          name = names[index(op.operands[first + a])];
        } else {
          name = fmt::format("%{}", next_++);
          arguments.push_back(
              fmt::format("{}: {}", name, region.type(region.arguments()[a]).text()));
        }
      }
      if (!arguments.empty()) {
        out_ += fmt::format("{}^bb0({}):\n", indent, fmt::join(arguments, ", "));
      }
      block(region, std::move(inside), "stablehlo.return", indent + "  ");
      out_ += indent + "}";
    }
    if (!op.regions.empty()) out_ += ")";
    out_ += fmt::format(" : ({}) -> ({})\n", types(graph, operands), types(graph, op.results));
  }

  static std::string attribute(std::string_view name, const Attribute& value) {
    return std::visit(Overloaded{[](bool b) { return fmt::format("{}", b); },
                                 [](std::int64_t n) { return fmt::format("{} : i64", n); },
                                 [](double x) { return fmt::format("{} : f64", x); },
                                 [&](const std::string& text) {
                                   const std::string_view type =
                                       name == "compare_type" ? "comparison_type" : name;
                                   return fmt::format("#stablehlo<{} {}>", type, text);
                                 },
                                 [](const std::vector<std::int64_t>& list) {
                                   return fmt::format("array<i64{}{}>", list.empty() ? "" : ": ",
                                                      fmt::join(list, ", "));
                                 },
                                 [](const std::vector<std::string>& list) {
                                   return fmt::format("[{}]", fmt::join(list, ", "));
                                 },
                                 [](const SharedTensor& tensor) { return dense(tensor.get()); }},
                      value);
  }

  static std::string attributes(const Op& op) {
    const auto structure = std::ranges::find(kStructures, op.definition->name, &Structure::op);
    std::vector<std::string> texts, fields;
    for (const auto& [name, value] : op.attributes) {
      const bool is_field = structure != kStructures.end() &&
                            std::ranges::find(structure->fields, name) != structure->fields.end();
      if (!is_field) {
        texts.push_back(fmt::format("{} = {}", name, attribute(name, value)));
      } else if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value)) {
        fields.push_back(fmt::format("{} = [{}]", name, fmt::join(*list, ", ")));
      } else {
        fields.push_back(fmt::format("{} = {}", name, std::get<std::int64_t>(value)));
      }
    }
    if (structure != kStructures.end()) {
      texts.push_back(fmt::format("{} = #stablehlo.{}<{}>", structure->attribute, structure->type,
                                  fmt::join(fields, ", ")));
    }
    return texts.empty() ? "" : fmt::format(" <{{{}}}>", fmt::join(texts, ", "));
  }

  std::string out_;
  std::size_t next_ = 0;
};

}  // namespace

std::string stablehlo_text(const Module& module) { return Printer().print(module); }

}  // namespace superstep
