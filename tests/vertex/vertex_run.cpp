#include "tests/gc200.h"
#include "tests/vertex/vertex_run.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "compiler/vertex/timing_analysis.h"

namespace superstep::vertex {
namespace {

using testing::kCodelet;
using testing::kProgram;

constexpr std::uint32_t kStacks = 0x70000, kStackBytes = 0x400;
const std::vector<std::byte> kGuard(8, std::byte{0xa5});

}  // namespace

MachineConfig machine_with(std::uint32_t workers) {
  MachineConfig machine = gc200();
  machine.tile.workers = workers;
  return machine;
}

VertexRun::VertexRun(MachineConfig machine) : run_(std::move(machine)) {}

std::uint32_t VertexRun::allocate(std::uint32_t bytes) {
  const std::uint32_t address = next_;
  const std::uint32_t end = address + (bytes + 7) / 8 * 8;
  guards_.push_back(end);
  run_.put(end, kGuard);
  next_ = end + 8;
  return address;
}

std::uint32_t VertexRun::put(const HostTensor& tensor) {
  const std::uint32_t address = allocate(static_cast<std::uint32_t>(tensor.data.size()));
  run_.put(address, tensor.data);
  return address;
}

void VertexRun::align_to_16() {
  if (next_ % 16 != 0) allocate(0);
}

HostTensor VertexRun::get(std::uint32_t address, const TensorType& type) {
  HostTensor tensor(type);
  tensor.data = run_.get<std::byte>(address, tensor.data.size());
  return tensor;
}

std::uint32_t VertexRun::put_in_region0(const HostTensor& tensor) {
  const std::uint32_t address = next_in_region0_;
  next_in_region0_ += static_cast<std::uint32_t>((tensor.data.size() + 7) / 8 * 8);
  EXPECT_LE(next_in_region0_, kStacks);
  run_.put(address, tensor.data);
  return address;
}

TileStop VertexRun::run_checked() {
  run_.tile().boot(kProgram);
  const TileStop stop = run_.tile().run(0);
  if (const auto fault = run_.tile().fault()) {
    ADD_FAILURE() << fault->context << " at codelet + " << fault->pc - kCodelet << ": "
                  << fault->cause;
  }
  EXPECT_TRUE(stop.zone == 3U || stop.zone == 4U);
  for (const std::uint32_t guard : guards_) {
    EXPECT_EQ(run_.get<std::byte>(guard, kGuard.size()), kGuard) << "bytes behind " << guard;
  }
  return stop;
}

std::uint64_t VertexRun::counted_weighted(const std::vector<Stage>& stages,
                                          std::span<const std::uint32_t> state,
                                          const TileCode::WeightedLaunch& launch) const {
  const std::size_t block_words = machine().tile.workers * launch.state_words;
  // The supervisor waits for the address of the weights, then before each block and at the end for
  // the workers.
  std::uint64_t cycles = machine().costs.result_latency + 2;
  for (const Stage& stage : stages) {
    const TimingAnalysis analysis(machine(), stage.codelet);
    for (std::uint32_t b = 0; b < stage.blocks; ++b, state = state.subspan(block_words)) {
      const auto workers = analysis.launch(state.first(block_words), kState, launch.state_words);
      cycles += 1 + launch.loads + launch_cycles(machine(), workers);
    }
  }
  return cycles;
}

std::uint64_t VertexRun::run_weighted(const std::vector<Stage>& stages,
                                      const std::vector<std::uint32_t>& state,
                                      TileCode::WeightedLaunch launch) {
  std::uint32_t at = kCodelet;
  for (const Stage& stage : stages) {
    run_.put(at, place(stage.codelet, at));
    launch.stages.push_back({at, stage.blocks});
    at += static_cast<std::uint32_t>(stage.codelet.words.size() + 1) / 2 * 8;
  }
  launch.state = kState;
  launch.workers = machine().tile.workers;
  TileCode code(kProgram);
  code.prepare(launch, 0);
  code.launch(launch, 0, nullptr, 0);
  code.stop();
  EXPECT_LE(code.here(), kCodelet);
  run_.put(kProgram, code.words());
  run_.put(kState, state);
  const std::uint64_t cycles = run_checked().cycle;
  EXPECT_EQ(counted_weighted(stages, state, launch), cycles);
  return cycles;
}

std::uint64_t VertexRun::run(const Codelet& codelet, const std::vector<std::uint32_t>& state,
                             std::uint32_t worker_words) {
  std::string text;
  for (std::uint32_t w = 0; w < machine().tile.workers; ++w) {
    text += fmt::format("setzi $m0, {}\nput {}, $m0\n", kStacks + w * kStackBytes, 0x21 + w);
  }
  std::uint32_t states = kState, stride = worker_words;
  if (codelet.divide) {
    const WorkerStates divided = codelet.divide(state, kState);
    EXPECT_GE(divided.words.size(), divided.stride * machine().tile.workers);
    states = worker_states_address(kState, state.size());
    stride = divided.stride;
    run_.put(states, divided.words);
  }
  text += fmt::format("setzi $m1, {}\nsetzi $m2, {}\nrunall $m1, $m2, {}\nsync 2\nsync 3\n",
                      kCodelet, states, stride);
  EXPECT_LE(codelet.stack_bytes, kStackBytes);
  EXPECT_LE(kCodelet + 4 * codelet.words.size(), kStacks);
  run_.load(kProgram, text);
  run_.put(kCodelet, place(codelet, kCodelet));
  run_.put(kState, state);
  run_checked();
  const TileLaunches& launches = run_.tile().launches();
  const std::uint64_t cycles = launches.last_exit_cycle - launches.first_cycle;
  const auto workers = TimingAnalysis(machine(), codelet).launch(state, kState, worker_words);
  if (!data_decides_) {
    EXPECT_EQ(launch_cycles(machine(), workers), cycles) << "slots of " << codelet.name;
    for (const WorkerTiming& worker : workers) EXPECT_FALSE(worker.depends_on_data);
  }
  return cycles;
}

}  // namespace superstep::vertex
