#pragma once

#include <cstdint>
#include <deque>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "compiler/graph/graph.h"

namespace superstep {

/// What the reference takes from the host and gives to it: a queue each way, whose entries are what
/// one op moves.
struct FeedHost {
  std::deque<std::vector<HostTensor>> in;
  std::vector<std::vector<HostTensor>> out;
};

/// While it lives, `evaluate` of this thread has a host.
class ReferenceHost {
 public:
  explicit ReferenceHost(FeedHost& host);
  ReferenceHost(const ReferenceHost&) = delete;
  ReferenceHost& operator=(const ReferenceHost&) = delete;
  ~ReferenceHost();

 private:
  FeedHost* outer_;
};

/// The attribute by which an op names the streams of its tensors, once they are numbered
/// (`number_feeds`).
inline constexpr std::string_view kStreamsAttribute = "streams";

/// What ops have in common whose tensors go through one queue of the host: the number of their
/// channel, or -1 for infeeds and outfeeds.
[[nodiscard]] std::int64_t channel_of(const Op& op);

}  // namespace superstep
