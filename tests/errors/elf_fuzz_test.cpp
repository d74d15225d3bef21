// Damaged ELF objects: each is refused with its problems, or read and taken apart.

#include <gtest/gtest.h>

#include <vector>

#include "base/error.h"
#include "tests/errors/damage.h"
#include "toolchain/assembler/object_assembler.h"
#include "toolchain/elf.h"
#include "toolchain/object_text.h"

namespace superstep {
namespace {

constexpr const char* kText = R"(
 .section .text.main, "ax", @progbits
 .globl main
 .type main, @function
 .align 8
main:
 setzi $m1, 7
 call $lr, elsewhere + 4
 { rpt $m1, 1
   fnop }
 { ld64step $a0:1, $mzero, $m2+=, 1 ; f32v2add $a2:3, $a0:B, $a2:3 }
 { nop ; fnop }
 brnzdec $m1, main
 exitz $mzero
 .size main, . - main
 .data
table: .int main, 3 ; .byte 1, 2
)";

TEST(Fuzz, DamagedElfObjectsAreRefusedOrTakenApart) {
  const std::vector<std::uint8_t> elf = write_elf(assemble_object(kText, "f.S").object);
  const std::string good(elf.begin(), elf.end());
  Damage damage(4);
  int read = 0;
  const int inputs = fuzz_inputs(20'000);
  for (int i = 0; i < inputs; ++i) {
    SCOPED_TRACE(i);
    const std::string bytes = damage.apply_to_bytes(good);
    const std::vector<std::uint8_t> input(bytes.begin(), bytes.end());
    try {
      const Object object = read_elf(input, "f.o");
      ++read;
      EXPECT_FALSE(write_elf(object).empty());
      (void)text_of(object);
    } catch (const UserError& error) {
      EXPECT_FALSE(error.problems().empty());
    }
  }
  EXPECT_GT(read, inputs / 50);
}

}  // namespace
}  // namespace superstep
