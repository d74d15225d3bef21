#include "compiler/ops/comparator.h"

#include <algorithm>
#include <limits>
#include <string>
#include <variant>

#include "compiler/graph/append_copy.h"
#include "compiler/ops/compare.h"
#include "compiler/ops/elements.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/scalar_region.h"

namespace superstep {
namespace {

constexpr unsigned kBothRows = 3;

struct SameAttribute {
  template <class T>
  bool operator()(const T& a, const T& b) const {
    return a == b;
  }
  bool operator()(const SharedTensor& a, const SharedTensor& b) const {
    return a.get().type == b.get().type && a.get().data == b.get().data;
  }
  template <class T, class U>
  bool operator()(const T&, const U&) const {
    return false;
  }
};

bool same_attributes(const Op& a, const Op& b) {
  return std::ranges::equal(a.attributes, b.attributes, [](const auto& x, const auto& y) {
    return x.first == y.first && std::visit(SameAttribute{}, x.second, y.second);
  });
}

const std::string& direction_of(const Op& compare) {
  return std::get<std::string>(compare.attributes.at("comparison_direction"));
}

bool is_less_than_a_word(DType dtype) { return size_of(dtype) < 4; }

/// The bits of a float, those of the magnitude flipped below zero, or back: the same either way.
Tensor flipped_below_zero(Tensor bits, DType of_float) {
  const std::uint64_t sign = std::uint64_t{1} << (8 * size_of(of_float) - 1);
  HostTensor magnitude(TensorType{bits.dtype(), {}});
  write_bits(magnitude, 0, sign - 1);
  const Tensor all = broadcast(bits.builder->constant(std::move(magnitude)), bits.shape(), {});
  return select(bits < 0.0, bits ^ all, bits);
}

DType signed_of(DType dtype) {
  const std::size_t size = size_of(dtype);
  return size == 2 ? DType::kI16 : size == 4 ? DType::kI32 : DType::kI64;
}

Tensor total_order_of(Tensor x) {
  const Tensor bits = bitcast(x, {signed_of(x.dtype()), x.shape()});
  return flipped_below_zero(is_less_than_a_word(x.dtype()) ? convert(bits, DType::kI32) : bits,
                            x.dtype());
}
Tensor float_of_total_order(Tensor key, DType dtype) {
  const Tensor bits = convert(flipped_below_zero(key, dtype), signed_of(dtype));
  return bitcast(bits, {dtype, key.shape()});
}

bool orders_floats(const Op& op, const Graph& region) {
  return op.definition == &kCompareOp && is_float(region.type(op.operands[0]).dtype) &&
         !is_total_order(op) && (direction_of(op) == "LT" || direction_of(op) == "GT");
}

/// A number, the positive zero, or the NaN that there is one of.
Tensor canonical(Tensor x) {
  const Tensor number = select(x == 0.0, x.like(0), x);
  return select(compare("NE", x, x), x.like(std::numeric_limits<double>::quiet_NaN()), number);
}

}  // namespace

Graph with_ordered_floats(const Graph& comparator) {
  Graph graph;
  std::vector<ValueId> values(comparator.values().size());
  for (const ValueId argument : comparator.arguments()) {
    values[index(argument)] = graph.add_argument(comparator.type(argument), {});
  }
  for (const Op& op : comparator.ops()) {
    if (!orders_floats(op, comparator)) {
      append_copy(graph, op, values);
      continue;
    }
    GraphBuilder builder(graph, op.location);
    const auto operand = [&](std::size_t i) {
      return canonical(builder.value(values[index(op.operands[i])]));
    };
    Op rest;
    rest.attributes = op.attributes;
    rest.attributes.insert_or_assign("compare_type", std::string("TOTALORDER"));
    const Tensor left = operand(0), right = operand(1);
    values[index(op.results[0])] = builder.apply(kCompareOp, {left, right}, std::move(rest)).id;
  }
  std::vector<ValueId> results;
  for (const ValueId result : comparator.results()) results.push_back(values[index(result)]);
  graph.set_results(std::move(results));
  return graph;
}

Tensor widened_bits(Tensor x) {
  if (!is_less_than_a_word(x.dtype())) return x;
  if (is_float(x.dtype())) x = bitcast(x, {DType::kU16, x.shape()});
  return convert(x, DType::kU32);
}

Tensor from_widened_bits(Tensor x, DType dtype) {
  if (!is_less_than_a_word(dtype)) return x;
  if (!is_float(dtype)) return convert(x, dtype);
  return bitcast(convert(x, DType::kU16), {dtype, x.shape()});
}

Comparator::Comparator(const Graph& region)
    : region_(region),
      classes_(region.values().size()),
      rows_(region.values().size()),
      key_of_(region.values().size()) {
  const std::vector<ValueId>& arguments = region.arguments();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    classes_[index(arguments[i])] = i / 2;
    rows_[index(arguments[i])] = 1U << (i % 2);
  }
  std::size_t classes = arguments.size() / 2;
  for (std::size_t number = 0; number < region.ops().size(); ++number) {
    const Op& op = region.ops()[number];
    const auto is_same = [&](const Op& other) {
      return other.definition == op.definition && other.declared == op.declared &&
             std::ranges::equal(
                 other.operands, op.operands, {}, [&](ValueId v) { return classes_[index(v)]; },
                 [&](ValueId v) { return classes_[index(v)]; }) &&
             same_attributes(other, op);
    };
    const auto before = std::span(region.ops()).first(number);
    const auto known = std::ranges::find_if(before, is_same);
    unsigned rows = 0;
    for (const ValueId operand : op.operands) rows |= rows_[index(operand)];
    for (std::size_t i = 0; i < op.results.size(); ++i) {
      const std::size_t result = index(op.results[i]);
      classes_[result] = known != before.end() ? classes_[index(known->results[i])] : classes++;
      rows_[result] = rows;
    }
  }
  find_keys();
}

void Comparator::find_keys() {
  const auto add = [&](ValueId value) {
    const unsigned rows = rows_[index(value)];
    if (rows == 0 || rows == kBothRows || key_of_[index(value)]) return;
    const std::size_t number = classes_[index(value)];
    const auto known = std::ranges::find(
        keys_, number, [&](const Key& key) { return classes_[index(key.value)]; });
    key_of_[index(value)] = static_cast<std::size_t>(known - keys_.begin());
    if (known != keys_.end()) return;
    Key& key = keys_.emplace_back(Key{value, region_.type(value).dtype});
    if (number < region_.arguments().size() / 2) key.operand = number;
  };
  for (const Op& op : region_.ops()) {
    if (op.results.empty() || rows_[index(op.results[0])] != kBothRows) continue;
    for (const ValueId operand : op.operands) add(operand);
  }
  for (const ValueId result : region_.results()) add(result);
  for (std::size_t i = 0; i < keys_.size(); ++i) keys_[i].form = form_of(i);
}

Comparator::Form Comparator::form_of(std::size_t key) const {
  const DType dtype = keys_[key].dtype;
  const Form otherwise = is_less_than_a_word(dtype) ? Form::kBits : Form::kAsIs;
  bool is_total = is_float(dtype);
  for (const Op& op : region_.ops()) {
    const auto is_key = [&](ValueId v) { return key_of_[index(v)] == key; };
    if (op.results.empty() || rows_[index(op.results[0])] != kBothRows ||
        !std::ranges::any_of(op.operands, is_key)) {
      continue;
    }
    if (op.definition != &kCompareOp || !std::ranges::all_of(op.operands, is_key)) return otherwise;
    is_total = is_total && is_total_order(op);
  }
  const auto is_key_result = [&](ValueId v) { return key_of_[index(v)] == key; };
  if (std::ranges::any_of(region_.results(), is_key_result)) return otherwise;
  if (is_float(dtype)) return is_total ? Form::kTotalOrder : otherwise;
  return is_less_than_a_word(dtype) ? Form::kNumber : Form::kAsIs;
}

bool Comparator::compares_integers(const Op& op) const {
  if (op.definition != &kCompareOp) return false;
  const std::optional<std::size_t> key = key_of_[index(op.operands[0])];
  if (!key || rows_[index(op.results[0])] != kBothRows) return false;
  const Form form = keys_[*key].form;
  return form == Form::kNumber || form == Form::kTotalOrder;
}

std::vector<Tensor> Comparator::keys(std::span<const Tensor> operands) const {
  RegionValues values(region_.values().size());
  for (std::size_t i = 0; i < region_.arguments().size(); ++i) {
    values[index(region_.arguments()[i])] = operands[i / 2];
  }
  std::vector<ValueId> wanted;
  for (const Key& key : keys_) wanted.push_back(key.value);
  append_scalar_region(*operands[0].builder, region_, operands[0].shape(), wanted, values);
  std::vector<Tensor> keys;
  for (const Key& key : keys_) {
    keys.push_back(kept(key, values[index(key.value)].value()));
  }
  return keys;
}

std::optional<Tensor> Comparator::differs(Tensor operand, Tensor key) const {
  if (!decides_alone() || region_.arguments().size() != 2 || keys_[0].dtype != operand.dtype()) {
    return std::nullopt;
  }
  return compare("NE", kept(keys_[0], operand), key);
}

Tensor Comparator::is_before(GraphBuilder& builder, const Shape& shape,
                             std::span<const Tensor> keys, std::span<const Tensor> other) const {
  RegionValues values(region_.values().size());
  const auto kept = [&](ValueId value) {
    return (rows_[index(value)] == 1 ? keys : other)[*key_of_[index(value)]];
  };
  for (const Value& value : region_.values()) {
    const auto id = static_cast<ValueId>(&value - region_.values().data());
    if (!key_of_[index(id)]) continue;
    const Key& key = keys_[*key_of_[index(id)]];
    if (key.form == Form::kAsIs) values[index(id)] = kept(id);
    if (key.form == Form::kBits) values[index(id)] = from_widened_bits(kept(id), key.dtype);
  }
  for (const Op& op : region_.ops()) {
    if (!compares_integers(op)) continue;
    values[index(op.results[0])] =
        compare(direction_of(op).c_str(), kept(op.operands[0]), kept(op.operands[1]));
  }
  append_scalar_region(builder, region_, shape, region_.results(), values);
  return values[index(region_.results()[0])].value();
}

std::optional<Tensor> Comparator::operand_of(std::size_t operand,
                                             std::span<const Tensor> keys) const {
  const auto found = std::ranges::find(keys_, operand, &Key::operand);
  if (found == keys_.end()) return std::nullopt;
  return value_of(*found, keys[static_cast<std::size_t>(found - keys_.begin())]);
}

Tensor Comparator::value_of(const Key& key, Tensor kept) {
  switch (key.form) {
    case Form::kNumber:
      return convert(kept, key.dtype);
    case Form::kTotalOrder:
      return float_of_total_order(kept, key.dtype);
    case Form::kAsIs:
    case Form::kBits:
      break;
  }
  return from_widened_bits(kept, key.dtype);
}

Tensor Comparator::kept(const Key& key, Tensor value) {
  switch (key.form) {
    case Form::kNumber:
      return convert(value, DType::kI32);
    case Form::kTotalOrder:
      return total_order_of(value);
    case Form::kAsIs:
    case Form::kBits:
      break;
  }
  return widened_bits(value);
}

Tensor Comparator::goes_in_front(GraphBuilder& builder, const NumberedRows& rows,
                                 const NumberedRows& other, std::int64_t count) const {
  const Tensor is_earlier = compare("LT", rows.numbers, other.numbers);
  if (decides_alone()) {
    const Tensor key = rows.keys[0], its = other.keys[0];
    return is_before(builder, rows.numbers.shape(), rows.keys, other.keys) |
           (compare("EQ", key, its) & is_earlier);
  }
  // Only the later row can overtake, so that both of a pair come to the same decision.
  std::vector<Tensor> first, second;
  for (std::size_t i = 0; i < rows.keys.size(); ++i) {
    first.push_back(select(is_earlier, rows.keys[i], other.keys[i]));
    second.push_back(select(is_earlier, other.keys[i], rows.keys[i]));
  }
  Tensor is_overtaken = is_before(builder, rows.numbers.shape(), second, first);
  const Tensor later = maximum(rows.numbers, other.numbers);
  is_overtaken = is_overtaken & (later < static_cast<double>(count));
  return is_earlier ^ is_overtaken;
}

bool Comparator::decides_alone() const {
  const Op* op = region_.producer_of(region_.results()[0]);
  if (op == nullptr || op->definition != &kCompareOp || keys_.size() != 1) return false;
  // And not what is made of two keys, as a difference beside 0.
  if (!key_of_[index(op->operands[0])] || !key_of_[index(op->operands[1])]) return false;
  const std::string& direction = direction_of(*op);
  const Key& key = keys_[0];
  return (direction == "LT" || direction == "GT") && rows_[index(op->results[0])] == kBothRows &&
         key.form != Form::kBits && (key.form != Form::kAsIs || is_integer(key.dtype));
}

std::optional<std::size_t> Comparator::ordered_key(const Op& op) const {
  if (op.definition != &kCompareOp) return std::nullopt;
  const ValueId a = op.operands[0], b = op.operands[1];
  const std::optional<std::size_t> key = key_of_[index(a)];
  if (!key || key_of_[index(b)] != key || (rows_[index(a)] | rows_[index(b)]) != kBothRows) {
    return std::nullopt;
  }
  return !is_float(keys_[*key].dtype) || is_total_order(op) ? key : std::nullopt;
}

bool Comparator::is_order(ValueId value) const {
  const Op* op = region_.producer_of(value);
  if (op == nullptr) return false;
  if (op->definition == &kCompareOp) {
    return ordered_key(*op) && (direction_of(*op) == "LT" || direction_of(*op) == "GT");
  }
  if (op->definition != &kOrOp) return false;
  // Of two rows one is less, or both are equal and something else is an order.
  const auto is_lexicographic = [&](ValueId less, ValueId tie) {
    const Op *first = region_.producer_of(less), *both = region_.producer_of(tie);
    if (first == nullptr || first->definition != &kCompareOp || !is_order(less)) return false;
    if (both == nullptr || both->definition != &kAndOp) return false;
    const auto continues = [&](ValueId equal, ValueId rest) {
      const Op* second = region_.producer_of(equal);
      return second != nullptr && ordered_key(*second) == ordered_key(*first) &&
             direction_of(*second) == "EQ" && is_order(rest);
    };
    return continues(both->operands[0], both->operands[1]) ||
           continues(both->operands[1], both->operands[0]);
  };
  return is_lexicographic(op->operands[0], op->operands[1]) ||
         is_lexicographic(op->operands[1], op->operands[0]);
}

bool Comparator::ascends() const {
  const Op& op = *region_.producer_of(region_.results()[0]);
  return (direction_of(op) == "LT") == (rows_[index(op.operands[0])] == 1);
}

DType Comparator::key_dtype() const {
  const Key& key = keys_[0];
  if (key.form == Form::kAsIs) return key.dtype;
  return size_of(key.dtype) == 8 ? DType::kI64 : DType::kI32;
}

std::optional<Tensor> Comparator::word(Tensor key) const {
  if (!decides_alone() || size_of(key_dtype()) != 4) return std::nullopt;
  return flipped(bitcast(key, {DType::kI32, key.shape()}));
}

Tensor Comparator::key_of(Tensor word) const {
  return bitcast(flipped(word), {key_dtype(), word.shape()});
}

Tensor Comparator::flipped(Tensor word) const {
  const std::uint32_t sign = is_signed(key_dtype()) ? 0 : std::uint32_t{1} << 31;
  const auto bits = static_cast<std::int32_t>(ascends() ? sign : ~sign);
  return bits == 0 ? word : word ^ word.like(bits);
}

Tensor Comparator::last_key(Tensor keys) const {
  HostTensor last(TensorType{keys.dtype(), {}});
  if (decides_alone()) {
    // The most of a signed integer is all bits but the first, of an unsigned one all.
    const std::uint64_t sign = std::uint64_t{1} << (8 * size_of(keys.dtype()) - 1);
    const std::uint64_t least = is_signed(keys.dtype()) ? sign : 0;
    write_bits(last, 0, ascends() ? ~least : least);
  }
  return keys.builder->constant(std::move(last));
}

}  // namespace superstep
