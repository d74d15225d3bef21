#include "compiler/import/refused_ops.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <vector>

#include "base/error.h"
#include "compiler/ops/op.h"

namespace superstep::import {
namespace {

// Facts: openxla/stablehlo stablehlo/dialect/StablehloOps.td and ChloOps.td. A row whose op there
// is by now has no effect.
constexpr auto kRefused = std::to_array<RefusedOp>({
    {"chlo._asin_acos_kernel", ""},
    {"chlo.broadcast_add", ""},
    {"chlo.broadcast_and", ""},
    {"chlo.broadcast_atan2", ""},
    {"chlo.broadcast_compare", ""},
    {"chlo.broadcast_complex", ""},
    {"chlo.broadcast_divide", ""},
    {"chlo.broadcast_maximum", ""},
    {"chlo.broadcast_minimum", ""},
    {"chlo.broadcast_multiply", ""},
    {"chlo.broadcast_next_after", ""},
    {"chlo.broadcast_or", ""},
    {"chlo.broadcast_polygamma", ""},
    {"chlo.broadcast_power", ""},
    {"chlo.broadcast_remainder", ""},
    {"chlo.broadcast_select", ""},
    {"chlo.broadcast_shift_left", ""},
    {"chlo.broadcast_shift_right_arithmetic", ""},
    {"chlo.broadcast_shift_right_logical", ""},
    {"chlo.broadcast_subtract", ""},
    {"chlo.broadcast_xor", ""},
    {"chlo.broadcast_zeta", ""},
    {"chlo.conj", ""},
    {"chlo.constant", ""},
    {"chlo.constant_like", ""},
    {"chlo.ragged_dot", ""},
    {"chlo.scan", ""},
    {"stablehlo.async_done", ""},
    {"stablehlo.async_start", ""},
    {"stablehlo.broadcast", "use broadcast_in_dim"},
    {"stablehlo.collective_reduce", ""},
    {"stablehlo.cross-replica-sum", ""},
    {"stablehlo.dot", "use dot_general"},
    {"stablehlo.einsum", "use dot_general"},
    {"stablehlo.torch_index_select", "use gather"},
    {"stablehlo.unary_einsum", "use reduce"},
    {"stablehlo.uniform_dequantize", ""},
    {"stablehlo.uniform_quantize", ""},
});

/// The name of any op, supported or not, that a misspelt one may stand for.
std::string nearest_op(const std::string& name) {
  // Names are compared behind their dialect, which would make all of them near to each other.
  const std::size_t stem = name.find('.') + 1;
  std::vector<std::string> known;
  const auto add = [&](std::string_view other) {
    if (other.substr(0, stem) == name.substr(0, stem)) known.emplace_back(other.substr(stem));
  };
  for (const OpDefinition* op : all_ops()) add(op->name);
  for (const RefusedOp& op : kRefused) add(op.name);
  const std::string near = nearest(name.substr(stem), known);
  return near.empty() ? near : name.substr(0, stem) + near;
}

}  // namespace

std::vector<RefusedOp> refused_ops() {
  std::vector<RefusedOp> refused;
  std::ranges::copy_if(kRefused, std::back_inserter(refused),
                       [](const RefusedOp& op) { return find_op(op.name) == nullptr; });
  return refused;
}

std::string refusal_of(std::string_view name) {
  constexpr std::size_t kLongestName = 64;
  const std::string shown(name.substr(0, kLongestName));
  const auto* const at = std::ranges::find(kRefused, name, &RefusedOp::name);
  if (at != kRefused.end()) {
    return "op " + shown + " is not supported" +
           (at->instead.empty() ? std::string() : "; " + std::string(at->instead));
  }
  const std::string near = nearest_op(shown);
  return "op " + shown + " is not known" + (near.empty() ? near : "; did you mean " + near + "?");
}

}  // namespace superstep::import
