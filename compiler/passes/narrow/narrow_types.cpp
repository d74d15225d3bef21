#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ops/dot_algorithm.h"
#include "compiler/ops/elements.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/verify.h"
#include "compiler/passes/narrow/codec.h"
#include "compiler/passes/passes.h"

namespace superstep {
namespace {

bool has_narrow(const Graph& graph) {
  return std::ranges::any_of(graph.values(),
                             [](const Value& value) { return is_narrow(value.type.dtype); }) ||
         std::ranges::any_of(
             graph.ops(), [](const Op& op) { return std::ranges::any_of(op.regions, has_narrow); });
}

template <std::size_t N>
bool is_one_of(const Op& op, const std::array<const OpDefinition*, N>& ops) {
  return std::ranges::find(ops, op.definition) != ops.end();
}

/// Whether results have elements of operands as they are.
bool only_moves(const Op& op) {
  static constexpr std::array kOps = {&kBroadcastInDimOp,
                                      &kConcatenateOp,
                                      &kDynamicSliceOp,
                                      &kDynamicUpdateSliceOp,
                                      &kGatherOp,
                                      &kPadOp,
                                      &kReshapeOp,
                                      &kReverseOp,
                                      &kSelectOp,
                                      &kSliceOp,
                                      &kTransposeOp,
                                      &kOptimizationBarrierOp,
                                      &kShardingConstraintOp};
  if (is_one_of(op, kOps)) return true;
  // Of the library's functions that take narrow types all others are refused.
  if (op.definition == &kCustomCallOp) return true;
  return op.definition == &kScatterOp && op.regions[0].ops().empty();
}

/// Whether the result is a number of a narrow type where operands are.
bool stays_in_range(const Op& op) {
  static constexpr std::array kOps = {&kAndOp,     &kClampOp, &kCompareOp, &kMaximumOp,
                                      &kMinimumOp, &kOrOp,    &kSignOp};
  return is_one_of(op, kOps);
}

/// Makes a graph without narrow types of one with them.
class Widener {
 public:
  /// How values of narrow types are kept.
  enum class Keep : std::uint8_t {
    kStored,
    kNumbers,       ///< as they are computed: in what combines elements
    kExactNumbers,  ///< likewise, each as its type has it after each op
  };

  Widener(const Graph& from, Keep keep) : from_(from), keep_(keep), ids_(from.values().size()) {}

  /// Of the module's graph: users' integers are brought into their range.
  Graph run_main() {
    is_main_ = true;
    return run();
  }

  Graph run() {
    for (const ValueId argument : from_.arguments()) {
      const auto& [type, name, producer] = from_.value(argument);
      ids_[index(argument)] = to_.add_argument(kept(type), name);
      if (!is_main_ || !is_narrow_integer(type.dtype)) continue;
      GraphBuilder builder(to_, {});
      set(argument, narrow::encoded(value(builder, argument), type.dtype));
    }
    for (const Op& op : from_.ops()) add(op);
    std::vector<ValueId> results;
    for (const ValueId result : from_.results()) results.push_back(ids_[index(result)]);
    to_.set_results(std::move(results));
    return std::move(to_);
  }

 private:
  [[nodiscard]] DType dtype(ValueId old) const { return from_.type(old).dtype; }
  [[nodiscard]] TensorType kept(TensorType type) const {
    type.dtype =
        keep_ == Keep::kStored ? narrow::stored_as(type.dtype) : narrow::computed_as(type.dtype);
    return type;
  }
  [[nodiscard]] Tensor value(GraphBuilder& builder, ValueId old) const {
    return builder.value(ids_[index(old)]);
  }
  void set(ValueId old, Tensor tensor) { ids_[index(old)] = tensor.id; }

  /// An operand as tiles compute with it.
  [[nodiscard]] Tensor number(GraphBuilder& builder, ValueId old) const {
    const Tensor tensor = value(builder, old);
    return keep_ == Keep::kStored ? narrow::decoded(tensor, dtype(old)) : tensor;
  }

  /// Keeps a result that was computed.
  void set_number(const Op& op, ValueId old, Tensor numbers) {
    const DType type = dtype(old);
    const bool is_in_range = is_narrow_integer(type) && stays_in_range(op);
    if (keep_ == Keep::kStored) {
      return set(old, is_in_range ? numbers : narrow::encoded(numbers, type));
    }
    if (keep_ == Keep::kNumbers || !is_narrow(type) || stays_in_range(op)) return set(old, numbers);
    const Tensor stored = narrow::encoded(numbers, type);
    set(old, is_narrow_float(type) ? narrow::decoded(stored, type) : stored);
  }

  /// What is stored, as this graph keeps it.
  void set_stored(ValueId old, Tensor stored) {
    set(old, keep_ == Keep::kStored ? stored : narrow::decoded(stored, dtype(old)));
  }

  void add(const Op& op) {
    GraphBuilder builder(to_, op.location);
    const auto narrow_value = [&](ValueId v) { return is_narrow(dtype(v)); };
    const bool is_narrow_op = std::ranges::any_of(op.operands, narrow_value) ||
                              std::ranges::any_of(op.results, narrow_value) ||
                              std::ranges::any_of(op.regions, has_narrow);
    if (!is_narrow_op || op.definition->traits.control != Control::kNone || only_moves(op)) {
      return add_same(op, keep_);
    }
    if (op.definition->traits.effect == Effect::kHost) return add_visit(builder, op);
    if (op.definition == &kConstantOp) return add_constant(builder, op);
    if (op.definition == &kConvertOp) return add_convert(builder, op);
    if (op.definition == &kBitcastConvertOp) return add_bitcast(builder, op);
    if (op.definition == &kDotGeneralOp) return add_product(builder, op);
    if (op.definition == &kNextAfterOp || op.definition == &kMulhiOp ||
        op.definition == &kRngBitGeneratorOp) {
      const ValueId last = op.results.back();
      unsupported(op,
                  fmt::format("on {} is not supported; convert from or to {}", name_of(dtype(last)),
                              is_narrow_float(dtype(last)) ? "f32" : "ui8"));
    }
    add_computed(builder, op);
  }

  /// The same op on values as they are kept.
  void add_same(const Op& op, Keep keep) {
    Op copy = op;
    for (Graph& region : copy.regions) region = Widener(region, keep).run();
    for (ValueId& operand : copy.operands) operand = ids_[index(operand)];
    for (TensorType& type : copy.declared) type = kept(std::move(type));
    append(op, std::move(copy));
  }

  /// The host sees what is stored; its integers are brought into their range.
  void add_visit(GraphBuilder& builder, const Op& op) {
    add_same(op, Keep::kStored);
    for (const ValueId result : op.results) {
      if (!is_narrow_integer(dtype(result))) continue;
      set(result, narrow::encoded(value(builder, result), dtype(result)));
    }
  }

  void append(const Op& op, Op copy) {
    std::vector<std::string> names;
    for (const ValueId result : op.results) names.push_back(from_.value(result).name);
    const Op& added = to_.add_op(std::move(copy), names);
    for (std::size_t i = 0; i < op.results.size(); ++i) {
      ids_[index(op.results[i])] = added.results[i];
    }
  }

  void add_constant(GraphBuilder& builder, const Op& op) {
    HostTensor constant = op.definition->evaluate(op, {})[0];
    const DType type = constant.type.dtype;
    if (keep_ == Keep::kStored || is_narrow_integer(type)) {
      constant.type.dtype = narrow::stored_as(type);
      return set(op.results[0], builder.constant(std::move(constant)));
    }
    HostTensor numbers(kept(constant.type));
    for (std::size_t i = 0; i < static_cast<std::size_t>(numbers.type.elements()); ++i) {
      write_float(numbers, i, read_float(constant, i));
    }
    set(op.results[0], builder.constant(std::move(numbers)));
  }

  void add_convert(GraphBuilder& builder, const Op& op) {
    const ValueId x = op.operands[0], result = op.results[0];
    if (dtype(x) == dtype(result)) return set(result, value(builder, x));
    const Tensor numbers = number(builder, x);
    if (!is_narrow(dtype(result))) return set(result, convert(numbers, dtype(result)));
    set_stored(result, narrow::converted(numbers, dtype(result)));
  }

  void add_bitcast(GraphBuilder& builder, const Op& op) {
    const ValueId x = op.operands[0], result = op.results[0];
    const DType from = dtype(x), to = dtype(result);
    if (from == to) return set(result, value(builder, x));
    Tensor stored = value(builder, x);
    if (keep_ != Keep::kStored) stored = narrow::encoded(stored, from);
    if (bit_width(from) == bit_width(to)) {
      stored = bitcast(stored, {narrow::stored_as(to), stored.shape()});
    } else {
      stored = narrow::regrouped(stored, from, from_.type(result));
    }
    if (!is_narrow(to)) return set(result, stored);
    set_stored(result, is_narrow_integer(to) ? narrow::encoded(stored, to) : stored);
  }

  /// Of floats of 8 bits the product is of f32.
  void add_product(GraphBuilder& builder, const Op& op) {
    std::vector<Tensor> operands;
    bool of_floats = false;
    for (const ValueId operand : op.operands) {
      operands.push_back(number(builder, operand));
      of_floats = of_floats || is_narrow_float(dtype(operand));
    }
    TensorType type = from_.type(op.results[0]);
    const DType result = type.dtype;
    type.dtype = narrow::computed_as(result);
    if (of_floats && is_float(result)) {
      type.dtype = DType::kF32;
      for (Tensor& operand : operands) operand = convert(operand, DType::kF32);
    }
    Op copy = op;
    copy.declared = {type};
    erase_algorithm(copy);
    const Tensor product = builder.append(*op.definition, operands, std::move(copy))[0];
    if (is_narrow(result)) return set_number(op, op.results[0], product);
    set(op.results[0], convert(product, result));
  }

  /// The same op on numbers.
  void add_computed(GraphBuilder& builder, const Op& op) {
    const bool is_of_bits = op.definition == &kShiftRightLogicalOp || op.definition == &kPopcntOp ||
                            op.definition == &kCountLeadingZerosOp;
    const bool shows_bits = is_of_bits && is_narrow_integer(dtype(op.operands[0]));
    Op copy = op;
    // What combines elements of a region is one op nearly always: then what it gives is right at
    // the end, however often it wraps on the way; floats are rounded once.
    for (Graph& region : copy.regions) {
      const Keep keep = region.ops().size() > 1 ? Keep::kExactNumbers : Keep::kNumbers;
      region = Widener(region, keep).run();
    }
    std::vector<Tensor> operands;
    for (const ValueId operand : op.operands) operands.push_back(number(builder, operand));
    if (shows_bits) {
      const DType type = operands[0].dtype();
      operands[0] = bitcast(narrow::unsigned_bits(operands[0], dtype(op.operands[0])),
                            {type, operands[0].shape()});
    }
    if (op.definition == &kShiftRightArithmeticOp && is_narrow_integer(dtype(op.operands[0]))) {
      operands[0] = narrow::sign_extended(operands[0], dtype(op.operands[0]));
    }
    for (TensorType& type : copy.declared) type.dtype = narrow::computed_as(type.dtype);
    std::vector<Tensor> results = builder.append(*op.definition, operands, std::move(copy));
    if (op.definition == &kCountLeadingZerosOp && shows_bits) {
      results[0] = results[0] - static_cast<double>(8 - bit_width(dtype(op.operands[0])));
    }
    for (std::size_t i = 0; i < results.size(); ++i) set_number(op, op.results[i], results[i]);
  }

  const Graph& from_;
  Keep keep_;
  bool is_main_ = false;
  Graph to_;
  std::vector<ValueId> ids_;
};

}  // namespace

Graph widen_narrow_types(Graph graph) {
  if (!has_narrow(graph)) return graph;
  return Widener(graph, Widener::Keep::kStored).run_main();
}

}  // namespace superstep
