#include "compiler/import/refused_ops.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/error.h"
#include "compiler/ops/op.h"

namespace superstep::import {
namespace {

// Facts: openxla/stablehlo stablehlo/dialect/StablehloOps.td and ChloOps.td. Those of dynamic
// shapes that only compilers make are left out.
constexpr auto kRefused = std::to_array<std::string_view>({
    "chlo._asin_acos_kernel",
    "stablehlo.async_done",
    "stablehlo.async_start",
    "stablehlo.uniform_dequantize",
    "stablehlo.uniform_quantize",
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
  for (const std::string_view op : kRefused) add(op);
  const std::string near = nearest(name.substr(stem), known);
  return near.empty() ? near : name.substr(0, stem) + near;
}

}  // namespace

std::span<const std::string_view> refused_ops() { return kRefused; }

std::string refusal_of(std::string_view name) {
  constexpr std::size_t kLongestName = 64;
  const std::string shown(name.substr(0, kLongestName));
  if (std::ranges::find(kRefused, name) != kRefused.end()) {
    return "op " + shown + " is not supported";
  }
  const std::string near = nearest_op(shown);
  return "op " + shown + " is not known" + (near.empty() ? near : "; did you mean " + near + "?");
}

}  // namespace superstep::import
