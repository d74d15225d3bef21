#include "tests/generated/program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <complex>

#include "compiler/ops/elements.h"
#include "compiler/ops/op.h"
#include "tests/generated/random_program.h"
#include "tests/generated/propose.h"

namespace superstep {
namespace {

constexpr std::size_t kMostOps = 12;

std::vector<ValueId> choose_results(RandomProgram& builder) {
  const Graph& graph = builder.graph();
  Random& random = builder.random;
  std::vector<bool> used(graph.values().size());
  for (const Op& op : graph.ops()) {
    for (const ValueId operand : op.operands) used[index(operand)] = true;
  }
  std::vector<ValueId> results;
  for (std::uint32_t v = 0; v < used.size(); ++v) {
    const bool is_sink = !used[v] && graph.values()[v].producer;
    if (is_sink || random.chance(graph.values()[v].producer ? 10 : 4)) {
      results.push_back(ValueId{v});
    }
  }
  if (results.empty()) results.push_back(ValueId{0});
  if (random.chance(5)) results.push_back(random.pick(results));
  return results;
}

/// Some arguments give their storage to a result of the same type, as donated ones do.
std::vector<std::optional<std::uint32_t>> choose_aliases(Random& random, const Graph& graph) {
  std::vector<bool> taken(graph.results().size());
  std::vector<std::optional<std::uint32_t>> alias(graph.arguments().size());
  for (std::size_t a = 0; a < alias.size(); ++a) {
    for (std::uint32_t r = 0; r < taken.size() && !alias[a]; ++r) {
      const bool fits = graph.type(graph.arguments()[a]) == graph.type(graph.results()[r]);
      if (fits && !taken[r] && random.chance(30)) {
        alias[a] = r;
        taken[r] = true;
      }
    }
  }
  return alias;
}

std::string attribute_text(const Attribute& attribute) {
  struct Printer {
    std::string operator()(bool value) const { return value ? "true" : "false"; }
    std::string operator()(std::int64_t value) const { return std::to_string(value); }
    std::string operator()(double value) const { return fmt::format("{}", value); }
    std::string operator()(const std::string& value) const { return value; }
    std::string operator()(const std::vector<std::int64_t>& values) const {
      return fmt::format("[{}]", fmt::join(values, ", "));
    }
    std::string operator()(const std::vector<std::string>& values) const {
      return fmt::format("[{}]", fmt::join(values, ", "));
    }
    std::string operator()(const SharedTensor& shared) const {
      const HostTensor& tensor = shared.get();
      constexpr std::size_t kShown = 8;
      const auto elements = static_cast<std::size_t>(tensor.type.elements());
      std::vector<std::string> shown;
      for (std::size_t i = 0; i < std::min(elements, kShown); ++i) {
        shown.push_back(element_text(tensor, i));
      }
      return fmt::format("dense<{}{}>", fmt::join(shown, ", "), elements > kShown ? ", …" : "");
    }
  };
  return std::visit(Printer{}, attribute);
}

std::string names_of(const std::vector<ValueId>& values, std::string_view prefix) {
  std::vector<std::string> names;
  for (const ValueId value : values) names.push_back(fmt::format("{}{}", prefix, index(value)));
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string types_of(const Graph& graph, const std::vector<ValueId>& values) {
  std::vector<std::string> types;
  for (const ValueId value : values) types.push_back(graph.type(value).text());
  return fmt::format("{}", fmt::join(types, ", "));
}

std::string body_text(const Graph& graph, const std::string& indent, const std::string& prefix) {
  std::string out;
  for (const Op& op : graph.ops()) {
    out += fmt::format("{}{} = {}({})", indent, names_of(op.results, prefix), op.definition->name,
                       names_of(op.operands, prefix));
    for (const auto& [name, value] : op.attributes) {
      out += fmt::format(" {} = {}", name, attribute_text(value));
    }
    out +=
        fmt::format(" : ({}) -> {}\n", types_of(graph, op.operands), types_of(graph, op.results));
    for (const Graph& region : op.regions) out += body_text(region, indent + "    ", prefix + "r");
  }
  return out + fmt::format("{}return {}\n", indent, names_of(graph.results(), prefix));
}

}  // namespace

Program generate_program(std::uint64_t seed) {
  RandomProgram builder(seed);
  const std::size_t ops = 1 + builder.random.below(kMostOps);
  std::size_t made = 0;
  for (std::size_t attempt = 0; made < ops && attempt < 4 * kMostOps; ++attempt) {
    if (propose_op(builder)) ++made;
  }
  Graph graph = builder.graph();
  graph.set_results(choose_results(builder));
  auto alias = choose_aliases(builder.random, graph);
  return {Module{fmt::format("generated_{}", seed), std::move(graph), std::move(alias)},
          builder.arguments(), builder.values()};
}

Program only_result(const Program& program, ValueId result) {
  const Graph& from = program.module.main;
  std::vector<bool> needed(from.values().size());
  needed[index(result)] = true;
  for (std::size_t i = from.ops().size(); i-- > 0;) {
    const Op& op = from.ops()[i];
    const bool needs = std::ranges::any_of(op.results, [&](ValueId v) { return needed[index(v)]; });
    for (const ValueId operand : op.operands) {
      if (needs) needed[index(operand)] = true;
    }
  }
  Program small;
  small.module.name = program.module.name;
  Graph& to = small.module.main;
  std::vector<ValueId> renamed(needed.size());
  const auto keep = [&](ValueId old, ValueId now) {
    renamed[index(old)] = now;
    small.values.push_back(program.values[index(old)]);
  };
  std::uint32_t next_argument = 0, next_op = 0;
  for (std::uint32_t v = 0; v < needed.size(); ++v) {
    if (!from.values()[v].producer) {
      const std::uint32_t argument = next_argument++;
      if (!needed[v]) continue;
      keep(ValueId{v}, to.add_argument(from.values()[v].type, from.values()[v].name));
      small.arguments.push_back(program.arguments[argument]);
      continue;
    }
    if (*from.values()[v].producer < next_op) continue;
    Op op = from.ops()[next_op++];
    if (std::ranges::none_of(op.results, [&](ValueId r) { return needed[index(r)]; })) continue;
    for (ValueId& operand : op.operands) operand = renamed[index(operand)];
    const std::vector<ValueId> old = op.results;
    const std::vector<ValueId> now = to.add_op(std::move(op)).results;
    for (std::size_t i = 0; i < old.size(); ++i) keep(old[i], now[i]);
  }
  to.set_results({renamed[index(result)]});
  small.module.argument_alias.resize(small.arguments.size());
  return small;
}

std::string text_of(const Module& module) {
  std::string out = fmt::format("{}({}: {})", module.name, names_of(module.main.arguments(), "%"),
                                types_of(module.main, module.main.arguments()));
  for (std::size_t a = 0; a < module.argument_alias.size(); ++a) {
    if (module.argument_alias[a]) {
      out += fmt::format(" arg{} -> result{}", a, *module.argument_alias[a]);
    }
  }
  return out + "\n" + body_text(module.main, "  ", "%");
}

std::string element_text(const HostTensor& tensor, std::size_t element) {
  if (is_complex(tensor.type.dtype)) {
    const std::complex<double> value = read_complex(tensor, element);
    return fmt::format("({}, {})", value.real(), value.imag());
  }
  if (!is_float(tensor.type.dtype)) return std::to_string(read_int(tensor, element));
  return fmt::format("{:g} (0x{:x})", read_float(tensor, element), read_bits(tensor, element));
}

}  // namespace superstep
