#include "tools/host_memory.h"

#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <limits>
#include <new>
#include <string>

namespace superstep {
namespace {

constexpr std::uintptr_t kHugePageBytes = 2 << 20;
/// What is advised: half as much again as the largest model takes [chosen].
constexpr int kHeapBytes = 256 << 20;
/// Allocations above have pages of their own: glibc's most for 64-bit hosts.
constexpr int kLargestInHeap = 32 << 20;
/// More than is left of the heap of a process that just began.
constexpr int kFirstBytes = 1 << 20;

}  // namespace

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

void allocate_in_huge_pages() {
#ifdef __GLIBC__
  if (available_memory() / 4 < std::uint64_t{kHeapBytes}) return;
  mallopt(M_MMAP_THRESHOLD, kLargestInHeap);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  mallopt(M_TOP_PAD, kHeapBytes);
  // The heap grows by one range, which is advised before it is touched.
  const auto before = reinterpret_cast<std::uintptr_t>(sbrk(0));
  ::operator delete(::operator new(kFirstBytes));
  const auto after = reinterpret_cast<std::uintptr_t>(sbrk(0));
  mallopt(M_TOP_PAD, kFirstBytes);
  const std::uintptr_t begin = (before + kHugePageBytes - 1) / kHugePageBytes * kHugePageBytes;
  if (begin < after) madvise(reinterpret_cast<void*>(begin), after - begin, MADV_HUGEPAGE);
#endif
}

}  // namespace superstep
