#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "sim/host/feeds.h"

namespace superstep {

/// The SHA-256 of each tensor that a run is given, by name: `arg0`, `infeed1`, …
using InputDigests = std::map<std::string, std::string>;

[[nodiscard]] InputDigests digests_of(const std::vector<HostTensor>& arguments,
                                      const FeedTensors& infeeds);

/// Throws MalformedInput, at the checkpoint `path`, with each tensor that is in one of `given` and
/// what the checkpoint was made with alone, or differs. One that was made without any takes all.
void check_inputs(const std::filesystem::path& path, const InputDigests& made_with,
                  const InputDigests& given);

}  // namespace superstep
