// Compiled programs that are saved, loaded and looked into do what they do otherwise.

#include <gtest/gtest.h>

#include <map>

#include "base/files.h"
#include "base/hdf5.h"
#include "compiler/compile.h"
#include "isa/machine_config.h"
#include "tests/generated/program.h"
#include "tests/scratch_folder.h"
#include "tests/sim/rest_of_run.h"

namespace superstep {
namespace {

using Image = std::shared_ptr<const ProgramImage>;

void call(Simulation& simulation, const std::vector<HostTensor>& arguments) {
  for (std::uint32_t k = 0; k < arguments.size(); ++k) simulation.set_argument(k, arguments[k]);
  simulation.begin_call(true);
}

void expect_same(const std::vector<std::string>& found, const std::vector<std::string>& wanted) {
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i) ASSERT_EQ(found[i], wanted[i]) << i;
}

/// The memory of a tile that a program may write.
std::vector<std::byte> memory_of(Simulation& simulation, TileId tile) {
  const MachineConfig& machine = simulation.image().machine;
  std::vector<std::byte> memory(machine.tile.memory_bytes);
  EXPECT_TRUE(simulation.tile(tile).read(machine.tile.memory_base, memory));
  return memory;
}

TEST(Checkpoints, OfGeneratedProgramsGoOnAsTheProgram) {
  const std::filesystem::path file = scratch_folder() / "checkpoint.h5";
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    const Program program = generate_program(seed);
    const auto image =
        std::make_shared<const ProgramImage>(compile(program.module, load_machine("tiny4")));
    Simulation whole(image);
    History history(whole);
    call(whole, program.arguments);
    history.end(whole.run());
    const std::uint64_t supersteps = whole.totals().supersteps;

    Simulation first(image);
    History before(first);
    call(first, program.arguments);
    const std::uint64_t at = seed % supersteps;
    while (first.totals().supersteps < at) first.step_superstep();
    first.save(file);
    Simulation second = Simulation::load(file, image, {.threads = 2});
    History after(second);
    after.end(second.run());
    std::vector<std::string> lines = before.lines;
    lines.insert(lines.end(), after.lines.begin(), after.lines.end());
    expect_same(lines, history.lines);
  }
}

/// Notes when the last tile arrived in each superstep without the host.
class Arrivals : public Observer {
 public:
  void on_superstep(const SuperstepRecord& record) override {
    if (record.host == 0_cycles && record.compute + record.exchange > 0_cycles) {
      cycles.push_back(record.end - record.sync);
    }
  }

  std::vector<Cycles> cycles;
};

// What is replayed up to the last arrival is what the superstep left.
TEST(LooksInside, OfGeneratedProgramsEndAsTheirSupersteps) {
  int shown = 0;
  for (std::uint64_t seed = 1; seed <= 15; ++seed) {
    SCOPED_TRACE(seed);
    const Program program = generate_program(seed);
    const auto image =
        std::make_shared<const ProgramImage>(compile(program.module, load_machine("tiny4")));
    Simulation whole(image);
    History history(whole);
    Arrivals arrivals;
    whole.observe(arrivals);
    call(whole, program.arguments);
    history.end(whole.run());

    Simulation stepped(image, {.threads = 2});
    History in_steps(stepped);
    call(stepped, program.arguments);
    for (const Cycles arrival : arrivals.cycles) {
      if (arrival <= stepped.now()) continue;
      ASSERT_EQ(stepped.run_until({.cycle = arrival}).kind, StopKind::kBreakpoint);
      std::map<TileId, std::vector<std::byte>> inside;
      for (const TileEntry& entry : image->entries) {
        inside[entry.tile] = memory_of(stepped, entry.tile);
      }
      stepped.step_back(arrival.value() % 7 % (stepped.now().value() + 1));
      if (stepped.step_superstep().kind != StopKind::kSuperstep) break;
      for (const auto& [tile, memory] : inside) {
        ASSERT_TRUE(memory == memory_of(stepped, tile)) << index(tile);
        ++shown;
      }
    }
    in_steps.end(stepped.run());
    expect_same(in_steps.lines, history.lines);
  }
  EXPECT_GT(shown, 100);
}

TEST(Checkpoints, OfATrainingProgramKeepItsParameters) {
  const std::filesystem::path models = std::filesystem::path(SUPERSTEP_SOURCE_DIR) / "models";
  const std::filesystem::path folder = models / "linear_regression";
  const auto image = std::make_shared<const ProgramImage>(
      compile(import_stablehlo(read_text_file(folder / "train_step.mlir"), "train_step.mlir"),
              load_machine("small64")));
  const TensorFile given = read_tensors(folder / "train.h5", "arg");
  const auto set_arguments = [&](Simulation& simulation) {
    for (std::uint32_t k = 0; k < image->arguments.size(); ++k) {
      HostTensor value(image->arguments[k]);
      const HostTensor& file = given.at("arg" + std::to_string(k));
      std::copy_n(file.data.begin(), value.data.size(), value.data.begin());
      simulation.set_argument(k, value);
    }
  };
  Simulation whole(image);
  set_arguments(whole);
  for (int step = 0; step < 6; ++step) ASSERT_EQ(whole.call().kind, StopKind::kCall);

  Simulation first(image);
  set_arguments(first);
  for (int step = 0; step < 2; ++step) ASSERT_EQ(first.call().kind, StopKind::kCall);
  const std::filesystem::path file = scratch_folder() / "checkpoint.h5";
  first.save(file);
  Simulation second = Simulation::load(file, image);
  for (int step = 2; step < 6; ++step) ASSERT_EQ(second.call().kind, StopKind::kCall);
  EXPECT_EQ(second.now(), whole.now());
  for (std::uint32_t r = 0; r < image->results.size(); ++r) {
    EXPECT_EQ(second.result(r).data, whole.result(r).data) << r;
  }
}

}  // namespace
}  // namespace superstep
