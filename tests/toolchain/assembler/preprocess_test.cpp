#include "toolchain/assembler/preprocess.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "tests/scratch_folder.h"
#include "tests/toolchain/assembler/assembling.h"

namespace superstep {
namespace {

/// A file of this test's own.
std::string file_with(const std::string& name, const std::string& text) {
  const std::filesystem::path folder = scratch_folder();
  std::ofstream(folder / name) << text;
  return (folder / name).string();
}

std::vector<std::uint32_t> assembled(const std::string& text, const PreprocessOptions& options) {
  return words_of(preprocess(file_with("source.S", text), options));
}

TEST(Preprocessor, KnowsTheMachineAndNotTheHost) {
  EXPECT_EQ(assembled("#if defined(__IPU__) && __IPU_ARCH_VERSION__ == 2 && !defined(__linux__)\n"
                      "#ifdef __ASSEMBLER__\nnop\n#endif\n#endif\n",
                      {}),
            words_of("nop"));
  EXPECT_EQ(assembled("setzi $m0, __IPU_ARCH_VERSION__", {{}, {"__IPU_ARCH_VERSION__=21"}}),
            words_of("setzi $m0, 21"));
}

TEST(Preprocessor, PutsMacrosBehindTheDollarOfARegister) {
  EXPECT_EQ(assembled("#define IN a2:3\n#define PTR m4\nld64 $IN, $PTR, $mzero, OFFSET",
                      {{}, {"OFFSET=3"}}),
            words_of("ld64 $a2:3, $m4, $mzero, 3"));
}

TEST(Preprocessor, FindsTheHeadersOfTheSdk) {
  EXPECT_EQ(
      assembled("#include \"poplar/TileConstants.hpp\"\n#include \"poplar/StackSizeDefs.hpp\"\n"
                "#include <poplar/AvailableVTypes.h>\n#include \"arch/gc_tile_defines.h\"\n"
                "#if defined(VECTOR_AVAIL_SHORT_SPAN) && !defined(VECTORLIST_AVAIL_DELTAN)\n"
                "DEF_STACK_USAGE 0 f\n.section .text.f, FUNCTION_IS_WORKER\n"
                "setzi $m0, CSR_W_FP_CTL__INDEX & 0xff\n#endif",
                {}),
      words_of("setzi $m0, 2"));
}

TEST(Preprocessor, GivesHeadersTheNumbersOfTheMachine) {
  const std::string text =
      "#include \"poplar/TileConstants.hpp\"\n"
      ".int CTXT_WORKERS, NUM_WORKERS, TMEM_REGION0_BASE_ADDR, SUPERSTEP_REGION1_BASE, "
      "TMEM_ELEMSIZE\n";
  // Mk2's are those of a header that is read without a machine.
  EXPECT_EQ(assembled(text, {}), words_of(".int 6, 6, 0x4c000, 0x80000, 0x4000"));
  EXPECT_EQ(assembled(text, {{}, machine_defines(load_machine("gc200"))}), assembled(text, {}));
  const MachineConfig machine =
      load_machine("gc200", {"tile.workers=3", "tile.memory_base=0x40000",
                             "tile.region1_base=0x60000", "tile.element=32 KiB"});
  EXPECT_EQ(assembled(text, {{}, machine_defines(machine)}),
            words_of(".int 3, 3, 0x40000, 0x60000, 0x8000"));
}

TEST(Preprocessor, LetsParametersShareANameWithAMacro) {
  EXPECT_EQ(assembled("#define ONE a6\n.macro M ONE\n setzi $\\ONE, 3\n.endm\nM a7", {}),
            words_of("setzi $a7, 3"));
}

TEST(Preprocessor, JoinsNamesWithParametersThatItCannotPaste) {
  EXPECT_EQ(assembled("#define NAME(a, b) f_##a##_##b\n.macro M t\nNAME(x, \\t\\()):\n nop\n"
                      " bri NAME(x, \\t)\n.endm\nM half",
                      {}),
            words_of("f_x_half: nop\n bri f_x_half"));
}

TEST(Preprocessor, SaysWhereItFails) {
  const std::string path = file_with("bad.S", "nop\n#include \"nowhere.h\"\n");
  try {
    (void)preprocess(path, {});
    FAIL();
  } catch (const MalformedInput& error) {
    EXPECT_EQ(error.problems().at(0).where, (SourceLocation{path, 2, 10}));
    EXPECT_NE(error.problems().at(0).message.find("nowhere.h"), std::string::npos);
  }
}

TEST(Preprocessor, SaysTheLineWhereThatIsAllThatIsKnown) {
  try {
    (void)preprocess(file_with("open.S", "nop\n#if 1\nnop\n"), {});
    FAIL();
  } catch (const MalformedInput& error) {
    ASSERT_EQ(error.problems().size(), 1U);
    EXPECT_EQ(error.problems()[0].message, "unterminated #if");
    EXPECT_EQ(error.problems()[0].where.line, 2U);
    EXPECT_EQ(error.problems()[0].where.column, 0U);
  }
}

TEST(Preprocessor, KeepsTheLinesOfHeaders) {
  file_with("inner.h", "\n  wrong\n");
  const std::string path = file_with("outer.S", "#include \"inner.h\"\nworse\n");
  const std::vector<std::string> found = problems_of(preprocess(path, {}));
  ASSERT_EQ(found.size(), 2U);
  EXPECT_NE(found[0].find("inner.h:2:3 `wrong`"), std::string::npos);
  EXPECT_NE(found[1].find("outer.S:2:1 `worse`"), std::string::npos);
}

}  // namespace
}  // namespace superstep
