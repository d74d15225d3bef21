#include "tests/vertex/tile_runner.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "isa/assembler.h"

namespace superstep::vertex {
namespace {

constexpr std::uint32_t kSupervisor = 0x4c000, kCodelet = 0x4c400, kStacks = 0x70000,
                        kStackBytes = 0x400;
constexpr std::byte kGuard{0xa5};

MachineConfig machine_with(std::uint32_t workers) {
  MachineConfig machine;
  machine.tile.workers = workers;
  return machine;
}

std::span<const std::byte> bytes_of(const std::vector<std::uint32_t>& words) {
  return std::as_bytes(std::span(words));
}

}  // namespace

TileRunner::TileRunner(std::uint32_t workers)
    : machine_(machine_with(workers)),
      code_(machine_),
      tile_(machine_, TileId{0}, code_),
      next_(0x80000) {}

std::uint32_t TileRunner::allocate(std::uint32_t bytes) {
  const std::uint32_t address = next_;
  const std::uint32_t end = address + (bytes + 7) / 8 * 8;
  guards_.push_back(end);
  const std::vector<std::byte> guard(8, kGuard);
  EXPECT_TRUE(tile_.memory().write(end, guard));
  next_ = end + 8;
  return address;
}

std::uint32_t TileRunner::put(const HostTensor& tensor) {
  const std::uint32_t address = allocate(static_cast<std::uint32_t>(tensor.data.size()));
  EXPECT_TRUE(tile_.memory().write(address, tensor.data));
  return address;
}

std::uint32_t TileRunner::put_words(const std::vector<std::uint32_t>& words) {
  const std::uint32_t address = allocate(static_cast<std::uint32_t>(4 * words.size()));
  EXPECT_TRUE(tile_.memory().write(address, bytes_of(words)));
  return address;
}

HostTensor TileRunner::get(std::uint32_t address, const TensorType& type) {
  HostTensor tensor(type);
  EXPECT_TRUE(tile_.memory().read(address, tensor.data));
  return tensor;
}

std::uint32_t TileRunner::put_in_region0(const HostTensor& tensor) {
  const std::uint32_t address = next_in_region0_;
  next_in_region0_ += static_cast<std::uint32_t>((tensor.data.size() + 7) / 8 * 8);
  EXPECT_LE(next_in_region0_, kStacks);
  EXPECT_TRUE(tile_.memory().write(address, tensor.data));
  return address;
}

TileStop TileRunner::run_checked() {
  const TileStop stop = tile_.run(0);
  if (const auto fault = tile_.fault()) {
    ADD_FAILURE() << fault->context << " at codelet + " << fault->pc - kCodelet << ": "
                  << fault->cause;
  }
  EXPECT_TRUE(stop.zone == 3U || stop.zone == 15U);
  for (const std::uint32_t guard : guards_) {
    std::vector<std::byte> found(8);
    EXPECT_TRUE(tile_.memory().read(guard, found));
    EXPECT_EQ(found, std::vector<std::byte>(8, kGuard)) << "bytes behind " << guard;
  }
  return stop;
}

std::uint64_t TileRunner::run_weighted(const std::vector<Stage>& stages,
                                       const std::vector<std::uint32_t>& state,
                                       TileCode::WeightedLaunch launch) {
  std::uint32_t at = kCodelet;
  for (const Stage& stage : stages) {
    EXPECT_TRUE(tile_.memory().write(at, bytes_of(place(stage.codelet, at))));
    launch.stages.push_back({at, stage.blocks});
    at += static_cast<std::uint32_t>(stage.codelet.words.size() + 1) / 2 * 8;
  }
  launch.state = kState;
  launch.workers = machine_.tile.workers;
  TileCode code(kSupervisor);
  code.prepare(launch, 0);
  code.launch(launch, 0, nullptr, 0);
  code.stop();
  EXPECT_LE(code.here(), kCodelet);
  EXPECT_TRUE(tile_.memory().write(kSupervisor, bytes_of(code.words())));
  EXPECT_TRUE(tile_.memory().write(kState, bytes_of(state)));
  tile_.boot(kSupervisor);
  return run_checked().cycle;
}

std::uint64_t TileRunner::run(const Codelet& codelet, const std::vector<std::uint32_t>& state,
                              std::uint32_t worker_words) {
  std::string text;
  for (std::uint32_t w = 0; w < machine_.tile.workers; ++w) {
    text += fmt::format("setzi $m0, {}\nput {}, $m0\n", kStacks + w * kStackBytes, 0x21 + w);
  }
  std::uint32_t states = kState, stride = worker_words;
  if (codelet.divide) {
    const WorkerStates divided = codelet.divide(state, kState);
    EXPECT_GE(divided.words.size(), divided.stride * machine_.tile.workers);
    states = worker_states_address(kState, state.size());
    stride = divided.stride;
    EXPECT_TRUE(tile_.memory().write(states, bytes_of(divided.words)));
  }
  text += fmt::format("setzi $m1, {}\nsetzi $m2, {}\nrunall $m1, $m2, {}\nsync 2\nsync 3\n",
                      kCodelet, states, stride);
  const Assembly supervisor = assemble(text, "supervisor", machine_);
  EXPECT_LE(codelet.stack_bytes, kStackBytes);
  EXPECT_LE(kCodelet + 4 * codelet.words.size(), kStacks);
  EXPECT_TRUE(tile_.memory().write(kSupervisor, bytes_of(supervisor.words)));
  EXPECT_TRUE(tile_.memory().write(kCodelet, bytes_of(place(codelet, kCodelet))));
  EXPECT_TRUE(tile_.memory().write(kState, bytes_of(state)));
  tile_.boot(kSupervisor);
  run_checked();
  return tile_.launches().last_exit_cycle - tile_.launches().first_cycle;
}

}  // namespace superstep::vertex
