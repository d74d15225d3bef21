#include "compiler/import/builder.h"

#include <algorithm>
#include <utility>

#include "compiler/import/free_values.h"
#include "compiler/import/parser.h"
#include "compiler/ops/op.h"

namespace superstep::import {
namespace {

constexpr std::size_t kMaxCallDepth = 128;
// Calls can double what they hold at every level; these bound the time and memory of an import.
constexpr std::size_t kMaxOps = 1'000'000;
constexpr std::size_t kMaxConstantBytes = std::size_t{1} << 31;

std::string count(std::size_t n, const std::string& what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

std::string value_text(const ValueUse& use) {
  return "%" + std::string(use.name) + (use.number > 0 ? "#" + std::to_string(use.number) : "");
}

/// The name that a location gives, itself or by its alias; else empty.
std::string name_in(const SyntaxLocation& location, const SyntaxModule& module) {
  const SyntaxLocation* at = &location;
  for (int followed = 0; at != nullptr && at->size() == 1; ++followed) {
    const SyntaxFrame& frame = at->front();
    if (frame.alias.empty()) return frame.name;
    at = location_of(frame.alias, module, followed);
  }
  return {};
}

bool is_constant_scalar(const Graph& graph, ValueId v) {
  const Op* producer = graph.producer_of(v);
  return producer != nullptr && graph.type(v).shape.empty() &&
         lowering_as<ConstantLowering>(*producer, graph) != nullptr;
}

}  // namespace

void Builder::malformed(std::size_t offset, std::string message) {
  findings_.push_back({{lines_.locate(offset), std::move(message)}, false, line_});
}

void Builder::unsupported(std::size_t offset, std::string message) {
  findings_.push_back({{lines_.locate(offset), std::move(message)}, true, line_});
}

SourceLocation Builder::python_of_broken(std::size_t offset) const {
  const auto at = broken_.find(offset);
  return at == broken_.end() ? SourceLocation{} : at->second;
}

void Builder::collect_functions() {
  for (const SyntaxFunction& function : syntax_.functions) {
    if (function.name.empty()) continue;
    if (!functions_.emplace(function.name, &function).second) {
      malformed(function.offset, "function @" + function.name + " is defined twice");
    }
  }
}

const SyntaxFunction* Builder::find_entry() {
  if (const auto at = functions_.find("main"); at != functions_.end()) return at->second;
  if (syntax_.functions.size() == 1) return &syntax_.functions.front();
  // What hides the function is then reported already.
  if (!findings_.empty()) return nullptr;
  malformed(0, syntax_.functions.empty()
                   ? "the module has no function; expected func.func public @main"
                   : "none of the module's functions is called @main, where a run begins");
  return nullptr;
}

Module Builder::build() {
  Module module;
  module.name = syntax_.name;
  collect_functions();
  const SyntaxFunction* entry = find_entry();
  if (entry == nullptr || entry->broken) return module;

  Scope scope{module.main};
  bool supported = true;
  for (const SyntaxArgument& argument : entry->body.arguments) {
    Slot slot;
    if (argument.type.type) {
      slot = module.main.add_argument(*argument.type.type, std::string(argument.name));
    } else {
      unsupported(argument.type.offset, argument.type.unsupported);
      supported = false;
    }
    supported = declare(argument.name, argument.offset, {slot}, scope) && supported;
  }
  for (const TypeUse& type : entry->results) {
    if (!type.type) unsupported(type.offset, type.unsupported);
  }
  calls_.push_back(entry);
  const std::vector<Slot> results = emit_block(entry->body, scope);
  calls_.pop_back();
  if (!findings_.empty() || !supported) return module;

  std::vector<ValueId> ids;
  for (const Slot& slot : results) ids.push_back(*slot);
  module.main.set_results(std::move(ids));
  set_aliases(*entry, module);
  for (const SyntaxArgument& argument : entry->body.arguments) {
    module.argument_labels.push_back(name_in(argument.location, syntax_));
  }
  for (const TypeUse& type : entry->results) module.result_labels.push_back(type.label);
  return module;
}

void Builder::set_aliases(const SyntaxFunction& entry, Module& module) {
  const std::vector<SyntaxArgument>& arguments = entry.body.arguments;
  module.argument_alias.resize(arguments.size());
  std::vector<bool> taken(module.main.results().size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].alias) continue;
    const std::int64_t result = *arguments[i].alias;
    if (result < 0 || static_cast<std::size_t>(result) >= taken.size()) {
      malformed(arguments[i].offset, "tf.aliasing_output = " + std::to_string(result) +
                                         ", but the function has " + count(taken.size(), "result"));
      continue;
    }
    const auto at = static_cast<std::size_t>(result);
    const TensorType& type = module.main.type(module.main.results()[at]);
    if (taken[at]) {
      malformed(arguments[i].offset,
                "result " + std::to_string(result) + " takes the storage of two arguments");
    } else if (type != *arguments[i].type.type) {
      malformed(arguments[i].offset, "argument of type " + arguments[i].type.type->text() +
                                         " cannot give its storage to a result of type " +
                                         type.text());
    } else {
      module.argument_alias[i] = static_cast<std::uint32_t>(result);
    }
    taken[at] = true;
  }
}

std::vector<Builder::Slot> Builder::emit_block(const SyntaxBlock& block, Scope& scope) {
  for (const SyntaxOp& op : block.ops) {
    if (too_large_) return {};
    if (op.name == "return") {
      if (&op != &block.ops.back()) malformed(op.offset, "ops follow this return");
      return emit_return(op, scope);
    }
    emit_op(op, scope);
  }
  const bool reported = !block.ops.empty() && block.ops.back().broken;
  if (!reported) {
    malformed(block.ops.empty() ? calls_.back()->offset : block.ops.back().offset,
              "expected a return at the end of the block");
  }
  return {};
}

std::vector<Builder::Slot> Builder::emit_return(const SyntaxOp& op, Scope& scope) {
  if (op.broken) return {};
  check_types(op);
  std::vector<Slot> values = look_up(op, scope);
  check_operands(op, values, scope);
  if (scope.outer != nullptr) return values;
  const std::vector<TypeUse>& declared = calls_.back()->results;
  if (values.size() != declared.size()) {
    malformed(op.offset, "returns " + count(values.size(), "value") + ", but the function has " +
                             count(declared.size(), "result"));
    return {};
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!values[i] || !declared[i].type) continue;
    const TensorType& type = scope.graph.type(*values[i]);
    if (type != *declared[i].type) {
      malformed(op.operands[i].offset, value_text(op.operands[i]) + " has type " + type.text() +
                                           ", but the function returns " +
                                           declared[i].type->text());
    }
  }
  return values;
}

std::vector<Builder::Slot> Builder::look_up(const SyntaxOp& op, Scope& scope) {
  std::vector<Slot> out;
  for (const ValueUse& use : op.operands) out.push_back(look_up(use, scope));
  return out;
}

Builder::Slot Builder::look_up(const ValueUse& use, Scope& scope) {
  const auto at = scope.values.find(use.name);
  if (at == scope.values.end()) return capture(use, scope);
  if (use.number < at->second.size()) return at->second[use.number];
  malformed(use.offset, "%" + std::string(use.name) + " has " + count(at->second.size(), "result") +
                            ", but this is number " + std::to_string(use.number));
  return {};
}

Builder::Slot Builder::capture(const ValueUse& use, Scope& scope) {
  const Scope* outer = scope.outer;
  while (outer != nullptr && outer->values.count(use.name) == 0) outer = outer->outer;
  if (outer == nullptr) {
    malformed(use.offset, value_text(use) + " is not defined in front of its use");
    return {};
  }
  const std::vector<Slot>& slots = outer->values.at(use.name);
  if (use.number < slots.size()) {
    if (!slots[use.number]) return {};  // refused already
    if (is_constant_scalar(outer->graph, *slots[use.number])) {
      Op op = *outer->graph.producer_of(*slots[use.number]);
      op.results = {};
      const ValueId copy = scope.graph.add_op(std::move(op), {std::string(use.name)}).results[0];
      scope.values.emplace(use.name, std::vector<Slot>{copy});
      return copy;
    }
  }
  unsupported(use.offset, value_text(use) +
                              " is a value of outside the region; a region may only use its own "
                              "and constant scalars");
  return {};
}

bool Builder::check_types(const SyntaxOp& op) {
  std::vector<std::string_view> reported;
  for (const std::vector<TypeUse>* types : {&op.operand_types, &op.result_types}) {
    for (const TypeUse& type : *types) {
      if (type.type ||
          std::find(reported.begin(), reported.end(), type.unsupported) != reported.end()) {
        continue;
      }
      reported.push_back(type.unsupported);
      unsupported(type.offset, type.unsupported);
    }
  }
  return reported.empty();
}

bool Builder::check_operands(const SyntaxOp& op, const std::vector<Slot>& operands,
                             const Scope& scope) {
  if (op.operand_types.size() != op.operands.size()) {
    malformed(op.offset, op.name + " has " + count(op.operands.size(), "operand") + " and " +
                             count(op.operand_types.size(), "type") + " for them");
    return false;
  }
  bool right = true;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (!operands[i] || !op.operand_types[i].type) {
      right = false;
      continue;
    }
    const TensorType& type = scope.graph.type(*operands[i]);
    if (type == *op.operand_types[i].type) continue;
    malformed(op.operands[i].offset, value_text(op.operands[i]) + " has type " + type.text() +
                                         ", but " + op.name + " takes it as " +
                                         op.operand_types[i].type->text());
    right = false;
  }
  return right;
}

bool Builder::declare(std::string_view name, std::size_t offset, std::vector<Slot> slots,
                      Scope& scope) {
  if (scope.values.emplace(name, std::move(slots)).second) return true;
  malformed(offset, "%" + std::string(name) + " is defined twice");
  return false;
}

void Builder::define(const SyntaxOp& op, std::vector<Slot> results, Scope& scope) {
  std::size_t declared = 0;
  for (const ResultGroup& group : op.results) declared += group.count;
  const bool refused = results.empty() && declared > 0;
  if (!refused && declared != results.size()) {
    // MLIR allows results without a name only all together.
    if (declared > 0) {
      malformed(op.offset, op.name + " has " + count(results.size(), "result") + ", but " +
                               std::to_string(declared) + " are named");
    }
  }
  results.resize(declared);
  auto next = results.begin();
  for (const ResultGroup& group : op.results) {
    const auto end = next + group.count;
    declare(group.name, group.offset, {next, end}, scope);
    next = end;
  }
}

bool Builder::within_limits(const SyntaxOp& op) {
  ++ops_;
  if (const auto value = op.attributes.find("value"); value != op.attributes.end()) {
    if (const auto* tensor = std::get_if<SharedTensor>(&value->second)) {
      constant_bytes_ += tensor->get().data.size();
    }
  }
  if (ops_ <= kMaxOps && constant_bytes_ <= kMaxConstantBytes) return true;
  if (!too_large_) {
    unsupported(op.offset,
                "with its calls inlined the module has more than 1000000 ops or 2 GiB "
                "of constants");
  }
  too_large_ = true;
  return false;
}

void Builder::emit_op(const SyntaxOp& op, Scope& scope) {
  SourceLocation line = python_.of(op.location);
  if (line.file.empty()) line = line_;
  std::swap(line, line_);
  define(op, emit_results(op, scope), scope);
  line_ = std::move(line);
}

std::vector<Builder::Slot> Builder::emit_results(const SyntaxOp& op, Scope& scope) {
  if (op.broken) broken_.try_emplace(op.offset, line_);
  if (op.broken || !within_limits(op)) return {};
  const bool types = check_types(op);
  const std::vector<Slot> operands = look_up(op, scope);
  const std::size_t before = findings_.size();
  const bool complete = check_operands(op, operands, scope);
  if (!types || findings_.size() != before) return {};
  // Called with operands that were refused, a function shows what else is wrong in it.
  if (op.name == "call") return emit_call(op, operands, scope);
  return complete ? emit_definition(op, operands, scope) : std::vector<Slot>();
}

const SyntaxFunction* Builder::callee(const std::string& name, std::size_t offset) {
  const auto at = functions_.find(name);
  if (at == functions_.end()) {
    std::vector<std::string> names;
    for (const SyntaxFunction& function : syntax_.functions) names.push_back(function.name);
    constexpr std::size_t kLongestName = 64;
    const std::string near = nearest(name.substr(0, kLongestName), names);
    malformed(offset, "the module has no function @" + name +
                          (near.empty() ? std::string() : "; did you mean @" + near + "?"));
    return nullptr;
  }
  const SyntaxFunction& function = *at->second;
  if (function.broken || refused_.count(&function) > 0) return nullptr;
  if (std::find(calls_.begin(), calls_.end(), &function) != calls_.end()) {
    unsupported(offset, "function @" + name + " calls itself; recursion is not supported");
    return nullptr;
  }
  if (calls_.size() >= kMaxCallDepth) {
    unsupported(offset, "calls are nested more than 128 deep");
    return nullptr;
  }
  return &function;
}

std::optional<Graph> Builder::region_of_function(const std::string& name, std::size_t offset) {
  const SyntaxFunction* function = callee(name, offset);
  if (function == nullptr) return std::nullopt;
  Graph nothing;
  const Scope isolated{nothing};
  calls_.push_back(function);
  std::optional<Graph> region = build_region(function->body, isolated, {});
  calls_.pop_back();
  return region;
}

std::vector<Builder::Slot> Builder::emit_call(const SyntaxOp& op, const std::vector<Slot>& operands,
                                              Scope& scope) {
  const SyntaxFunction* called = callee(op.callee, op.offset);
  if (called == nullptr) return {};
  const SyntaxFunction& function = *called;
  const std::vector<SyntaxArgument>& arguments = function.body.arguments;
  const auto same = [](const TypeUse& a, const TypeUse& b) { return a.type == b.type; };
  if (arguments.size() != operands.size() || function.results.size() != op.result_types.size() ||
      !std::equal(arguments.begin(), arguments.end(), op.operand_types.begin(),
                  [&](const SyntaxArgument& a, const TypeUse& b) { return same(a.type, b); }) ||
      !std::equal(function.results.begin(), function.results.end(), op.result_types.begin(),
                  same)) {
    malformed(op.offset, "this call does not have the types of function @" + op.callee);
    return {};
  }
  const std::size_t before = findings_.size();
  Scope body{scope.graph};
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    declare(arguments[i].name, arguments[i].offset, {operands[i]}, body);
  }
  calls_.push_back(&function);
  std::vector<Slot> results = emit_block(function.body, body);
  calls_.pop_back();
  if (findings_.size() != before) {
    refused_.emplace(&function, true);
    return {};
  }
  return results;
}

std::vector<ValueUse> Builder::captures_of(const SyntaxOp& op, Scope& scope) {
  std::vector<ValueUse> captures;
  for (const ValueUse& use : free_values(op.regions)) {
    const Slot slot = look_up(use, scope);
    if (slot && !is_constant_scalar(scope.graph, *slot)) captures.push_back(use);
  }
  return captures;
}

std::optional<Graph> Builder::build_region(const SyntaxBlock& block, const Scope& outer,
                                           const std::vector<ValueUse>& captures) {
  const std::size_t before = findings_.size();
  Graph graph;
  Scope scope{graph, &outer};
  for (const SyntaxArgument& argument : block.arguments) {
    Slot slot;
    if (argument.type.type) {
      slot = graph.add_argument(*argument.type.type, std::string(argument.name));
    } else {
      unsupported(argument.type.offset, argument.type.unsupported);
    }
    declare(argument.name, argument.offset, {slot}, scope);
  }
  for (const ValueUse& use : captures) {
    const Value& value = outer.graph.value(*outer.values.at(use.name)[use.number]);
    std::vector<Slot>& slots = scope.values[use.name];
    slots.resize(std::max<std::size_t>(slots.size(), use.number + 1));
    slots[use.number] = graph.add_argument(value.type, value.name);
  }
  const std::vector<Slot> results = emit_block(block, scope);
  const bool broken =
      std::any_of(block.ops.begin(), block.ops.end(), [](const SyntaxOp& op) { return op.broken; });
  if (broken || findings_.size() != before) return std::nullopt;
  std::vector<ValueId> ids;
  for (const Slot& slot : results) {
    if (!slot) return std::nullopt;
    ids.push_back(*slot);
  }
  graph.set_results(std::move(ids));
  return graph;
}

std::vector<Builder::Slot> Builder::emit_definition(const SyntaxOp& syntax,
                                                    const std::vector<Slot>& operands,
                                                    Scope& scope) {
  Op op;
  op.definition = find_op(syntax.name);
  for (const Slot& operand : operands) op.operands.push_back(*operand);
  op.attributes = syntax.attributes;
  if (const auto mesh = syntax.attributes.find("mesh"); mesh != syntax.attributes.end()) {
    const auto* name = std::get_if<std::string>(&mesh->second);
    const auto known =
        name == nullptr ? syntax_.mesh_devices.end() : syntax_.mesh_devices.find(*name);
    if (known != syntax_.mesh_devices.end()) {
      op.attributes.insert_or_assign("mesh_devices", known->second);
    }
  }
  op.location = {lines_.locate(syntax.offset), line_};
  for (const TypeUse& type : syntax.result_types) op.declared.push_back(*type.type);
  std::vector<ValueUse> captures;
  if (op.definition->traits.control != Control::kNone) {
    const std::size_t before = findings_.size();
    captures = captures_of(syntax, scope);
    if (findings_.size() != before) return {};
    for (const ValueUse& use : captures) op.operands.push_back(*look_up(use, scope));
  }
  for (const SyntaxBlock& block : syntax.regions) {
    std::optional<Graph> region = build_region(block, scope, captures);
    if (!region) return {};
    op.regions.push_back(std::move(*region));
  }
  if (const auto called = syntax.attributes.find("called_computations");
      called != syntax.attributes.end()) {
    if (const auto* names = std::get_if<std::vector<std::string>>(&called->second)) {
      for (const std::string& name : *names) {
        std::optional<Graph> region = region_of_function(name, syntax.offset);
        if (!region) return {};
        op.regions.push_back(std::move(*region));
      }
    }
  }
  std::vector<std::string> names;
  for (const ResultGroup& group : syntax.results) {
    for (std::uint32_t i = 0; i < group.count; ++i) {
      names.push_back(std::string(group.name) + (group.count > 1 ? "#" + std::to_string(i) : ""));
    }
  }
  std::vector<ValueId> results;
  try {
    results = scope.graph.add_op(std::move(op), names).results;
  } catch (const UserError& error) {
    const bool is_unsupported = error.code() == ExitCode::kUnsupported;
    for (const Problem& problem : error.problems()) {
      findings_.push_back({problem, is_unsupported, line_});
    }
    return {};
  }
  return {results.begin(), results.end()};
}

}  // namespace superstep::import
