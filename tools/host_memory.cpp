#include "tools/host_memory.h"

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

namespace superstep {

std::uint64_t available_memory() {
  std::uint64_t available = std::numeric_limits<std::uint64_t>::max();
  std::ifstream host("/proc/meminfo");
  std::uint64_t number = 0;
  std::string unit;
  for (std::string name; host >> name >> number; std::getline(host, unit)) {
    if (name == "MemAvailable:") available = number * 1024;
  }
  rlimit limit{};
  std::uint64_t pages = 0;
  std::ifstream own("/proc/self/statm");
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && own >> pages) {
    const std::uint64_t used = pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    available = std::min<std::uint64_t>(available, limit.rlim_cur - std::min(limit.rlim_cur, used));
  }
  return available;
}

void keep_freed_memory() {
  constexpr int kAll = 1 << 30;
  mallopt(M_MMAP_THRESHOLD, kAll);
  mallopt(M_TRIM_THRESHOLD, kAll);
}

}  // namespace superstep
