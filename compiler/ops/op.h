#pragma once

#include <array>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "base/overloaded.h"
#include "compiler/graph/graph.h"
#include "compiler/ops/dtype_set.h"
#include "compiler/ops/syntax.h"
#include "compiler/ops/table.h"
#include "compiler/vertex/expression.h"

namespace superstep {

/// A strided copy of one operand into the result: element (i0, i1, …) of the box moves from
/// `from_offset + Σ i*from_strides` of the operand to `to_offset + Σ i*to_strides` of the result
/// (row-major element numbers; strides may be 0 or negative).
struct StridedBox {
  std::size_t operand = 0;
  std::vector<std::int64_t> sizes, from_strides, to_strides;
  std::int64_t from_offset = 0, to_offset = 0;
  bool operator==(const StridedBox&) const = default;
};

class BlockLowering;
class GraphBuilder;
struct MachineConfig;
struct Tensor;

/// Whether a lowering is for this use of an op; null stands for every use.
using Takes = bool (*)(const Op& op, const Graph& graph);

/// Results are computed element by element from operands of the same shape (or rank 0).
struct ElementwiseLowering {
  /// Appends the op to an expression; operands and results are in the op's order.
  std::vector<vertex::Node> (*emit)(const Op& op, const Graph& graph,
                                    vertex::Expression& expression,
                                    std::span<const vertex::Node> operands);
  Takes takes = nullptr;
};
/// The result is made of strided copies of operands; a later box overwrites an earlier one.
struct RearrangeLowering {
  std::vector<StridedBox> (*boxes)(const Op& op, const Graph& graph);
  /// The operand's dimensions in the result's order, if that is all that the op changes.
  const std::vector<std::int64_t>& (*permutation)(const Op& op) = nullptr;
  Takes takes = nullptr;
};
/// The result does not depend on operands (constant, iota): `evaluate` gives it at compile time.
struct ConstantLowering {
  Takes takes = nullptr;
};
/// The op is made of others, which take its place before anything else looks at it.
struct ExpandLowering {
  /// Appends the others; their results that are those of the op.
  std::vector<Tensor> (*expand)(GraphBuilder& builder, const Op& op,
                                std::span<const Tensor> operands);
  Takes takes = nullptr;
};
/// What an op asks of where one of its operands or results lies.
struct Vote {
  ValueId value{};
  std::int64_t row = 0;  ///< so many neighbours on one tile; 0: as many elements on each tile
  std::optional<TableUse> table = {};  ///< its indexed dimensions whole on each tile
  bool is_windows = false;             ///< of the table, not the table itself
};
/// The op becomes supersteps of its own, which `lower` appends to those of a block.
struct StepLowering {
  void (*lower)(BlockLowering& block, const Op& op);
  std::vector<Vote> (*votes)(const Op& op, const Graph& graph);
  /// Appends what takes the place of the op where that is estimated to take fewer cycles, or fits
  /// where the op would not, and gives its results; else nothing.
  std::vector<Tensor> (*divide)(GraphBuilder& builder, const Op& op,
                                std::span<const Tensor> operands,
                                const MachineConfig& machine) = nullptr;
  Takes takes = nullptr;
};
using Lowering = std::variant<ElementwiseLowering, RearrangeLowering, ConstantLowering,
                              ExpandLowering, StepLowering>;

/// Ways to lower an op, best first: the first that takes a use of it counts.
class Lowerings {
 public:
  constexpr Lowerings(std::initializer_list<Lowering> all) : count_(all.size()) {
    std::size_t i = 0;
    for (const Lowering& lowering : all) all_.at(i++) = lowering;
  }
  [[nodiscard]] constexpr const Lowering* begin() const { return all_.data(); }
  [[nodiscard]] constexpr const Lowering* end() const { return all_.data() + count_; }

 private:
  std::array<Lowering, 2> all_{};
  std::size_t count_;
};

/// Attribute of an op that does a part of another one's work: the useful floating-point operations
/// that it stands for, in place of those that it makes.
inline constexpr const char* kUsefulFlops = "useful_flops";
[[nodiscard]] inline std::uint64_t useful_flops(const Op& op, std::uint64_t made) {
  const auto useful = op.attributes.find(kUsefulFlops);
  return useful == op.attributes.end()
             ? made
             : static_cast<std::uint64_t>(std::get<std::int64_t>(useful->second));
}

/// What an op does besides its results. Ops with effects are not removed, merged or folded.
enum class Effect : std::uint8_t { kNone, kHost };

/// The dtypes that each operand may have, in the op's order.
class OperandTypes {
 public:
  constexpr OperandTypes(std::initializer_list<DTypeSet> all) : count_(all.size()) {
    std::size_t i = 0;
    for (const DTypeSet set : all) sets_.at(i++) = set;
  }
  /// As many operands as there are, all of `set`.
  [[nodiscard]] static constexpr OperandTypes any_number_of(DTypeSet set) {
    return OperandTypes{}.then_any_number_of(set);
  }
  /// These, then as many operands as there are, all of `set`.
  [[nodiscard]] constexpr OperandTypes then_any_number_of(DTypeSet set) const {
    OperandTypes types = *this;
    types.further_ = set;
    return types;
  }
  /// Operands that there are at least; exactly so many unless further ones may follow.
  [[nodiscard]] constexpr std::size_t size() const { return count_; }
  [[nodiscard]] constexpr bool repeats() const { return further_ != 0; }
  [[nodiscard]] constexpr DTypeSet of(std::size_t operand) const {
    return operand < count_ ? sets_.at(operand) : further_;
  }

 private:
  std::array<DTypeSet, 5> sets_{};
  std::size_t count_;
  DTypeSet further_ = 0;
};

/// For ops with one region or more.
constexpr std::size_t kSomeRegions = SIZE_MAX;
/// For ops that may have regions or not.
constexpr std::size_t kAnyRegions = SIZE_MAX - 1;

/// Whether an op decides which of its regions are executed and how often. The text may use values
/// of outside in them: import makes those the last operands, and the last arguments of each region.
enum class Control : std::uint8_t {
  kNone,
  kLoop,    ///< regions: condition and body of carried values, as many as results
  kBranch,  ///< one region for each value of the first operand
};

/// What holds for every use of an op; `infer_types` checks it before `infer`.
struct Traits {
  OperandTypes operands;
  std::size_t regions = 0;
  Effect effect = Effect::kNone;
  /// Sums of products over contracting dimensions: planned together, before what is around them.
  bool is_product = false;
  /// Elements of its first half of operands combined, which it may convert itself.
  bool is_reduction = false;
  /// The results are the operands, but nothing that is known of these is known of those: ops on
  /// both sides are neither merged nor folded.
  bool is_opaque = false;
  Control control = Control::kNone;
  /// It stands for other ops, whatever the types: they take its place before types are changed.
  bool is_shorthand = false;
  /// The reference takes far more work than what the op expands to, which is folded instead.
  bool folds_expanded = false;
  /// The results are the first operands with some elements replaced.
  bool updates_operands = false;
  /// Each float of the result is a new number, which counts as one floating-point operation. What
  /// chooses among operands, rounds, converts or changes signs is none.
  bool is_arithmetic = false;
};

/// Everything about an op in one record.
struct OpDefinition {
  std::string_view name;  ///< `stablehlo.transpose`
  std::string_view summary;
  /// Result types, or MalformedInput/Unsupported located at the op. `traits` hold.
  std::vector<TensorType> (*infer)(const Op& op, std::span<const TensorType> operands);
  /// Reference semantics: simple, slow, host only, independent of the lowering.
  std::vector<HostTensor> (*evaluate)(const Op& op, std::span<const HostTensor> operands);
  Lowerings lowerings;
  Traits traits;
  Syntax syntax = {};
  /// Names of the attributes that a text may give it besides those of keywords, with a space
  /// between two.
  std::string_view attributes = {};
};

/// Of a function that may be asked to be so accurate.
constexpr std::string_view kResultAccuracy = "result_accuracy atol rtol ulps mode";

/// How an op of `graph` is lowered. Those who ask visit all kinds, so that a new one does not
/// compile before each of them knows it.
[[nodiscard]] const Lowering& lowering_of(const Op& op, const Graph& graph);

/// The op's lowering if it is of kind L, else null.
template <class L>
const L* lowering_as(const Op& op, const Graph& graph) {
  return std::get_if<L>(&lowering_of(op, graph));
}

/// A value that is a constant of the graph.
[[nodiscard]] std::optional<HostTensor> constant_value(const Graph& graph, ValueId value);
[[nodiscard]] bool are_constant(const Graph& graph, std::span<const ValueId> values);

/// All ops, sorted by name.
[[nodiscard]] std::span<const OpDefinition* const> all_ops();
/// Null when the op is not supported.
[[nodiscard]] const OpDefinition* find_op(std::string_view name);

/// Runs a graph with the reference semantics.
[[nodiscard]] std::vector<HostTensor> evaluate(const Graph& graph,
                                               std::span<const HostTensor> arguments);

}  // namespace superstep
