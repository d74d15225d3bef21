// The examples of docs/embedding.md, in their order; each prints what it found.

#include <atomic>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/hdf5.h"
#include "isa/image_file.h"
#include "sim/simulation.h"

using namespace superstep;

namespace {

using Image = std::shared_ptr<const ProgramImage>;

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error(what); }

void call_again_and_again(const Image& image, const std::vector<HostTensor>& arguments) {
  Simulation simulation(image, {.threads = 2});
  simulation.set_arguments(arguments);
  for (int i = 0; i < 3; ++i) {
    const Stop stop = simulation.call();
    if (stop.kind == StopKind::kTrap) fail(stop.trap->text());
    const HostTensor& result = simulation.result(0);
    std::printf("call %u: %g, cycle %llu\n", simulation.calls_done(), result.get<float>(0),
                static_cast<unsigned long long>(simulation.now().value()));
  }
}

void give_arguments_by_callback(const Image& image, const std::vector<HostTensor>& arguments) {
  Simulation simulation(image);
  for (std::uint32_t k = 1; k < arguments.size(); ++k) simulation.set_argument(k, arguments[k]);
  int made = 0;
  simulation.connect_argument(0, [&](std::span<std::byte> value) {
    std::memcpy(value.data(), arguments[0].data.data(), value.size());
    return ++made <= 2;
  });
  while (simulation.call().kind == StopKind::kCall) {
  }
  std::printf("%u calls, then: %s\n", simulation.calls_done(),
              simulation.run().trap->cause.c_str());
}

class LoadCounter : public Observer {
 public:
  explicit LoadCounter(TileId tile) : tile_(tile) {}

  [[nodiscard]] Watch watch() const override { return {.tiles = {tile_}, .first_superstep = 2}; }
  void on_instruction(TileId, const IssuedInstruction& instruction) override {
    instructions += instruction.instructions;
  }
  void on_superstep(const SuperstepRecord& record) override {
    loads += record.worker_instructions.loads;
  }

  std::uint64_t instructions = 0, loads = 0;

 private:
  TileId tile_;
};

void observe(const Image& image, const std::vector<HostTensor>& arguments) {
  LoadCounter counter(image->entries[0].tile);
  Simulation simulation(image);
  simulation.observe(counter);
  simulation.call(arguments, true);
  std::printf("%llu loads, %llu instructions of one tile\n",
              static_cast<unsigned long long>(counter.loads),
              static_cast<unsigned long long>(counter.instructions));
}

void look_at_openings(const Image& image, const std::vector<HostTensor>& arguments) {
  Simulation simulation(image);
  simulation.set_arguments(arguments);
  simulation.begin_call(true);
  simulation.run_until({.superstep = 3});
  std::printf("%s\n", simulation.place().c_str());
  const TileView tile = simulation.tile(image->entries[0].tile);
  const std::uint32_t address = image->machine.tile.memory_base;
  const std::uint32_t word = tile.word(address);
  if (!tile.write(address, std::as_bytes(std::span(&word, 1)))) fail("no such memory");
  while (simulation.step_superstep().kind == StopKind::kSuperstep) {
  }
}

void look_inside(const Image& image, const std::vector<HostTensor>& arguments) {
  Simulation simulation(image);
  simulation.set_arguments(arguments);
  simulation.begin_call(true);
  const TileId tile = image->entries[0].tile;
  simulation.run_until({.superstep = 2});
  simulation.step_cycles(20);
  const std::uint32_t pc = simulation.tile(tile).supervisor_pc();
  for (std::uint32_t w = 0; w < image->machine.tile.workers; ++w) {
    const WorkerView worker = simulation.tile(tile).worker(w);
    if (worker.is_running) std::printf("worker %u at %#x, $m0 %#x\n", w, worker.pc, worker.m[0]);
  }
  simulation.step_back(5);
  simulation.run_until({.place = CodePlace{.tile = tile, .pc = pc}});
  std::printf("at %#x in cycle %llu\n", pc,
              static_cast<unsigned long long>(simulation.now().value()));
  if (simulation.run().kind != StopKind::kEnd) fail("the program has not ended");
}

class SlotCounter : public Engine {
 public:
  SlotCounter(Engine& interpreter, std::atomic<std::uint64_t>& slots)
      : interpreter_(interpreter), slots_(slots) {}

  std::uint64_t run(WorkerContext& worker, const WorkerStep* step) override {
    const std::uint64_t took = interpreter_.run(worker, step);
    slots_ += took;
    return took;
  }

 private:
  Engine& interpreter_;
  std::atomic<std::uint64_t>& slots_;
};

void bring_an_engine(const Image& image, const std::vector<HostTensor>& arguments) {
  std::atomic<std::uint64_t> slots = 0;
  Simulation simulation(image, {.threads = 2, .make_engine = [&](TileId, Engine& interpreter) {
                                  return std::make_unique<SlotCounter>(interpreter, slots);
                                }});
  simulation.call(arguments, true);
  if (slots == 0) fail("no worker ran by the engine");
  std::printf("%llu slots of workers\n", static_cast<unsigned long long>(slots.load()));
}

void save_and_load(const Image& image, const std::vector<HostTensor>& arguments,
                   const std::filesystem::path& folder) {
  Simulation first(image);
  first.set_arguments(arguments);
  first.call();
  first.save(folder / "checkpoint.h5");
  Simulation second = Simulation::load(folder / "checkpoint.h5", image);
  first.set_arguments(arguments);
  second.set_arguments(arguments);
  first.call(true);
  second.call(true);
  if (first.now() != second.now() || first.result(0).data != second.result(0).data) {
    fail("they go on differently");
  }
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 4) return 2;
  const auto image = std::make_shared<const ProgramImage>(read_image(argv[1]));
  const std::vector<HostTensor> arguments = read_tensor_list(argv[2], "arg");
  call_again_and_again(image, arguments);
  give_arguments_by_callback(image, arguments);
  observe(image, arguments);
  look_at_openings(image, arguments);
  look_inside(image, arguments);
  bring_an_engine(image, arguments);
  save_and_load(image, arguments, argv[3]);
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
