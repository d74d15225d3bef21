#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "compiler/ops/elements.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/verify.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"
#include "compiler/passes/split/rules.h"

namespace superstep {
namespace split {

GraphBit compared(const Op& op, GraphBit is_below, GraphBit is_equal, GraphBit is_above) {
  const std::string& direction = attribute<std::string>(op, "comparison_direction");
  if (direction == "EQ") return is_equal;
  if (direction == "NE") return !is_equal;
  if (direction == "LT") return is_below;
  if (direction == "GT") return is_above;
  return direction == "LE" ? is_below | is_equal : is_above | is_equal;
}

}  // namespace split

namespace {

using split::part_of;
using split::Parts;

/// Whether values of a dtype become two. Complex numbers do first, so that those of f64 are f64
/// then, as all others are that functions of them are made of.
using Splits = bool (*)(DType);
bool splits_complex(DType dtype) { return is_complex(dtype); }
bool splits_words(DType dtype) { return is_wide(dtype); }

/// As a part of one that is split.
TensorType part_type(TensorType type) {
  type.dtype = part_of(type.dtype);
  return type;
}

/// The bytes of a wide tensor as one of its parts, which are neighbours.
TensorType packed_type(TensorType type) {
  type = part_type(std::move(type));
  type.shape.push_back(2);
  return type;
}

/// One part of each element.
HostTensor part_of_constant(const HostTensor& value, std::size_t part) {
  HostTensor result(part_type(value.type)), parts = value;
  parts.type = packed_type(value.type);
  for (std::size_t i = 0; i < static_cast<std::size_t>(value.type.elements()); ++i) {
    copy_element(result, i, parts, 2 * i + part);
  }
  return result;
}

std::span<const split::Rule> rules_of(DType dtype) {
  if (is_complex(dtype)) return split::complex_rules();
  return is_float(dtype) ? split::double_rules() : split::integer_rules();
}

/// The numbers of a constant of i64 as i32, if they all fit.
std::optional<HostTensor> as_i32(const HostTensor& value) {
  if (value.type.dtype != DType::kI64) return std::nullopt;
  HostTensor result(TensorType{DType::kI32, value.type.shape});
  for (std::size_t i = 0; i < static_cast<std::size_t>(value.type.elements()); ++i) {
    const std::int64_t number = read_int(value, i);
    write_int(result, i, number);
    if (read_int(result, i) != number) return std::nullopt;
  }
  return result;
}

/// Whether i32 hold all numbers of an integer type.
bool fits_i32(DType dtype) {
  return dtype == DType::kI1 || (is_integer(dtype) && size_of(dtype) <= (is_signed(dtype) ? 4 : 2));
}

/// Elementwise ops whose results fit i32 where their operands do.
bool stays_in_i32(const Op& op) {
  constexpr std::array kOps = {&kCompareOp, &kMinimumOp,   &kMaximumOp, &kClampOp,
                               &kAndOp,     &kOrOp,        &kXorOp,     &kNotOp,
                               &kSignOp,    &kRemainderOp, &kSelectOp};
  return std::ranges::find(kOps, op.definition) != kOps.end();
}

/// The number of a scalar constant of i64.
std::optional<std::int64_t> constant_number(const Graph& graph, ValueId v) {
  const Op* op = graph.producer_of(v);
  if (op == nullptr || op->definition != &kConstantOp) return std::nullopt;
  const HostTensor& value = attribute<SharedTensor>(*op, "value").get();
  if (value.type != TensorType{DType::kI64, {}}) return std::nullopt;
  return value.get<std::int64_t>(0);
}

/// What a constant adds to an argument of a region; 0: an op does something else.
std::int64_t constant_step(const Graph& region, ValueId v, ValueId argument) {
  const Op* op = region.producer_of(v);
  if (op == nullptr) return 0;
  const bool subtracts = op->definition == &kSubtractOp;
  if (!subtracts && op->definition != &kAddOp) return 0;
  for (const std::size_t i : {0U, 1U}) {
    const auto step = constant_number(region, op->operands[1 - i]);
    if (op->operands[i] == argument && step && !(subtracts && i == 1)) {
      return subtracts ? -*step : *step;
    }
  }
  return 0;
}

/// The argument of a loop's regions that the loop counts up or down as long as it is below or above
/// another value: the positions of both, or of the first alone where the other is a constant. It
/// fits i32 then if it does at first, and the other value does.
struct Counter {
  std::size_t counter;
  std::optional<std::size_t> limit;
};
std::optional<Counter> counter_of(const Op& loop) {
  const Graph &condition = loop.regions[0], &body = loop.regions[1];
  const Op* compare = condition.producer_of(condition.results()[0]);
  if (compare == nullptr || compare->definition != &kCompareOp ||
      condition.type(compare->operands[0]) != TensorType{DType::kI64, {}}) {
    return std::nullopt;
  }
  const auto position = [&](ValueId v) {
    const auto& arguments = condition.arguments();
    return static_cast<std::size_t>(std::ranges::find(arguments, v) - arguments.begin());
  };
  const std::size_t counter = position(compare->operands[0]);
  if (counter >= body.results().size()) return std::nullopt;
  const std::int64_t step = constant_step(body, body.results()[counter], body.arguments()[counter]);
  const auto& direction = attribute<std::string>(*compare, "comparison_direction");
  const bool counts = (direction[0] == 'L' && step > 0) || (direction[0] == 'G' && step < 0);
  if (!counts) return std::nullopt;
  const std::size_t limit = position(compare->operands[1]);
  if (limit < condition.arguments().size()) {
    // What is beside a number that fits.
    const bool is_near = direction[1] == 'T' && (step == 1 || step == -1);
    return is_near ? std::optional(Counter{counter, limit}) : std::nullopt;
  }
  using Range = std::numeric_limits<std::int32_t>;
  const auto number = constant_number(condition, compare->operands[1]);
  const auto fits = [](std::int64_t n) { return n >= Range::min() && n <= Range::max(); };
  if (!number || !fits(*number) || !fits(step)) return std::nullopt;
  const std::int64_t beside = direction[1] == 'T' ? (step > 0 ? 1 : -1) : 0;
  if (!fits(*number - beside + step)) return std::nullopt;
  return Counter{counter, std::nullopt};
}

/// From so many ops on words on, an op on f64 may have a vertex of its own.
constexpr std::size_t kOpsOfUnit = 40;
/// Where there are more ops on f64, they are to share code even if each could do with less.
constexpr std::ptrdiff_t kManyUnits = 16;

/// Bitcasts between elements of different sizes, whose parts are along any last dimensions.
Tensor bitcast_to(Tensor x, const TensorType& to) {
  const std::size_t from_size = size_of(x.dtype()), to_size = size_of(to.dtype);
  if (from_size == to_size) return bitcast(reshape(x, to.shape), to);
  Shape shape = from_size > to_size ? x.shape() : to.shape;
  shape.push_back(
      static_cast<std::int64_t>(std::max(from_size, to_size) / std::min(from_size, to_size)));
  if (from_size > to_size) return reshape(bitcast(x, {to.dtype, shape}), to.shape);
  return bitcast(reshape(x, shape), to);
}

/// Makes a graph without wide types of one with them. An i64 that is known to fit is kept as i32,
/// and as parts only where somebody needs them.
class Splitter {
 public:
  /// Of a module's graph: arguments and results stay one value each, with the same bytes.
  Splitter(const Graph& from, Splits splits) : Splitter(from, splits, {}) { is_main_ = true; }

  Graph run() {
    for (std::size_t i = 0; i < from_.arguments().size(); ++i) add_argument(i);
    for (const Op& op : from_.ops()) add(op);
    std::vector<ValueId> results;
    GraphBuilder builder(to_, from_.ops().empty() ? OpLocation{} : from_.ops().back().location);
    for (std::size_t i = 0; i < from_.results().size(); ++i) {
      const ValueId result = from_.results()[i];
      Parts parts = tensors(builder, result);
      if (is_main_ && parts.size() > 1) parts = {packed(parts)};
      // A counter is within its range, so that the lower word says it all.
      if (results_are_narrow_ && is_narrow(i) && is_split(result))
        parts = {convert(parts[0], DType::kI32)};
      for (const Tensor& part : parts) results.push_back(part.id);
    }
    to_.set_results(std::move(results));
    return with_units();
  }

 private:
  struct Split {
    std::vector<ValueId> parts;  ///< none yet where `narrow` is there
    std::optional<ValueId> narrow;
  };

  /// Of a region; the arguments and results with numbers in `narrow` are i32.
  Splitter(const Graph& from, Splits splits, std::vector<bool> narrow)
      : from_(from), is_split_(splits), narrow_(std::move(narrow)), splits_(from.values().size()) {
    constexpr std::array kArithmetic = {&kAddOp, &kSubtractOp, &kMultiplyOp, &kDivideOp};
    const auto is_unit = [&](const Op& op) {
      return std::ranges::find(kArithmetic, op.definition) != kArithmetic.end() &&
             from.type(op.operands[0]).dtype == DType::kF64;
    };
    has_many_units_ = std::ranges::count_if(from.ops(), is_unit) > kManyUnits;
  }

  [[nodiscard]] bool is_narrow(std::size_t position) const {
    return position < narrow_.size() && narrow_[position];
  }
  [[nodiscard]] bool is_split(DType dtype) const { return is_split_(dtype); }
  [[nodiscard]] bool is_split(ValueId old) const { return is_split(from_.type(old).dtype); }
  [[nodiscard]] bool has_split(const std::vector<ValueId>& values) const {
    return std::ranges::any_of(values, [&](ValueId v) { return is_split(v); });
  }
  [[nodiscard]] Split& split_of(ValueId old) { return splits_[index(old)]; }

  Parts tensors(GraphBuilder& builder, ValueId old) {
    Split& split = split_of(old);
    if (split.parts.empty()) {
      set(old, split::converted({builder.value(*split.narrow)}, DType::kI32, DType::kI64));
    }
    Parts parts;
    for (const ValueId part : split.parts) parts.push_back(builder.value(part));
    return parts;
  }

  void set(ValueId old, const Parts& parts) {
    split_of(old).parts.clear();
    for (const Tensor& part : parts) split_of(old).parts.push_back(part.id);
  }

  /// Whether all wide operands are known to fit i32.
  [[nodiscard]] bool are_narrow(const Op& op) {
    return std::ranges::all_of(op.operands, [&](ValueId operand) {
      return !is_split(operand) || split_of(operand).narrow.has_value();
    });
  }

  void add_argument(std::size_t position) {
    const ValueId argument = from_.arguments()[position];
    const auto& [type, name, producer] = from_.value(argument);
    Split& split = split_of(argument);
    if (!is_split(type.dtype)) {
      split.parts = {to_.add_argument(type, name)};
    } else if (is_main_) {
      GraphBuilder builder(to_, {});
      set(argument, unpacked(builder.value(to_.add_argument(packed_type(type), name))));
    } else if (is_narrow(position)) {
      split.narrow = to_.add_argument({DType::kI32, type.shape}, name);
    } else {
      for (int part = 0; part < 2; ++part) {
        split.parts.push_back(to_.add_argument(part_type(type), name));
      }
    }
  }

  static Parts unpacked(Tensor pairs) {
    return {element_of_last(pairs, 0), element_of_last(pairs, 1)};
  }
  static Tensor packed(const Parts& parts) {
    Shape shape = parts[0].shape();
    shape.push_back(1);
    const std::vector<Tensor> both = {reshape(parts[0], shape), reshape(parts[1], shape)};
    return concatenate(both, static_cast<std::int64_t>(shape.size()) - 1);
  }

  void add(const Op& op) {
    GraphBuilder builder(to_, op.location);
    if (op.definition->traits.control == Control::kLoop) return add_loop(builder, op);
    if (op.definition->traits.control == Control::kBranch) return add_branch(builder, op);
    if (op.definition->traits.effect == Effect::kHost) return add_visit(builder, op);
    const bool is_whole = !op.regions.empty() || op.definition->traits.is_opaque;
    if (is_whole || (!has_split(op.operands) && !has_split(op.results))) {
      return add_flattened(builder, op, {}, {}, {});
    }
    if (lowering_as<ConstantLowering>(op, from_) != nullptr) return add_constant(builder, op);
    // What is neither elementwise nor has a function of elements only moves them.
    const bool moves =
        op.definition == &kSelectOp || lowering_as<ElementwiseLowering>(op, from_) == nullptr;
    if ((moves || stays_in_i32(op)) && are_narrow(op)) return add_narrow(op);
    if (moves) return add_by_parts(builder, op);
    add_elementwise(builder, op);
  }

  /// Values that no turn changes are i32 where they are known to fit, and so is what the loop
  /// counts.
  void add_loop(GraphBuilder& builder, const Op& op) {
    const std::size_t carried = op.results.size();
    std::vector<bool> narrow(op.operands.size());
    const Graph& body = op.regions[1];
    for (std::size_t i = 0; i < narrow.size(); ++i) {
      const bool stays = i >= carried || body.results()[i] == body.arguments()[i];
      narrow[i] = stays && split_of(op.operands[i]).narrow.has_value();
    }
    if (const std::optional<Counter> found = counter_of(op)) {
      const auto [counter, limit] = *found;
      narrow[counter] =
          split_of(op.operands[counter]).narrow.has_value() && (!limit || narrow[*limit]);
    }
    add_flattened(builder, op, narrow,
                  {narrow.begin(), narrow.begin() + static_cast<std::ptrdiff_t>(carried)}, narrow);
  }

  void add_branch(GraphBuilder& builder, const Op& op) {
    std::vector<bool> narrow;
    for (const ValueId operand : op.operands)
      narrow.push_back(split_of(operand).narrow.has_value());
    // The first operand chooses the region.
    add_flattened(builder, op, narrow, {}, {narrow.begin() + 1, narrow.end()});
  }

  /// The same op on the parts of its operands, one after the other, or on i32.
  void add_flattened(GraphBuilder& builder, const Op& op, const std::vector<bool>& operands,
                     const std::vector<bool>& results, const std::vector<bool>& arguments) {
    const auto says = [](const std::vector<bool>& narrow, std::size_t i) {
      return i < narrow.size() && narrow[i];
    };
    Op copy = op;
    for (Graph& region : copy.regions) {
      Splitter inner(region, is_split_, arguments);
      inner.results_are_narrow_ = !results.empty();
      region = inner.run();
    }
    copy.operands.clear();
    copy.declared.clear();
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
      if (says(operands, i)) {
        copy.operands.push_back(*split_of(op.operands[i]).narrow);
      } else {
        for (const Tensor& part : tensors(builder, op.operands[i])) {
          copy.operands.push_back(part.id);
        }
      }
    }
    std::vector<std::string> names;
    for (std::size_t i = 0; i < op.results.size(); ++i) {
      const bool is_pair = is_split(op.results[i]) && !says(results, i);
      names.insert(names.end(), is_pair ? 2 : 1, from_.value(op.results[i]).name);
    }
    // Of ops with regions the types follow from those.
    if (op.regions.empty()) {
      for (const TensorType& type : op.declared) {
        const bool is_pair = is_split(type.dtype);
        copy.declared.insert(copy.declared.end(), is_pair ? 2 : 1,
                             is_pair ? part_type(type) : type);
      }
    }
    const Op& added = to_.add_op(std::move(copy), names);
    auto next = added.results.begin();
    for (std::size_t i = 0; i < op.results.size(); ++i) {
      Split& split = split_of(op.results[i]);
      if (says(results, i)) {
        split.narrow = *next++;
      } else {
        const std::ptrdiff_t count = is_split(op.results[i]) ? 2 : 1;
        split.parts.assign(next, next + count);
        next += count;
      }
    }
  }

  /// The host sees the bytes of whole elements.
  void add_visit(GraphBuilder& builder, const Op& op) {
    Op copy = op;
    for (ValueId& operand : copy.operands) {
      const Parts parts = tensors(builder, operand);
      operand = (parts.size() > 1 ? packed(parts) : parts[0]).id;
    }
    for (TensorType& type : copy.declared) {
      if (is_split(type.dtype)) type = packed_type(std::move(type));
    }
    std::vector<std::string> names;
    for (const ValueId result : op.results) names.push_back(from_.value(result).name);
    const std::vector<ValueId> results = to_.add_op(std::move(copy), names).results;
    for (std::size_t i = 0; i < results.size(); ++i) {
      const Tensor result = builder.value(results[i]);
      set(op.results[i], is_split(op.results[i]) ? unpacked(result) : Parts{result});
    }
  }

  /// One number repeated is kept once, as the upper words of most integers are.
  static Tensor constant_part(GraphBuilder& builder, const HostTensor& value, std::size_t number) {
    HostTensor part = part_of_constant(value, number);
    if (part.type.elements() < 2 || !all_equal(part)) return builder.constant(std::move(part));
    HostTensor element(TensorType{part.type.dtype, {}});
    write_bits(element, 0, read_bits(part, 0));
    return broadcast(builder.constant(std::move(element)), part.type.shape, {});
  }

  void add_constant(GraphBuilder& builder, const Op& op) {
    const HostTensor value = op.definition->evaluate(op, {})[0];
    if (const auto narrow = as_i32(value)) {
      split_of(op.results[0]).narrow = builder.constant(*narrow).id;
    }
    set(op.results[0], {constant_part(builder, value, 0), constant_part(builder, value, 1)});
  }

  /// The same op on i32.
  void add_narrow(const Op& op) {
    Op copy = op;
    for (ValueId& operand : copy.operands) {
      const Split& split = split_of(operand);
      operand = is_split(operand) ? *split.narrow : split.parts[0];
    }
    const auto narrow = [&](TensorType type) {
      if (is_split(type.dtype)) type.dtype = DType::kI32;
      return type;
    };
    for (TensorType& type : copy.declared) type = narrow(type);
    const ValueId result =
        to_.add_op(std::move(copy), {from_.value(op.results[0]).name}).results[0];
    if (is_split(op.results[0])) {
      split_of(op.results[0]).narrow = result;
    } else {
      split_of(op.results[0]).parts = {result};
    }
  }

  /// The same op on each part; operands that have none are the same for all.
  void add_by_parts(GraphBuilder& builder, const Op& op) {
    std::vector<ValueId> results;
    for (std::size_t part = 0; part < 2; ++part) {
      Op copy = op;
      for (ValueId& operand : copy.operands) {
        operand = tensors(builder, operand)[is_split(operand) ? part : 0].id;
      }
      for (TensorType& type : copy.declared) {
        if (is_split(type.dtype)) type = part_type(std::move(type));
      }
      results.push_back(to_.add_op(std::move(copy), {from_.value(op.results[0]).name}).results[0]);
    }
    split_of(op.results[0]).parts = std::move(results);
  }

  void add_convert(GraphBuilder& builder, const Op& op) {
    const DType from = from_.type(op.operands[0]).dtype, to = from_.type(op.results[0]).dtype;
    const Split& operand = split_of(op.operands[0]);
    if (is_complex(from) || is_complex(to)) {
      // Of a complex number as a real one the real part.
      Parts parts = tensors(builder, op.operands[0]);
      for (Tensor& part : parts) part = convert(part, real_of(to));
      if (!is_complex(to)) parts.resize(1, parts[0]);
      if (!is_complex(from)) parts.push_back(parts[0].like(0));
      return set(op.results[0], parts);
    }
    if (to == DType::kI64 && fits_i32(from)) {
      split_of(op.results[0]).narrow = convert(builder.value(operand.parts[0]), DType::kI32).id;
    } else if (operand.narrow) {
      set(op.results[0], split::converted({builder.value(*operand.narrow)}, DType::kI32, to));
    } else {
      set(op.results[0], split::converted(tensors(builder, op.operands[0]), from, to));
    }
  }

  /// Wide elements have the bytes of a pair of words.
  void add_bitcast(GraphBuilder& builder, const Op& op) {
    const Parts operand = tensors(builder, op.operands[0]);
    const TensorType from = from_.type(op.operands[0]), result = from_.type(op.results[0]);
    const bool becomes_parts = is_split(result.dtype);
    Parts parts = operand;
    if (operand.size() == 2 && becomes_parts && from.shape == result.shape) {
      for (Tensor& part : parts) part = bitcast(part, part_type(result));
    } else {
      const Tensor whole = operand.size() == 2 ? packed(operand) : operand[0];
      const Tensor bits = bitcast_to(whole, becomes_parts ? packed_type(result) : result);
      parts = becomes_parts ? unpacked(bits) : Parts{bits};
    }
    set(op.results[0], parts);
  }

  void add_elementwise(GraphBuilder& builder, const Op& op) {
    if (op.definition == &kConvertOp) return add_convert(builder, op);
    const TensorType result = from_.type(op.results[0]);
    const DType dtype = from_.type(op.operands[0]).dtype;
    if (op.definition == &kBitcastConvertOp) return add_bitcast(builder, op);
    const DType wide = is_split(dtype) ? dtype : result.dtype;
    const std::span<const split::Rule> rules = rules_of(wide);
    const auto rule = std::ranges::find(rules, op.definition, &split::Rule::op);
    if (rule == rules.end()) {
      const std::string python = op.location.python.text();
      unsupported(op, fmt::format("on {} is not supported{}; convert to {} before it",
                                  name_of(wide), python.empty() ? "" : " (" + python + ")",
                                  is_complex(wide) || is_float(wide) ? "f32" : "i32"));
    }
    split::WideOp parts{op, dtype, {}};
    for (const ValueId operand : operands_in_order(op)) {
      Parts& own = parts.operands.emplace_back(tensors(builder, operand));
      const bool hides =
          has_many_units_ && is_split(operand) && !is_complex(from_.type(operand).dtype);
      for (Tensor& part : own) {
        const auto number = hides ? known(split::GraphWord{part}) : std::nullopt;
        if (number) part = hidden(builder, *number);
        // Bounds of a clamp may be scalars.
        if (part.shape() != result.shape) part = broadcast(part, result.shape, {});
      }
    }
    const std::size_t first = to_.ops().size();
    set(op.results[0], rule->split(parts));
    if (dtype == DType::kF64 && to_.ops().size() - first >= kOpsOfUnit) {
      unit_ends_.emplace_back(first, to_.ops().size());
    }
  }

  /// Of a sum or product of f64 a number that counts for all elements comes second, so that the
  /// code is that of others.
  [[nodiscard]] std::vector<ValueId> operands_in_order(const Op& op) const {
    std::vector<ValueId> operands = op.operands;
    const bool commutes = op.definition == &kAddOp || op.definition == &kMultiplyOp;
    if (!commutes || from_.type(operands[0]).dtype != DType::kF64) return operands;
    const auto is_repeated = [&](ValueId v) {
      const Op* maker = from_.producer_of(v);
      return maker != nullptr && maker->definition == &kBroadcastInDimOp &&
             from_.type(maker->operands[0]).elements() == 1;
    };
    if (is_repeated(operands[0]) && !is_repeated(operands[1])) std::swap(operands[0], operands[1]);
    return operands;
  }

  /// A number of which code knows nothing, so that it serves others too.
  Tensor hidden(GraphBuilder& builder, std::uint32_t number) {
    const auto [at, is_new] = hidden_.try_emplace(number);
    if (is_new) {
      const Tensor constant = builder.number(DType::kU32, number);
      Op barrier;
      barrier.attributes["hides"] = true;
      at->second = builder.apply(kOptimizationBarrierOp, {constant}, std::move(barrier)).id;
    }
    return builder.value(at->second);
  }

  /// The graph, in which the ops that one on f64 became bear its number: those of two of a kind are
  /// alike, so that one piece of code may serve both.
  Graph with_units() {
    if (unit_ends_.empty()) return std::move(to_);
    Rewrite rewrite(to_);
    std::size_t unit = 0;
    for (std::size_t i = 0; i < to_.ops().size(); ++i) {
      const Op& op = to_.ops()[i];
      Op copy = rewrite.translated(op);
      while (unit < unit_ends_.size() && unit_ends_[unit].second <= i) ++unit;
      if (unit < unit_ends_.size() && unit_ends_[unit].first <= i) {
        copy.attributes["unit"] = static_cast<std::int64_t>(unit);
      }
      rewrite.add(op, std::move(copy));
    }
    return rewrite.finish();
  }

  const Graph& from_;
  Splits is_split_;
  bool is_main_ = false, results_are_narrow_ = false;
  std::vector<bool> narrow_;
  Graph to_;
  std::vector<Split> splits_;
  bool has_many_units_ = false;
  std::map<std::uint32_t, ValueId> hidden_;
  std::vector<std::pair<std::size_t, std::size_t>> unit_ends_;  ///< ops of `to_`, in order
};

bool has_anywhere(const Graph& graph, Splits splits) {
  const auto in_regions = [&](const Op& op) {
    return std::ranges::any_of(op.regions,
                               [&](const Graph& region) { return has_anywhere(region, splits); });
  };
  return std::ranges::any_of(graph.values(),
                             [&](const Value& value) { return splits(value.type.dtype); }) ||
         std::ranges::any_of(graph.ops(), in_regions);
}

}  // namespace

Graph split_wide_types(Graph graph) {
  for (const Splits splits : {splits_complex, splits_words}) {
    if (!has_anywhere(graph, splits)) continue;
    // Functions of parts may be made of others.
    graph = apply_with_regions(Splitter(graph, splits).run(), expand_ops);
  }
  return graph;
}

}  // namespace superstep
