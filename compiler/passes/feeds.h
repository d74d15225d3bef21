#pragma once

#include <vector>

#include "base/dtype.h"
#include "compiler/graph/graph.h"

namespace superstep {

/// The tensors that go between a program and the host while a call goes on, by stream, as the host
/// sees them.
struct FeedTypes {
  std::vector<TensorType> in, out;
};

/// Gives each tensor that an op takes from the host or gives to it a stream, by
/// `kStreamsAttribute`, in regions too. Ops that move the same types in one direction through one
/// channel have the same streams, which they use in the order in which they are executed.
[[nodiscard]] FeedTypes number_feeds(Graph& graph);

}  // namespace superstep
