#include <gtest/gtest.h>

#include <set>

#include "isa/table.h"
#include "tests/isa/any_operands.h"
#include "tests/tile_run.h"

namespace superstep {
namespace {

/// Whether the results of an instruction are computed numbers of f32 or f16.
bool computes(const isa::InstructionInfo& info) {
  if (!info.mnemonic.starts_with("f32") && !info.mnemonic.starts_with("f16")) return false;
  // Integers, masks, random numbers, f8, and what moves bits.
  for (const char* other : {"cmp", "class", "tof8", "toi32", "toui32", "fromi32", "fromui32",
                            "sufromui", "rand", "rmask", "stacc"}) {
    if (info.mnemonic.find(other) != std::string_view::npos) return false;
  }
  return !info.operands.empty() && info.operands[0].is_register &&
         info.operands[0].role == isa::Role::kOut;
}

// The same bits on every host, whatever its processor makes of NaNs: docs/numerics.md.
TEST(Nan, WhatAnyInstructionMakesOfNansIsCanonical) {
  // f32 NaNs, and two f16 NaNs each, none of them canonical.
  const std::vector<std::uint32_t> nans = {0x7fa1ffff, 0xffa2fe01, 0x7fc1fdff, 0xffe1ffa5};
  std::string load;
  for (int i = 0; i < 8; ++i) {
    load += "ld32 $a" + std::to_string(i) + ", $mvertex_base, " + std::to_string(i % 4) + "\n";
  }
  std::set<std::string_view> seen;
  for (const isa::InstructionInfo& info : isa::instruction_table()) {
    if (!computes(info)) continue;
    const std::string text = testing::with_any_operands(info);
    std::string code = load + "zero $a8:9\nzero $a10:11\n";
    // Results of AMP and SLIC leave later than their inputs enter.
    for (int i = 0; i < 3; ++i) code += text + "\n";
    code += "st64 $a8:9, $mvertex_base, 2\nst64 $a10:11, $mvertex_base, 3\nexitz $mzero";
    std::vector<std::uint32_t> data = nans;
    data.resize(8);
    const std::vector<std::uint32_t> out = testing::run_worker(code, data, 8);
    for (std::size_t i = 4; i < 8; ++i) {
      const bool is_canonical = out[i] == 0x7fc00000 || out[i] == 0x7e007e00;
      EXPECT_TRUE(is_canonical || out[i] == 0) << text << " gives " << std::hex << out[i];
      if (is_canonical) seen.insert(info.mnemonic);
    }
  }
  EXPECT_GT(seen.size(), 70U);
}

}  // namespace
}  // namespace superstep
