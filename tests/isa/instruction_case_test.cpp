#include "tests/isa/instruction_case.h"

#include <gtest/gtest.h>

#include <set>

#include "isa/table.h"

namespace superstep {
namespace {

using Cases = std::vector<testing::InstructionCase>;

void check_all(const Cases& cases) {
  for (const testing::InstructionCase& c : cases) testing::check(c);
}

TEST(InstructionCases, Integer) { check_all(testing::integer_cases()); }
TEST(InstructionCases, Logic) { check_all(testing::logic_cases()); }
TEST(InstructionCases, Memory) { check_all(testing::memory_cases()); }
TEST(InstructionCases, Float) { check_all(testing::float_cases()); }
TEST(InstructionCases, Conversion) { check_all(testing::conversion_cases()); }
TEST(InstructionCases, Transcendental) { check_all(testing::transcendental_cases()); }
TEST(InstructionCases, Half) { check_all(testing::half_cases()); }
TEST(InstructionCases, Control) { check_all(testing::control_cases()); }
TEST(InstructionCases, Accumulators) { check_all(testing::accumulator_cases()); }
TEST(InstructionCases, Amp) { check_all(testing::amp_cases()); }
TEST(InstructionCases, Random) { check_all(testing::random_cases()); }
TEST(InstructionCases, Slic) { check_all(testing::slic_cases()); }
TEST(InstructionCases, Quarter) { check_all(testing::quarter_cases()); }
TEST(InstructionCases, Broadcast) { check_all(testing::broadcast_cases()); }
TEST(InstructionCases, Supervisor) { check_all(testing::supervisor_cases()); }
TEST(InstructionCases, Exchange) { check_all(testing::exchange_cases()); }

TEST(InstructionCases, CoverEveryRecordOfTheTable) {
  std::set<std::size_t> covered;
  for (const Cases& cases :
       {testing::integer_cases(), testing::logic_cases(), testing::memory_cases(),
        testing::float_cases(), testing::conversion_cases(), testing::transcendental_cases(),
        testing::half_cases(), testing::control_cases(), testing::accumulator_cases(),
        testing::amp_cases(), testing::random_cases(), testing::slic_cases(),
        testing::quarter_cases(), testing::broadcast_cases(), testing::supervisor_cases(),
        testing::exchange_cases()}) {
    for (const testing::InstructionCase& c : cases) covered.insert(testing::record_of(c));
  }
  for (const isa::InstructionInfo& info : isa::instruction_table()) {
    EXPECT_TRUE(covered.contains(info.number)) << "no case for `" << info.spec.syntax << "`";
  }
}

}  // namespace
}  // namespace superstep
