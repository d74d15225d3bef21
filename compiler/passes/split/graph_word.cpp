#include "compiler/passes/split/graph_word.h"

#include "compiler/ops/elements.h"
#include "compiler/passes/split/host_word.h"

namespace superstep::split {
namespace {

std::optional<std::uint32_t> known_bits(Tensor x) {
  const Graph& graph = x.builder->graph();
  for (;;) {
    const Op* op = graph.producer_of(x.id);
    if (op == nullptr) return std::nullopt;
    if (op->definition == &kConstantOp) {
      const HostTensor& value = std::get<SharedTensor>(op->attributes.at("value")).get();
      if (value.type.elements() != 1) return std::nullopt;
      return static_cast<std::uint32_t>(read_bits(value, 0));
    }
    if (op->definition != &kBroadcastInDimOp && op->definition != &kReshapeOp) return std::nullopt;
    x.id = op->operands[0];
  }
}

std::optional<bool> known(GraphBit a) {
  const std::optional<std::uint32_t> bits = known_bits(a.tensor);
  return bits ? std::optional(*bits != 0) : std::nullopt;
}

GraphWord word(const OpDefinition& op, GraphWord a, GraphWord b) {
  return {apply(op, a.tensor, b.tensor)};
}
GraphBit bit_like(Tensor like, bool value) {
  return {broadcast(like.builder->number(DType::kI1, value ? 1 : 0), like.shape(), {})};
}

bool is(GraphWord a, std::uint32_t value) { return known(a) == value; }
bool are_known(GraphWord a, GraphWord b) { return known(a) && known(b); }
HostWord host(GraphWord a) { return {*known(a)}; }

}  // namespace

std::optional<std::uint32_t> known(GraphWord a) { return known_bits(a.tensor); }

GraphWord constant(GraphWord like, std::uint32_t value) {
  return {like.tensor.like(static_cast<double>(value))};
}

GraphBit operator&(GraphBit a, GraphBit b) {
  if (known(a)) return *known(a) ? b : a;
  if (known(b)) return *known(b) ? a : b;
  return {a.tensor & b.tensor};
}
GraphBit operator|(GraphBit a, GraphBit b) {
  if (known(a)) return *known(a) ? a : b;
  if (known(b)) return *known(b) ? b : a;
  return {a.tensor | b.tensor};
}
GraphBit operator!(GraphBit a) {
  if (known(a)) return bit_like(a.tensor, !*known(a));
  return {apply(kNotOp, a.tensor)};
}

GraphWord operator+(GraphWord a, GraphWord b) {
  if (are_known(a, b)) return constant(a, (host(a) + host(b)).value);
  if (is(a, 0)) return b;
  if (is(b, 0)) return a;
  return word(kAddOp, a, b);
}
GraphWord operator-(GraphWord a, GraphWord b) {
  if (are_known(a, b)) return constant(a, (host(a) - host(b)).value);
  if (is(b, 0)) return a;
  return word(kSubtractOp, a, b);
}
GraphWord operator*(GraphWord a, GraphWord b) {
  if (are_known(a, b)) return constant(a, (host(a) * host(b)).value);
  if (is(a, 0) || is(b, 1)) return a;
  if (is(b, 0) || is(a, 1)) return b;
  return word(kMultiplyOp, a, b);
}
GraphWord operator/(GraphWord a, GraphWord b) {
  if (are_known(a, b)) return constant(a, (host(a) / host(b)).value);
  return word(kDivideOp, a, b);
}
GraphWord operator&(GraphWord a, GraphWord b) {
  if (are_known(a, b)) return constant(a, (host(a) & host(b)).value);
  if (is(a, 0) || is(b, ~0U)) return a;
  if (is(b, 0) || is(a, ~0U)) return b;
  return word(kAndOp, a, b);
}
GraphWord operator|(GraphWord a, GraphWord b) {
  if (are_known(a, b)) return constant(a, (host(a) | host(b)).value);
  if (is(a, 0) || is(b, ~0U)) return b;
  if (is(b, 0) || is(a, ~0U)) return a;
  return word(kOrOp, a, b);
}
GraphWord operator^(GraphWord a, GraphWord b) {
  if (are_known(a, b)) return constant(a, (host(a) ^ host(b)).value);
  if (is(a, 0)) return b;
  if (is(b, 0)) return a;
  return word(kXorOp, a, b);
}
GraphWord shl(GraphWord a, GraphWord n) {
  if (are_known(a, n)) return constant(a, shl(host(a), host(n)).value);
  if (is(a, 0) || is(n, 0)) return a;
  if (known(n) && *known(n) >= 32) return constant(a, 0);
  return word(kShiftLeftOp, a, n);
}
GraphWord shr(GraphWord a, GraphWord n) {
  if (are_known(a, n)) return constant(a, shr(host(a), host(n)).value);
  if (is(a, 0) || is(n, 0)) return a;
  if (known(n) && *known(n) >= 32) return constant(a, 0);
  return word(kShiftRightLogicalOp, a, n);
}
GraphBit below(GraphWord a, GraphWord b) {
  if (are_known(a, b)) return bit_like(a.tensor, below(host(a), host(b)).value);
  if (is(b, 0)) return bit_like(a.tensor, false);
  return {compare("LT", a.tensor, b.tensor)};
}
GraphBit equal(GraphWord a, GraphWord b) {
  if (are_known(a, b)) return bit_like(a.tensor, equal(host(a), host(b)).value);
  return {compare("EQ", a.tensor, b.tensor)};
}
GraphWord select(GraphBit condition, GraphWord a, GraphWord b) {
  if (known(condition)) return *known(condition) ? a : b;
  return {superstep::select(condition.tensor, a.tensor, b.tensor)};
}
GraphWord one_where(GraphBit condition) {
  if (const std::optional<bool> value = known(condition)) {
    const Tensor number = condition.tensor.builder->number(DType::kU32, *value ? 1 : 0);
    return {broadcast(number, condition.tensor.shape(), {})};
  }
  return {convert(condition.tensor, DType::kU32)};
}
GraphWord clz(GraphWord a) {
  if (known(a)) return constant(a, clz(host(a)).value);
  return {apply(kCountLeadingZerosOp, a.tensor)};
}

}  // namespace superstep::split
