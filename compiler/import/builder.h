#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "compiler/import/lexer.h"
#include "compiler/import/python_lines.h"
#include "compiler/import/syntax.h"

namespace superstep::import {

/// One thing that is wrong with a module, at its place.
struct Finding {
  Problem problem;
  bool unsupported = false;
  SourceLocation python = {};  ///< of the op, as far as it is known
};

/// Makes the graph of a module: resolves names, inlines calls, checks declared types.
class Builder {
 public:
  Builder(const SyntaxModule& syntax, const LineTable& lines, PythonLines& python,
          std::vector<Finding>& findings)
      : syntax_(syntax), lines_(lines), python_(python), findings_(findings) {}

  /// The module; of no use when there are findings.
  [[nodiscard]] Module build();

  /// The Python line of an op that could not be read, at its first use; empty when it is not known.
  [[nodiscard]] SourceLocation python_of_broken(std::size_t offset) const;

 private:
  /// Empty for a value whose op was refused: what depends on it is not reported again.
  using Slot = std::optional<ValueId>;

  struct Scope {
    Graph& graph;
    const Scope* outer = nullptr;  ///< of the op that holds this region
    std::unordered_map<std::string_view, std::vector<Slot>> values = {};
  };

  const SyntaxFunction* find_entry();
  void collect_functions();
  void set_aliases(const SyntaxFunction& entry, Module& module);

  std::vector<Slot> emit_block(const SyntaxBlock& block, Scope& scope);
  std::vector<Slot> emit_return(const SyntaxOp& op, Scope& scope);
  void emit_op(const SyntaxOp& op, Scope& scope);
  /// Empty for an op that is refused.
  std::vector<Slot> emit_results(const SyntaxOp& op, Scope& scope);
  std::vector<Slot> emit_call(const SyntaxOp& op, const std::vector<Slot>& operands, Scope& scope);
  /// The function of this name, if what names it at `offset` may be replaced by it.
  const SyntaxFunction* callee(const std::string& name, std::size_t offset);
  /// A function that an op calls by name, as a region of it.
  std::optional<Graph> region_of_function(const std::string& name, std::size_t offset);
  std::vector<Slot> emit_definition(const SyntaxOp& op, const std::vector<Slot>& operands,
                                    Scope& scope);
  std::optional<Graph> build_region(const SyntaxBlock& block, const Scope& outer,
                                    const std::vector<ValueUse>& captures);
  /// Closure conversion: what the regions of an op use of outside. Constant scalars are not among
  /// it, as `capture` copies them.
  std::vector<ValueUse> captures_of(const SyntaxOp& op, Scope& scope);
  std::vector<Slot> look_up(const SyntaxOp& op, Scope& scope);
  Slot look_up(const ValueUse& use, Scope& scope);
  /// A value of outside a region: a copy of it if it is a constant, else a finding.
  Slot capture(const ValueUse& use, Scope& scope);
  /// Reports types that are not supported; false when there are any.
  bool check_types(const SyntaxOp& op);
  bool check_operands(const SyntaxOp& op, const std::vector<Slot>& operands, const Scope& scope);
  void define(const SyntaxOp& op, std::vector<Slot> results, Scope& scope);
  bool declare(std::string_view name, std::size_t offset, std::vector<Slot> slots, Scope& scope);
  bool within_limits(const SyntaxOp& op);

  void malformed(std::size_t offset, std::string message);
  void unsupported(std::size_t offset, std::string message);

  const SyntaxModule& syntax_;
  const LineTable& lines_;
  PythonLines& python_;
  std::vector<Finding>& findings_;
  SourceLocation line_;  ///< of Python: that of the op or, where it has none, of what holds it
  std::unordered_map<std::size_t, SourceLocation> broken_;  ///< by offset of the op
  std::unordered_map<std::string_view, const SyntaxFunction*> functions_;
  std::unordered_map<const SyntaxFunction*, bool> refused_;  ///< reported at its first call
  std::vector<const SyntaxFunction*> calls_;                 ///< being inlined
  std::size_t ops_ = 0;
  std::size_t constant_bytes_ = 0;
  bool too_large_ = false;
};

}  // namespace superstep::import
