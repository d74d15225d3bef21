#include "tests/generated/propose.h"

#include <algorithm>
#include <numeric>

#include "tests/generated/op_kind.h"

namespace superstep {
namespace {

/// All kinds, each as often as its weight says.
std::vector<const OpKind*> weighted_kinds() {
  std::vector<const OpKind*> all;
  for (const auto& family :
       {elementwise_kinds(), rearrange_kinds(), reduction_kinds(), sort_kinds(), product_kinds(),
        algebra_kinds(), indexing_kinds(), control_kinds(), device_kinds(), composed_kinds()}) {
    for (const OpKind& kind : family) all.insert(all.end(), kind.weight, &kind);
  }
  return all;
}

}  // namespace

Indices shuffled(Random& random, std::size_t n) {
  Indices order(n);
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = n; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

Indices subset(Random& random, std::size_t n) {
  Indices chosen;
  for (std::size_t i = 0; i < n; ++i) {
    if (random.chance(50)) chosen.push_back(static_cast<std::int64_t>(i));
  }
  return chosen;
}

bool propose_op(RandomProgram& builder) {
  static const std::vector<const OpKind*> kKinds = weighted_kinds();
  const OpKind& kind = *builder.random.pick(kKinds);
  builder.want(kind.wants);
  const bool added = kind.propose(builder, kind);
  builder.want(Wants::kAnything);
  return added;
}

}  // namespace superstep
