// Sanitizers bring an operator new of their own.
#ifndef SUPERSTEP_SANITIZED

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <new>
#include <vector>

#include "isa/exchange_ports.h"
#include "sim/exchange/fabric.h"
#include "tests/gc200.h"

namespace {
std::atomic<std::size_t> allocations = 0;
}  // namespace

// Not inline: GCC would see `free` of what `new` gave.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* const memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace superstep {
namespace {

/// Two tiles that send each other four words, in place: through the stage.
TEST(FabricMemory, APhaseThatRepeatsAllocatesNothing) {
  MachineConfig machine = gc200();
  machine.grid = {1, 1, 2};
  const std::uint32_t address = 0x80000;
  std::array<std::vector<std::byte>, 2> memory;
  std::array<PortLog, 2> logs;
  std::vector<FabricPort> ports;
  for (std::uint32_t t = 0; t < 2; ++t) {
    memory[t].resize(machine.tile.memory_bytes);
    logs[t].add({.direction = kSendBothWays, .cycle = 0, .value = address, .words = 4});
    logs[t].add({.kind = PortEvent::Kind::kMux, .cycle = 32, .value = 1 - t});
    logs[t].add({.kind = PortEvent::Kind::kPointer, .cycle = 32, .value = address});
    logs[t].add({.kind = PortEvent::Kind::kMux, .cycle = 36, .value = kMuxIdle});
    ports.push_back({TileId{t}, &logs[t], memory[t]});
  }
  Fabric fabric(machine);
  ASSERT_FALSE(fabric.resolve(ports).fault);
  ASSERT_FALSE(fabric.resolve(ports).fault);
  const std::size_t before = allocations;
  ASSERT_GT(before, 0U);
  const FabricResult& again = fabric.resolve(ports);
  const std::size_t after = allocations;
  EXPECT_EQ(after, before);
  EXPECT_EQ(again.bytes, 32U);
  EXPECT_EQ(fabric.repeats(), 2U);
}

}  // namespace
}  // namespace superstep

#endif
