#include "tools/host_threads.h"

#include <algorithm>
#include <thread>

namespace superstep {

HostThreads::HostThreads(const Options& options)
    : count_(options.number("threads", 1, 256, std::max(1U, std::thread::hardware_concurrency()))),
      limit_(tbb::global_control::max_allowed_parallelism, count_) {}

}  // namespace superstep
