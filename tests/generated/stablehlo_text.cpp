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
    Structure{"chlo.ragged_dot",
              "ragged_dot_dimension_numbers",
              "chlo.ragged_dot",
              {"lhs_batching_dimensions", "rhs_batching_dimensions", "lhs_contracting_dimensions",
               "rhs_contracting_dimensions", "lhs_ragged_dimensions", "rhs_group_dimensions"}},
    Structure{"stablehlo.dot_general",
              "dot_dimension_numbers",
              "stablehlo.dot",
              {"lhs_batching_dimensions", "rhs_batching_dimensions", "lhs_contracting_dimensions",
               "rhs_contracting_dimensions"}},
    Structure{"stablehlo.gather",
              "dimension_numbers",
              "stablehlo.gather",
              {"offset_dims", "collapsed_slice_dims", "operand_batching_dims",
               "start_indices_batching_dims", "start_index_map", "index_vector_dim"}},
    Structure{
        "stablehlo.scatter",
        "scatter_dimension_numbers",
        "stablehlo.scatter",
        {"update_window_dims", "inserted_window_dims", "input_batching_dims",
         "scatter_indices_batching_dims", "scatter_dims_to_operand_dims", "index_vector_dim"}}};

/// How an attribute is written that is not as most of its kind are.
enum class Form : std::uint8_t {
  kUsual,
  kShort,  ///< of 32 bits
  kText,   ///< in quotation marks
  kAsItIs,
  kConvolution,  ///< dimensions
  kTable,        ///< rows
  kBooleans,
  kEnumeration,  ///< of a type with another name
};
struct Special {
  std::string_view name;
  Form form;
  std::string_view type = {};
  std::int64_t columns = 0;
};
constexpr std::array kSpecial = {
    Special{"backend_config", Form::kText},
    Special{"call_target_name", Form::kText},
    Special{"compare_type", Form::kEnumeration, "comparison_type"},
    Special{"dimension_numbers", Form::kConvolution},
    Special{"einsum_config", Form::kText},
    Special{"exponent_bits", Form::kShort},
    Special{"mantissa_bits", Form::kShort},
    Special{"mhlo.backend_config", Form::kAsItIs},
    Special{"padding", Form::kTable, {}, 2},
    Special{"replica_groups", Form::kTable, {}, 1},
    Special{"source_target_pairs", Form::kTable, {}, 2},
    Special{"transpose_a", Form::kEnumeration, "transpose"},
    Special{"window_reversal", Form::kBooleans},
};

/// A float by its bits.
std::string hexadecimal(const HostTensor& tensor, std::size_t i) {
  return fmt::format("0x{:0{}X}", read_bits(tensor, i), 2 * size_of(tensor.type.dtype));
}

/// `tensor` from its dimension `d` on.
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
  if (is_complex(type.dtype)) {
    HostTensor parts = tensor;
    parts.type = {real_of(type.dtype), {2 * type.elements()}};
    return fmt::format("({}, {})", hexadecimal(parts, 2 * i), hexadecimal(parts, 2 * i + 1));
  }
  if (is_float(type.dtype)) return hexadecimal(tensor, i);
  if (type.dtype == DType::kU64) return std::to_string(read_bits(tensor, i));
  return std::to_string(read_int(tensor, i));
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
                        attributes(op, false));
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
    out_ += fmt::format("{} : ({}) -> ({})\n", attributes(op, true), types(graph, operands),
                        types(graph, op.results));
  }

  static std::string attribute(std::string_view name, const Attribute& value) {
    const auto special = std::ranges::find(kSpecial, name, &Special::name);
    const Form form = special == kSpecial.end() ? Form::kUsual : special->form;
    return std::visit(
        Overloaded{[](bool b) { return fmt::format("{}", b); },
                   [&](std::int64_t n) {
                     return fmt::format("{} : {}", n, form == Form::kShort ? "i32" : "i64");
                   },
                   [](double x) { return fmt::format("{:e} : f32", x); },
                   [&](const std::string& text) {
                     switch (form) {
                       case Form::kText:
                         return fmt::format("\"{}\"", text);
                       case Form::kAsItIs:
                         return text;
                       case Form::kConvolution:
                         return fmt::format("#stablehlo.conv<{}>", text);
                       default:
                         return fmt::format("#stablehlo<{} {}>",
                                            special == kSpecial.end() ? name : special->type, text);
                     }
                   },
                   [&](const std::vector<std::int64_t>& list) {
                     if (form == Form::kTable) return table(list, special->columns);
                     return fmt::format("array<{}{}{}>", form == Form::kBooleans ? "i1" : "i64",
                                        list.empty() ? "" : ": ",
                                        form == Form::kBooleans
                                            ? fmt::format("{}", fmt::join(booleans(list), ", "))
                                            : fmt::format("{}", fmt::join(list, ", ")));
                   },
                   [](const std::vector<std::string>& list) {
                     return fmt::format("[{}]", fmt::join(list, ", "));
                   },
                   [](const SharedTensor& tensor) { return dense(tensor.get()); }},
        value);
  }

  static std::vector<std::string_view> booleans(const std::vector<std::int64_t>& list) {
    std::vector<std::string_view> words;
    for (const std::int64_t number : list) words.emplace_back(number != 0 ? "true" : "false");
    return words;
  }

  /// Rows of so many numbers.
  static std::string table(const std::vector<std::int64_t>& list, std::int64_t columns) {
    HostTensor tensor({DType::kI64, {static_cast<std::int64_t>(list.size()) / columns, columns}});
    for (std::size_t i = 0; i < list.size(); ++i) tensor.set(i, list[i]);
    return dense(tensor);
  }

  /// Those of the op itself, or those that others add to it, whose names have a point.
  static std::string attributes(const Op& op, bool are_of_others) {
    const auto structure = std::ranges::find(kStructures, op.definition->name, &Structure::op);
    std::vector<std::string> texts, fields;
    for (const auto& [name, value] : op.attributes) {
      if ((name.find('.') != std::string::npos) != are_of_others) continue;
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
    if (structure != kStructures.end() && !are_of_others) {
      texts.push_back(fmt::format("{} = #{}<{}>", structure->attribute, structure->type,
                                  fmt::join(fields, ", ")));
    }
    if (texts.empty()) return "";
    const std::string all = fmt::format("{{{}}}", fmt::join(texts, ", "));
    return are_of_others ? " " + all : " <" + all + ">";
  }

  std::string out_;
  std::size_t next_ = 0;
};

}  // namespace

std::string stablehlo_text(const Module& module) { return Printer().print(module); }

}  // namespace superstep
