#include "compiler/import/checked_module.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "compiler/import/parser.h"
#include "compiler/import/read_module.h"

namespace superstep {
namespace {

using import::SyntaxBlock;
using import::SyntaxFunction;
using import::SyntaxModule;
using import::SyntaxOp;
using import::TypeUse;
using import::ValueUse;

// Facts: openxla/stablehlo stablehlo/tests/CheckOps.td, and TestUtils.cpp for custom calls.
constexpr std::uint64_t kMostUlps = 1, kMostUlpsOfCall = 3;
constexpr double kTolerance = 1e-4, kToleranceOfCall = 1e-3;

/// `check.expect_eq`, also of a custom call; empty for other ops.
std::string check_name(const SyntaxOp& op) {
  if (op.name.starts_with("check.")) return op.name;
  if (op.name != "stablehlo.custom_call") return {};
  const auto at = op.attributes.find("call_target_name");
  const auto* name = at == op.attributes.end() ? nullptr : std::get_if<std::string>(&at->second);
  return name != nullptr && name->starts_with("check.") ? *name : std::string();
}

const HostTensor* constant_of(const SyntaxOp& op) {
  const auto at = op.attributes.find("value");
  if (at == op.attributes.end()) return nullptr;
  const auto* tensor = std::get_if<SharedTensor>(&at->second);
  return tensor == nullptr ? nullptr : &tensor->get();
}

template <class T>
void read(const SyntaxOp& op, std::string_view name, T& number) {
  const auto at = op.attributes.find(name);
  if (at == op.attributes.end()) return;
  if (const auto* integer = std::get_if<std::int64_t>(&at->second)) {
    number = static_cast<T>(*integer);
  }
  if (const auto* real = std::get_if<double>(&at->second)) number = static_cast<T>(*real);
}

/// What a check claims; none for one that is not known.
std::optional<Check> check_of(const SyntaxOp& op) {
  const bool is_call = !op.name.starts_with("check.");
  const std::string name = check_name(op);
  Check check;
  if (name == "check.expect_eq" || name == "check.expect_eq_const" ||
      name == "check.expect_serialized_eq") {
    check.kind = Check::Kind::kEqual;
  } else if (name == "check.expect_almost_eq" || name == "check.expect_almost_eq_const") {
    check.kind = Check::Kind::kAlmostEqual;
    check.tolerance = is_call ? kToleranceOfCall : kTolerance;
    read(op, "tolerance", check.tolerance);
  } else if (name == "check.expect_close") {
    check.kind = Check::Kind::kClose;
    check.most_ulps = is_call ? kMostUlpsOfCall : kMostUlps;
    read(op, "min_ulp_difference", check.least_ulps);
    read(op, "max_ulp_difference", check.most_ulps);
  } else {
    return std::nullopt;
  }
  return check;
}

/// What a function without arguments returns if it is made of constants alone, else nothing.
std::vector<HostTensor> data_of(const SyntaxFunction& function) {
  if (function.broken || !function.body.arguments.empty() || function.body.ops.empty()) return {};
  std::map<std::string_view, const HostTensor*> constants;
  for (const SyntaxOp& op : function.body.ops) {
    if (&op == &function.body.ops.back()) break;
    if (op.broken || op.name != "stablehlo.constant" || op.results.size() != 1) return {};
    constants.emplace(op.results[0].name, constant_of(op));
  }
  std::vector<HostTensor> data;
  for (const ValueUse& use : function.body.ops.back().operands) {
    const auto at = constants.find(use.name);
    if (at == constants.end() || at->second == nullptr) return {};
    data.push_back(*at->second);
  }
  return data;
}

/// What functions return that are made of constants.
using Data = std::map<std::string, std::vector<HostTensor>, std::less<>>;

/// Changes the syntax of a checked module to that of a program.
class Editor {
 public:
  Editor(std::string_view text, const std::string& file, bool constants_are_data)
      : text_(text), file_(file), constants_are_data_(constants_are_data) {}

  void edit(SyntaxModule& syntax) {
    Data data;
    SyntaxFunction* entry = nullptr;
    for (SyntaxFunction& function : syntax.functions) {
      if (auto tensors = data_of(function); !tensors.empty()) {
        data.emplace(function.name, std::move(tensors));
      }
      const bool checks = std::ranges::any_of(
          function.body.ops, [](const SyntaxOp& op) { return !check_name(op).empty(); });
      if (checks && (entry == nullptr || function.name == "main")) entry = &function;
    }
    if (entry == nullptr) {
      throw Unsupported({Problem{{file_, 0, 0}, "no function has checks of StableHLO's dialect"}});
    }
    out_.function = entry->name;
    SyntaxOp leave;
    leave.name = "return";
    std::vector<SyntaxOp> ops;
    for (SyntaxOp& op : entry->body.ops) {
      const auto at = op.name == "call" ? data.find(op.callee) : data.end();
      if (!check_name(op).empty()) {
        take_check(op, leave, ops);
      } else if (at != data.end()) {
        take_data(op, at->second, *entry);
      } else if (constants_are_data_ && op.name == "stablehlo.constant" && !op.broken &&
                 constant_of(op) != nullptr && op.results.size() == 1) {
        take_data(op, {*constant_of(op)}, *entry);
      } else if (op.name == "interpreter.probe") {
        take_probe(op);
        ops.push_back(std::move(op));
      } else if (op.name == "interpreter.run_parallel") {
        take_program(op, data);
        ops.push_back(std::move(op));
      } else if (op.name == "return") {
        leave.offset = op.offset;
        leave.broken = op.broken;
      } else {
        ops.push_back(std::move(op));
      }
    }
    ops.push_back(std::move(leave));
    for (SyntaxOp& op : ops) rename(op);
    entry->results = ops.back().operand_types;
    entry->body.ops = std::move(ops);
    entry->name = "main";
    for (const SyntaxFunction& function : syntax.functions) refuse_others(function.body);
  }

  CheckedModule take() { return std::move(out_); }

 private:
  std::string_view named(std::string name) { return names_.emplace_back(std::move(name)); }

  void take_check(const SyntaxOp& op, SyntaxOp& leave, std::vector<SyntaxOp>& ops) {
    if (op.broken) return;  // which is a finding of the parser
    std::optional<Check> check = check_of(op);
    if (!check || op.operands.empty() || op.operands.size() > 2 || op.operand_types.empty()) {
      unsupported(op, fmt::format("{} is not known", check_name(op)));
    }
    check->line = line_of(op);
    ValueUse found = op.operands[0], expected = op.operands.back();
    if (const HostTensor* constant = constant_of(op)) {
      SyntaxOp value;
      value.name = "stablehlo.constant";
      value.offset = op.offset;
      value.attributes.emplace("value", *constant);
      value.results.push_back({named(fmt::format("check {}", out_.checks.size())), 1, op.offset});
      value.result_types = op.operand_types;
      expected = {value.results[0].name, 0, op.offset};
      ops.push_back(std::move(value));
    } else if (op.name == "check.expect_serialized_eq") {
      // What the probe of this name saw is what is found.
      const auto id = op.attributes.find("probe_id");
      const auto at = id == op.attributes.end() ? probes_.end()
                                                : probes_.find(std::get<std::string>(id->second));
      if (at == probes_.end()) {
        unsupported(op, "the probe of this check is inside of a region");
      }
      found = at->second;
    }
    leave.operands.insert(leave.operands.end(), {found, expected});
    leave.operand_types.insert(leave.operand_types.end(),
                               {op.operand_types[0], op.operand_types.back()});
    out_.checks.push_back(*check);
  }

  /// The results of `op` become arguments.
  void take_data(const SyntaxOp& op, const std::vector<HostTensor>& data, SyntaxFunction& entry) {
    std::size_t next = 0;
    for (const import::ResultGroup& group : op.results) {
      for (std::uint32_t i = 0; i < group.count && next < data.size(); ++i, ++next) {
        const std::string_view name =
            group.count == 1 ? group.name : named(fmt::format("{}#{}", group.name, i));
        if (group.count > 1) renamed_[{group.name, i}] = name;
        TypeUse type;
        type.type = data[next].type;
        entry.body.arguments.push_back({name, std::move(type), group.offset, {}});
        out_.data.push_back(data[next]);
      }
    }
  }

  void take_probe(SyntaxOp& op) {
    const auto id = op.attributes.find("probe_id");
    if (id != op.attributes.end() && op.results.size() == 1) {
      if (const auto* name = std::get_if<std::string>(&id->second)) {
        probes_.emplace(*name, ValueUse{op.results[0].name, 0, op.offset});
      }
    }
    op.name = "stablehlo.optimization_barrier";
    op.attributes.clear();
  }

  /// A program of one device is called; what its infeeds take are data.
  void take_program(SyntaxOp& op, const Data& data) {
    if (op.broken) return;
    const auto programs = op.attributes.find("programs");
    const auto* names =
        programs == op.attributes.end() ? nullptr : std::get_if<std::string>(&programs->second);
    const auto count = names == nullptr ? 0 : std::ranges::count(*names, '@');
    if (count != 1) unsupported(op, fmt::format("programs run on one device, not on {}", count));
    const std::size_t begin = names->find('@') + 1;
    op.callee = names->substr(begin, names->find_first_of("], ", begin) - begin);
    if (const auto infeed = op.attributes.find("infeed"); infeed != op.attributes.end()) {
      const auto* queue = std::get_if<std::vector<std::string>>(&infeed->second);
      if (queue == nullptr) unsupported(op, "an infeed that is no list of functions");
      for (const std::string& name : *queue) take_infeed(op, name, data);
    }
    op.name = "call";
    op.attributes.clear();
  }

  /// A visit behind those before it.
  void take_infeed(const SyntaxOp& op, const std::string& function, const Data& data) {
    const auto at = data.find(function);
    if (at == data.end()) unsupported(op, fmt::format("@{} returns no constants", function));
    const bool is_first = out_.infeeds.empty();
    if (is_first) out_.infeeds.resize(at->second.size());
    for (std::size_t i = 0; i < at->second.size(); ++i) {
      HostTensor& all = out_.infeeds[i];
      const HostTensor& visit = at->second[i];
      if (is_first) {
        all.type = visit.type;
        all.type.shape.insert(all.type.shape.begin(), 0);
      }
      TensorType expected = all.type;
      expected.shape.erase(expected.shape.begin());
      if (at->second.size() != out_.infeeds.size() || visit.type != expected) {
        unsupported(op, "infeeds of different types");
      }
      ++all.type.shape[0];
      all.data.insert(all.data.end(), visit.data.begin(), visit.data.end());
    }
  }

  void rename(SyntaxOp& op) {
    for (ValueUse& use : op.operands) {
      const auto at = renamed_.find({use.name, use.number});
      if (at != renamed_.end()) use = {at->second, 0, use.offset};
    }
    for (SyntaxBlock& block : op.regions) {
      for (SyntaxOp& inner : block.ops) rename(inner);
    }
  }

  [[nodiscard]] std::uint32_t line_of(const SyntaxOp& op) const {
    const auto newlines = std::ranges::count(text_.substr(0, op.offset), '\n');
    return static_cast<std::uint32_t>(newlines) + 1;
  }
  [[noreturn]] void unsupported(const SyntaxOp& op, std::string message) const {
    throw Unsupported({Problem{{file_, line_of(op), 0}, std::move(message)}});
  }

  /// Checks and probes at places where they are not looked for.
  void refuse_others(const SyntaxBlock& block) const {
    for (const SyntaxOp& op : block.ops) {
      if (!check_name(op).empty() || op.name.starts_with("interpreter.")) {
        unsupported(op, fmt::format("{} inside of a region, or of a function beside the first "
                                    "that has checks",
                                    op.name));
      }
      for (const SyntaxBlock& region : op.regions) refuse_others(region);
    }
  }

  std::string_view text_;
  const std::string& file_;
  bool constants_are_data_;
  CheckedModule out_;
  std::deque<std::string> names_;  ///< of values that the text does not have
  std::map<std::pair<std::string_view, std::uint32_t>, std::string_view> renamed_;
  std::map<std::string, ValueUse> probes_;
};

/// Whether what a check found follows from an argument.
bool finds_what_depends_on_data(const Graph& graph) {
  std::vector<bool> depends(graph.values().size());
  for (const ValueId argument : graph.arguments()) depends[index(argument)] = true;
  for (const Op& op : graph.ops()) {
    const bool any = std::ranges::any_of(op.operands, [&](ValueId v) { return depends[index(v)]; });
    for (const ValueId result : op.results) depends[index(result)] = any;
  }
  for (std::size_t i = 0; i < graph.results().size(); i += 2) {
    if (depends[index(graph.results()[i])]) return true;
  }
  return false;
}

CheckedModule import_checked(std::string_view text, const std::string& file,
                             bool constants_are_data) {
  Editor editor(text, file, constants_are_data);
  Module module = import::read_module(text, file, import::Dialects::kChecks,
                                      [&](SyntaxModule& syntax) { editor.edit(syntax); });
  CheckedModule out = editor.take();
  out.module = std::move(module);
  return out;
}

}  // namespace

std::vector<std::string> split_modules(std::string_view text) {
  constexpr std::string_view kMark = "// -----";
  std::vector<std::string> modules;
  std::size_t begin = 0, end = 0;
  do {
    end = text.find(kMark, begin);
    const auto lines = std::ranges::count(text.substr(0, begin), '\n');
    modules.emplace_back(static_cast<std::size_t>(lines), '\n');
    modules.back() += text.substr(begin, end - begin);
    begin = end + kMark.size();
  } while (end != std::string_view::npos);
  return modules;
}

CheckedModule import_checked(std::string_view text, const std::string& file) {
  CheckedModule checked = import_checked(text, file, false);
  if (finds_what_depends_on_data(checked.module.main)) return checked;
  return import_checked(text, file, true);
}

}  // namespace superstep
