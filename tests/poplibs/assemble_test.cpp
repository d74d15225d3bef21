// PopLibs' own assembly, unmodified: numbers of instructions, bundles, repeat bodies and entry
// symbols as counted from the sources by a separate front end.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "tests/poplibs/checkout.h"
#include "toolchain/assembler/object_assembler.h"
#include "toolchain/assembler/preprocess.h"

namespace superstep {
namespace {

namespace fs = std::filesystem;

struct Totals {
  std::size_t files = 0;
  std::size_t code_files = 0;
  std::uint64_t instructions = 0;
  std::uint64_t bundles = 0;
  std::uint64_t repeats = 0;
  std::multiset<std::string> entries;
  std::vector<std::string> failures;
};

void assemble_file(const fs::path& root, const fs::path& file, Totals& totals) {
  ++totals.files;
  try {
    const AssembledObject result = assemble_object(
        preprocess(file.string(), {poplibs_include_folders(root, file), {}}), file.string());
    totals.code_files += result.instructions > 0 ? 1 : 0;
    totals.instructions += result.instructions;
    totals.bundles += result.bundles;
    totals.repeats += result.repeats;
    for (const Object::Symbol& symbol : result.object.symbols) {
      const bool is_entry = symbol.is_defined && symbol.name.starts_with("__runCodelet_") &&
                            !symbol.name.ends_with("_START");
      if (is_entry) totals.entries.insert(symbol.name);
    }
  } catch (const UserError& error) {
    const Problem& first = error.problems()[0];
    totals.failures.push_back(first.where.text() + ": " + first.message + " (of " +
                              std::to_string(error.problems().size()) + ")");
  }
}

// The assembler refuses a repeat body that is not aligned: that all are is part of the test.
TEST(PopLibsAssembly, AssemblesUnmodified) {
  const std::optional<fs::path> root = poplibs_checkout();
  if (!root) GTEST_SKIP() << kNoPoplibs;
  Totals totals;
  for (const fs::path& file : poplibs_assembly(*root)) assemble_file(*root, file, totals);
  for (const std::string& failure : totals.failures) ADD_FAILURE() << failure;
  EXPECT_EQ(totals.files, 201U);
  EXPECT_EQ(totals.code_files, 170U);
  EXPECT_EQ(totals.instructions, 70901U);
  EXPECT_EQ(totals.bundles, 11404U);
  EXPECT_EQ(totals.repeats, 579U);
  EXPECT_EQ(totals.entries.size(), 1195U);
}

}  // namespace
}  // namespace superstep
