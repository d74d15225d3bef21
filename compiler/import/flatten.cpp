#include "compiler/import/flatten.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "compiler/ops/op.h"

namespace superstep::import {
namespace {

constexpr std::string_view kTuple = "stablehlo.tuple", kElement = "stablehlo.get_tuple_element";
constexpr std::array kFlattened = {kTuple, kElement, std::string_view("stablehlo.after_all"),
                                   std::string_view("stablehlo.create_token")};

using Uses = std::vector<ValueUse>;
/// By name and number, what a value became; of others nothing changes.
using Names = std::map<std::string_view, std::vector<Uses>>;

void add_leaves(const TypeUse& type, std::vector<TypeUse>& leaves) {
  if (!type.is_group) return leaves.push_back(type);
  for (const TypeUse& part : type.parts) add_leaves(part, leaves);
}

std::vector<TypeUse> leaves_of(const std::vector<TypeUse>& types) {
  std::vector<TypeUse> leaves;
  for (const TypeUse& type : types) add_leaves(type, leaves);
  return leaves;
}

bool has_groups(const std::vector<TypeUse>& types) {
  return std::ranges::any_of(types, &TypeUse::is_group);
}

class Flattening {
 public:
  Flattening(SyntaxModule& module, std::vector<SyntaxError>& problems)
      : module_(module), problems_(problems) {}

  void run() {
    for (SyntaxFunction& function : module_.functions) {
      if (function.broken) continue;
      unknown_.clear();
      move_aliases(function);
      function.results = leaves_of(function.results);
      visit(function.body, {});
    }
  }

 private:
  /// Results have other numbers where those before them are more than one, or none.
  static void move_aliases(SyntaxFunction& function) {
    std::vector<std::int64_t> first = {0};
    for (const TypeUse& result : function.results) {
      first.push_back(first.back() + static_cast<std::int64_t>(leaves_of({result}).size()));
    }
    for (SyntaxArgument& argument : function.body.arguments) {
      const auto count = static_cast<std::int64_t>(function.results.size());
      if (argument.alias && *argument.alias >= 0 && *argument.alias < count) {
        argument.alias = first[static_cast<std::size_t>(*argument.alias)];
      }
    }
  }

  void visit(SyntaxBlock& block, Names names) {
    std::vector<SyntaxArgument> arguments;
    for (SyntaxArgument& argument : block.arguments) {
      names.erase(argument.name);
      if (!argument.type.is_group) {
        arguments.push_back(std::move(argument));
        continue;
      }
      Uses uses;
      for (const TypeUse& leaf : leaves_of({argument.type})) {
        const std::string name = std::string(argument.name) + "." + std::to_string(uses.size());
        const std::string_view kept = module_.names.emplace_back(name);
        arguments.push_back({kept, leaf, argument.offset, {}});
        uses.push_back({kept, 0, argument.offset});
      }
      names[argument.name] = {std::move(uses)};
    }
    block.arguments = std::move(arguments);
    std::vector<SyntaxOp> ops;
    for (SyntaxOp& op : block.ops) {
      if (!op.broken && flatten(op, names)) continue;
      if (op.broken) {
        for (const ResultGroup& group : op.results) unknown_.insert(group.name);
      }
      for (SyntaxBlock& region : op.regions) visit(region, names);
      ops.push_back(std::move(op));
    }
    block.ops = std::move(ops);
  }

  /// Whether nothing is left of the op.
  bool flatten(SyntaxOp& op, Names& names) {
    const std::vector<TypeUse> given = op.operand_types;
    Uses operands;
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
      const Uses parts = parts_of(op.operands[i], names);
      // Others that do not fit their types are left to those who know the types of all values.
      if (i < given.size() && (given[i].is_group || parts.size() != 1) &&
          parts.size() != leaves_of({given[i]}).size()) {
        if (!unknown_.contains(op.operands[i].name)) {
          problems_.push_back({op.operands[i].offset, "%" + std::string(op.operands[i].name) +
                                                          " has another type than this op says"});
        }
        op.broken = true;
        return false;
      }
      operands.insert(operands.end(), parts.begin(), parts.end());
    }
    op.operands = std::move(operands);
    op.operand_types = leaves_of(given);
    if (is_flattened(op.name)) {
      take_away(op, given, names);
      return true;
    }
    for (const ResultGroup& group : op.results) names.erase(group.name);
    if (has_groups(op.result_types)) flatten_results(op, names);
    const OpDefinition* definition = find_op(op.name);
    return op.operands.empty() && definition != nullptr && definition->traits.is_opaque;
  }

  static Uses parts_of(const ValueUse& use, const Names& names) {
    const auto known = names.find(use.name);
    if (known == names.end() || use.number >= known->second.size()) return {use};
    Uses parts = known->second[use.number];
    for (ValueUse& part : parts) part.offset = use.offset;
    return parts;
  }

  void take_away(const SyntaxOp& op, const std::vector<TypeUse>& given, Names& names) {
    if (op.results.size() != 1 || op.results[0].count != 1 || op.result_types.size() != 1) {
      return fail(op, op.name + " has one result");
    }
    Uses parts = op.operands;
    if (op.name == kElement) {
      const auto index = op.attributes.find("index");
      const auto* number =
          index == op.attributes.end() ? nullptr : std::get_if<std::int64_t>(&index->second);
      if (number == nullptr || given.size() != 1 || !given[0].is_group || *number < 0 ||
          static_cast<std::size_t>(*number) >= given[0].parts.size()) {
        return fail(op, op.name + " names no element of a tuple");
      }
      const auto at = given[0].parts.begin() + *number;
      const auto begin =
          static_cast<std::ptrdiff_t>(leaves_of({given[0].parts.begin(), at}).size());
      const auto count = static_cast<std::ptrdiff_t>(leaves_of({*at}).size());
      if (begin + count > static_cast<std::ptrdiff_t>(parts.size())) {
        return fail(op, op.name + " takes a tuple of another type than its operand has");
      }
      parts = Uses(parts.begin() + begin, parts.begin() + begin + count);
    } else if (op.name != kTuple) {
      parts.clear();
    }
    if (parts.size() != leaves_of(op.result_types).size()) {
      return fail(op, op.name + " has a result of another type than its operands give");
    }
    names[op.results[0].name] = {std::move(parts)};
  }

  static void flatten_results(SyntaxOp& op, Names& names) {
    std::vector<ResultGroup> groups;
    std::size_t number = 0;
    for (const ResultGroup& group : op.results) {
      std::vector<Uses> became;
      std::uint32_t count = 0;
      for (std::uint32_t i = 0; i < group.count && number < op.result_types.size(); ++i) {
        Uses uses;
        for (std::size_t n = leaves_of({op.result_types[number++]}).size(); n > 0; --n) {
          uses.push_back({group.name, count++, group.offset});
        }
        became.push_back(std::move(uses));
      }
      names[group.name] = std::move(became);
      if (count > 0) groups.push_back({group.name, count, group.offset});
    }
    op.results = std::move(groups);
    op.result_types = leaves_of(op.result_types);
  }

  void fail(const SyntaxOp& op, std::string message) {
    problems_.push_back({op.offset, std::move(message)});
  }

  SyntaxModule& module_;
  std::vector<SyntaxError>& problems_;
  std::set<std::string_view> unknown_;  ///< results of ops that could not be read
};

}  // namespace

void flatten(SyntaxModule& module, std::vector<SyntaxError>& problems) {
  Flattening(module, problems).run();
}

bool is_flattened(std::string_view name) {
  return std::ranges::find(kFlattened, name) != kFlattened.end();
}

}  // namespace superstep::import
