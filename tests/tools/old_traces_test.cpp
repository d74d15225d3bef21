#include <gtest/gtest.h>
#include <hdf5.h>

#include "base/format_version.h"
#include "base/hdf5_file.h"
#include "sim/trace/schema.h"
#include "tests/tools/program.h"

namespace superstep {
namespace {

/// Makes of a finished trace what a killed run of format 1.`minor` left: without what later formats
/// brought, and without what is made when a run ends.
void make_older(const std::string& path, unsigned minor) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  ASSERT_GE(file, 0);
  EXPECT_GE(H5Ldelete(file, "/summary", H5P_DEFAULT), 0);
  for (const TraceColumn& column : trace_columns()) {
    const char* const name = column.path.c_str();
    if (column.minor <= minor || is_of_end(name) || H5Lexists(file, name, H5P_DEFAULT) <= 0) {
      continue;
    }
    EXPECT_GE(H5Ldelete(file, name, H5P_DEFAULT), 0) << name;
  }
  for (const TraceAttribute& attribute : trace_attributes()) {
    if (attribute.minor <= minor || is_of_end(attribute.object)) continue;
    const std::string object(attribute.object), name(attribute.name);
    EXPECT_GE(H5Adelete_by_name(file, object.c_str(), name.c_str(), H5P_DEFAULT), 0) << name;
  }
  H5Fclose(file);
  Hdf5File older = Hdf5File::open(path, Hdf5File::Access::kWrite);
  older.set_attribute("/", "format_version", "1." + std::to_string(minor) + ".0");
  older.set_attribute("/", "complete", std::uint64_t{0}, Hdf5Type::kU8);
  older.set_attribute("/", "outcome", std::string("running"));
  older.close();
}

TEST(OldTraces, AreInOrderOfTheirOwnFormatBehindARepair) {
  const std::string whole = (scratch_folder() / "whole.h5").string();
  const std::string part = (scratch_folder() / "old.h5.part").string();
  const std::string mended = (scratch_folder() / "mended.h5").string();
  for (const char* level : {"superstep", "tile"}) {
    const ProgramRun run = superstep(
        "run models/linear_regression/train_step.mlir -m tiny4 --input "
        "models/linear_regression/train.h5 --repeat 3 -q --trace " +
        std::string(level) + " -o " + whole);
    ASSERT_EQ(run.code, 0) << run.err;
    for (unsigned minor = 0; minor <= minor_of(kTraceVersion); ++minor) {
      SCOPED_TRACE(level + (" 1." + std::to_string(minor)));
      std::filesystem::copy_file(whole, part, std::filesystem::copy_options::overwrite_existing);
      make_older(part, minor);
      const ProgramRun repair = superstep("trace repair " + part + ' ' + mended);
      ASSERT_EQ(repair.code, 0) << repair.err;
      const ProgramRun validate = superstep("trace validate " + mended);
      EXPECT_EQ(validate.code, 0) << validate.err;
      const Hdf5File file = Hdf5File::open(mended, Hdf5File::Access::kRead);
      EXPECT_EQ(file.text_attribute("/", "format_version"), "1." + std::to_string(minor) + ".0");
      EXPECT_EQ(file.exists("/program/fused/step"), minor >= 9);
      EXPECT_EQ(file.exists("/program/variable/python_line"), minor >= 10);
      const Hdf5File before = Hdf5File::open(whole, Hdf5File::Access::kRead);
      EXPECT_EQ(file.attribute("/summary", "total_cycles"),
                before.attribute("/summary", "total_cycles"));
    }
  }
}

}  // namespace
}  // namespace superstep
