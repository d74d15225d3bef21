// Damaged assembly: each text is refused with located problems, or assembles.

#include <gtest/gtest.h>

#include <array>

#include "base/error.h"
#include "tests/errors/damage.h"
#include "toolchain/assembler/object_assembler.h"

namespace superstep {
namespace {

// Between them every directive, kind of operand and form of macro.
constexpr std::array kTexts = {
    R"(# 1 "main.S"
.macro ENTRY NAME ALIGNMENT=4 OPTIONAL="" STACK=0
.ifnc "\STACK", "NONE"
 .equ SIZE_OF, \STACK * 4
.endif
 .section .text.\NAME, "ax", @progbits
 .globl \NAME
 .type \NAME, @function
 .align \ALIGNMENT
 .worker
\NAME\()_START:
\OPTIONAL
\NAME:
.endm
.macro REPEAT COUNT what:vararg
.if (. - main_START) & 0x7
 rpt $m1, (2f - 1f) / 8 - 1
.else
 { rpt \COUNT, (2f - 1f) / 8 - 1
   fnop }
.endif
1:
.rept 2
 { ld64step $a0:1, $mzero, $m2+=, 1 ; \what }
.endr
2:
.endm
ENTRY main 8 nop STACK=3
 ld32 $m1, $mvertex_base, $mzero, SIZE_OF / 4
 REPEAT 5 f32v2add $a2:3, $a0:B, $a2:3
 brnzdec $m1, 1b
 .Lend: exitz $mzero
.size main, . - main_START
# 30 "header.h" 1
.supervisor
 ldconst $m3, 0x12345678 & ~((1 << 20) - 1)
 call $lr, elsewhere + 4
 setzi $a1, -1.5h
)",
    R"(.data
 .byte 1, -2, 'a' ; .short 0x102, x@relative@16@s2
 .half 1.0h
 .int later - ., 0b101, 010, main
 .quad 1 << 40 || 3 != 4 ; .float 1.5, -2e3 ; .double 0.1
 .ascii "a\n\x41\101" ; .string "b" ; .zero 3 ; .space 2, 9 ; .fill 2, 2, 0x304
 .irp r, m1, m2
  .text
  setzi $\r, (3 + 4) * 5 % 6
  .previous
 .endr
 .irpc n, 0123
  .pushsection .rodata
  .int \n
  .popsection
 .endr
later:
.text
main: st32step $a0, $mzero, $m1+=, $m2 ; ld2x64pace $a0:1, $a2:3, $m0:1+=, $m2, 0
.ifdef later
 mov $m1, $a2 ; mov $a2:3, $a4:5 ; zero $m1 ; swap16 $a1, $a2
.elseif later
 .error "never"
.else
 .exitm
.endif
/* a
 comment */ .set a, b + 1 // another
.set b, 7
 add $m0, $m0, a ; addz $m0, $m0, 65535 ; sub $m0, $m1, 3 ; cmpeq $m0, $m1, -1
 put $FP_ICTL, $m0 ; uput $FP_CLR, $a0 ; get $m0, $WSR
 x = . + 4
)"};

TEST(Fuzz, AssemblyAssemblesUndamaged) {
  for (const char* text : kTexts) EXPECT_NO_THROW((void)assemble_object(text, "f.S"));
}

TEST(Fuzz, DamagedAssemblyIsRefusedOrAssembles) {
  Damage damage(3);
  int assembled = 0;
  for (int i = 0; i < fuzz_inputs(); ++i) {
    const std::string text = damage.apply(kTexts[static_cast<std::size_t>(i) % kTexts.size()]);
    SCOPED_TRACE(text);
    try {
      (void)assemble_object(text, "f.S");
      ++assembled;
    } catch (const UserError& error) {
      EXPECT_FALSE(error.problems().empty());
    }
  }
  EXPECT_GT(assembled, fuzz_inputs() / 50);
}

}  // namespace
}  // namespace superstep
