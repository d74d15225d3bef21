#pragma once

#include <tbb/global_control.h>

#include <cstdint>

#include "tools/options.h"

namespace superstep {

/// Option `-j` of a command: how many host threads it takes while this lives, more than the host
/// has too.
class HostThreads {
 public:
  static constexpr const char* kName = "threads,j";
  static constexpr const char* kHelp = "host threads (all)";

  explicit HostThreads(const Options& options);

  [[nodiscard]] std::uint32_t count() const { return count_; }

 private:
  std::uint32_t count_;
  tbb::global_control limit_;
};

}  // namespace superstep
