// Every control and status register does what the table, and so docs/isa.md, says of it.

#include "isa/control_registers.h"

#include <gtest/gtest.h>

#include <set>

#include "isa/registers.h"
#include "tests/tile_run.h"

namespace superstep {
namespace {

using isa::Access;
using isa::ControlRegister;

/// What stops a tile whose worker 0, or supervisor, executes an instruction; "none" if nothing
/// does.
std::string cause_of(const std::string& instruction, bool worker) {
  return worker ? testing::worker_cause(instruction + "\n exitz $mzero")
                : testing::supervisor_cause(instruction + "\n sync 4");
}

TEST(ControlRegister, IsReadAndWrittenByWhomTheTableSays) {
  for (const ControlRegister& known : isa::control_registers()) {
    for (const bool worker : {true, false}) {
      const Access access = worker ? known.worker : known.supervisor;
      if (access == Access::kAbsent || (known.is_upper() && !worker)) continue;
      SCOPED_TRACE(std::string(known.name) + (worker ? " of a worker" : " of the supervisor"));
      const std::string number = std::to_string(known.number % isa::kUpperCsrs);
      const std::string get = known.is_upper() ? "uget $a0, " : "get $m2, ";
      const std::string source = known.is_upper() ? "$a15" : "$m15";
      const std::string put = (known.is_upper() ? "uput " : "put ") + number + ", " + source;
      const std::string reading = cause_of(get + number, worker);
      const std::string writing = cause_of(put, worker);
      const std::string unmodelled =
          worker ? "a control register of workers that is not modelled"
                 : "a control register of the supervisor that is not modelled";
      EXPECT_EQ(reading, access == Access::kUnmodelled ? unmodelled : "none");
      EXPECT_EQ(writing, access == Access::kUnmodelled  ? unmodelled
                         : access == Access::kReadWrite ? "none"
                         : worker ? "a control register that a worker cannot write"
                                  : "a control register that the supervisor cannot write");
    }
  }
}

TEST(ControlRegister, NoOtherNumberIsOne) {
  for (const bool worker : {true, false}) {
    std::set<std::uint32_t> numbers;
    for (const ControlRegister& known : isa::control_registers()) {
      if ((worker ? known.worker : known.supervisor) != Access::kAbsent) {
        EXPECT_TRUE(numbers.insert(known.number).second) << known.name;
      }
    }
    for (std::uint32_t number = 0; number < 256; ++number) {
      const std::string text = std::to_string(number);
      if (!numbers.contains(number)) {
        EXPECT_NE(cause_of("get $m2, " + text, worker), "none") << number;
        EXPECT_NE(cause_of("put " + text + ", $m15", worker), "none") << number;
      }
      if (worker && !numbers.contains(number + isa::kUpperCsrs)) {
        EXPECT_NE(cause_of("uget $a0, " + text, worker), "none") << number;
        EXPECT_NE(cause_of("uput " + text + ", $a15", worker), "none") << number;
      }
    }
  }
}

// Workers 0 and 1 run when it is read; all have left behind `sync LOCAL`.
TEST(ControlRegister, CtxtStsTellsWhichContextsRun) {
  testing::TileRun run;
  run.load(testing::kCodelet, "nop\n nop\n exitz $mzero");
  run.supervise(
      "setzi $m0, 0x4d000\n setzi $m1, 0x4000\n run $m0, $m1, 0\n run $m0, $m1, 0\n"
      "get $m2, $CTXT_STS\n sync 2\n get $m3, $CTXT_STS\n sync 4");
  EXPECT_EQ(run.tile().supervisor_register(2), 0x15U);
  EXPECT_EQ(run.tile().supervisor_register(3), 1U);
}

}  // namespace
}  // namespace superstep
