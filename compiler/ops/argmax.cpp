#include "compiler/ops/argmax.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "compiler/ops/compare.h"
#include "compiler/ops/elements.h"
#include "compiler/ops/iota.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/scalar_region.h"
#include "compiler/ops/verify.h"

namespace superstep {
namespace {

/// The function of a reduction: extreme and place so far, then a number and its place.
class Reducer {
 public:
  explicit Reducer(const Graph& region) : region_(region) {}

  /// Whether it keeps what `direction` says, GT or LT: `select(d(a, b) | a != a, a, b)` and
  /// `select(d(a, b) | a != a | (a == b & i < j), i, j)`.
  [[nodiscard]] bool keeps(const char* direction) const {
    const std::vector<ValueId>& arguments = region_.arguments();
    if (arguments.size() != 4) return false;
    const ValueId a = arguments[0], i = arguments[1], b = arguments[2], j = arguments[3];
    const auto is_kept = [&](ValueId v) {
      return is_op(v, kOrOp, [&](const Op& either) {
        return compares(either.operands[0], direction, a, b) &&
               compares(either.operands[1], "NE", a, a);
      });
    };
    const auto is_first = [&](ValueId v) {
      return is_op(v, kAndOp, [&](const Op& both) {
        return compares(both.operands[0], "EQ", a, b) && compares(both.operands[1], "LT", i, j);
      });
    };
    const auto is_choice = [&](ValueId v, ValueId of, ValueId other, const auto& condition) {
      return is_op(v, kSelectOp, [&](const Op& choice) {
        return choice.operands[1] == of && choice.operands[2] == other &&
               condition(choice.operands[0]);
      });
    };
    return is_choice(region_.results()[0], a, b, is_kept) &&
           is_choice(region_.results()[1], i, j, [&](ValueId v) {
             return is_op(v, kOrOp, [&](const Op& either) {
               return is_kept(either.operands[0]) && is_first(either.operands[1]);
             });
           });
  }

 private:
  template <class Holds>
  [[nodiscard]] bool is_op(ValueId v, const OpDefinition& definition, const Holds& holds) const {
    const Op* op = region_.producer_of(v);
    return op != nullptr && op->definition == &definition && holds(*op);
  }
  [[nodiscard]] bool compares(ValueId v, const char* direction, ValueId a, ValueId b) const {
    return is_op(v, kCompareOp, [&](const Op& op) {
      return !is_total_order(op) &&
             attribute<std::string>(op, "comparison_direction") == direction &&
             op.operands[0] == a && op.operands[1] == b;
    });
  }

  const Graph& region_;
};

bool is_used(const Graph& graph, ValueId v) {
  return std::ranges::find(graph.results(), v) != graph.results().end() ||
         std::ranges::any_of(graph.ops(), [&](const Op& op) {
           return std::ranges::find(op.operands, v) != op.operands.end();
         });
}

/// The lowest or highest bits of numbers of a type, as its order has it.
std::uint64_t end_bits(DType dtype, bool lowest) {
  const std::uint64_t all = ~std::uint64_t{0} >> (64 - bit_width(dtype));
  const std::uint64_t top = all & ~(all >> 1);
  if (is_signed(dtype)) return lowest ? top : all ^ top;
  return lowest ? 0 : all;
}

/// Whether `v` is a constant below which, or above which, no number is.
bool is_end(const Graph& graph, ValueId v, bool lowest) {
  const std::optional<HostTensor> value = constant_value(graph, v);
  if (!value) return false;
  const DType dtype = value->type.dtype;
  if (!is_float(dtype)) return read_bits(*value, 0) == end_bits(dtype, lowest);
  return std::isinf(read_float(*value, 0)) && (read_float(*value, 0) < 0) == lowest;
}

bool is_zero(const Graph& graph, ValueId v) {
  const std::optional<HostTensor> value = constant_value(graph, v);
  return value && read_bits(*value, 0) == 0;
}

}  // namespace

bool is_argmax(const Op& op, const Graph& graph) {
  const auto& dimensions = attribute<Indices>(op, "dimensions");
  if (op.operands.size() != 4 || dimensions.size() != 1) return false;
  const TensorType& type = graph.type(op.operands[0]);
  if (type.elements() == 0 || (!is_float(type.dtype) && !is_integer(type.dtype))) return false;
  const Reducer reducer(op.regions[0]);
  const bool is_largest = reducer.keeps("GT");
  return (is_largest || reducer.keeps("LT")) && is_place(graph, op.operands[1], dimensions[0]) &&
         is_end(graph, op.operands[2], is_largest) && is_zero(graph, op.operands[3]) &&
         !is_used(graph, op.results[0]);
}

std::vector<Tensor> expand_argmax(const Op& op, std::span<const Tensor> operands) {
  const Tensor x = operands[0];
  const Shape shape = x.shape();
  const auto& dimensions = attribute<Indices>(op, "dimensions");
  const std::int64_t dimension = dimensions[0];
  const std::int64_t last = shape[static_cast<std::size_t>(dimension)] - 1;
  Indices kept;
  for (std::int64_t d = 0; d < static_cast<std::int64_t>(shape.size()); ++d) {
    if (d != dimension) kept.push_back(d);
  }
  const bool is_largest = Reducer(op.regions[0]).keeps("GT");
  const Tensor extreme = reduce(x, operands[2], dimensions, [&](Tensor a, Tensor b) {
    return is_largest ? maximum(a, b) : minimum(a, b);
  });
  Tensor is_extreme = compare("EQ", x, broadcast(extreme, shape, kept));
  if (is_float(x.dtype())) is_extreme = is_extreme | compare("NE", x, x);
  // As floats, which vertices take in pairs, places are exact up to here.
  constexpr std::int64_t kMostInFloats = std::int64_t{1} << 24;
  const DType dtype =
      is_float(x.dtype()) && last < kMostInFloats ? DType::kF32 : operands[1].dtype();
  const Tensor places = broadcast(x.builder->iota({dtype, {last + 1}}, 0), shape, {dimension});
  // One of them is extreme, so that the last place may stand for none.
  const auto none = static_cast<double>(last);
  const Tensor first =
      reduce(select(is_extreme, places, places.like(none)), x.builder->number(dtype, none),
             dimensions, [](Tensor a, Tensor b) { return minimum(a, b); });
  return {extreme, convert(first, operands[1].dtype())};
}

}  // namespace superstep
