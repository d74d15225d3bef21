// Several chips in one kernel.

#include "sim/chip/chip.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "sim/chip/trap_reporter.h"
#include "sim/exchange/fabric.h"
#include "sim/task_arena.h"
#include "tests/sim/programs.h"

namespace superstep {
namespace {

/// Two chips with an image each, run until there is a trap or nothing happens any more.
class TwoChips {
 public:
  TwoChips(const ProgramImage& first, const ProgramImage& second)
      : first_(ChipId{0}, first, options_, fabric_of, arena_, kernel_, traps_, ignore),
        second_(ChipId{1}, second, options_, fabric_of, arena_, kernel_, traps_, ignore) {
    while (!traps_.trap() && kernel_.step()) {
    }
  }

  [[nodiscard]] std::string trap() const { return traps_.trap() ? traps_.trap()->text() : "none"; }
  [[nodiscard]] std::string deadlock() const { return kernel_.deadlock(); }

 private:
  static std::unique_ptr<FabricModel> fabric_of(const MachineConfig& machine) {
    return std::make_unique<Fabric>(machine);
  }
  static void ignore(const SuperstepRecord&) {}

  TileOptions options_;
  TaskArena arena_{1};
  MachineKernel kernel_{[](std::size_t count, const std::function<void(std::size_t)>& body) {
    for (std::size_t i = 0; i < count; ++i) body(i);
  }};
  TrapReporter traps_;
  Chip first_, second_;
};

ProgramImage of_programs(const std::string& tile0, const std::string& tile1) {
  ProgramImage image = image_of(2);
  add_program(image, 0, tile0);
  add_program(image, 1, tile1);
  return image;
}

TEST(Chips, AreNamedByTheirTrapsButForTheFirst) {
  const ProgramImage well = of_programs("sync 4\n", "sync 4\n");
  const ProgramImage traps = of_programs("sync 4\n", "delay 8\n .word 0\n");
  const ProgramImage later = of_programs("sync 4\n", "delay 9\n .word 0\n");
  const std::string cycle9 = "program trap at cycle 9, superstep 0, tile ";
  EXPECT_EQ(TwoChips(traps, well).trap().find(cycle9 + "1, supervisor"), 0U);
  EXPECT_EQ(TwoChips(well, traps).trap().find(cycle9 + "1:1, supervisor"), 0U);
  EXPECT_EQ(TwoChips(later, traps).trap().find(cycle9 + "1:1, supervisor"), 0U);
  EXPECT_EQ(TwoChips(traps, traps).trap().find(cycle9 + "1, supervisor"), 0U);
}

TEST(Chips, AreNamedByTheirTilesThatWait) {
  const ProgramImage waits = of_programs("sync 3\n", "sync 4\n");
  const std::string text = TwoChips(waits, waits).deadlock();
  for (const char* tile : {"tile 0 waits", "tile 1 waits", "tile 1:0 waits", "tile 1:1 waits"})
    EXPECT_NE(text.find(tile), std::string::npos) << text;
}

}  // namespace
}  // namespace superstep
