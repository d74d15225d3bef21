#include <algorithm>
#include <array>
#include <string>

#include "compiler/ops/ops.h"

namespace superstep {
namespace {

constexpr std::array kOps = {
#define SUPERSTEP_OP(name) &k##name##Op,
#include "compiler/ops/op_list.def"
#undef SUPERSTEP_OP
};

}  // namespace

std::span<const OpDefinition* const> all_ops() { return kOps; }

const OpDefinition* find_op(std::string_view name) {
  const auto found = std::ranges::lower_bound(kOps, name, {}, &OpDefinition::name);
  return found != kOps.end() && (*found)->name == name ? *found : nullptr;
}

const Lowering& lowering_of(const Op& op, const Graph& graph) {
  const auto takes = [&](const Lowering& lowering) {
    const Takes by_kind = std::visit([](const auto& kind) { return kind.takes; }, lowering);
    return by_kind == nullptr || by_kind(op, graph);
  };
  const auto* const found = std::ranges::find_if(op.definition->lowerings, takes);
  SUPERSTEP_CHECK(found != op.definition->lowerings.end(),
                  "no lowering takes " + std::string(op.definition->name));
  return *found;
}

}  // namespace superstep
