#include <gtest/gtest.h>
#include <hdf5.h>

#include <filesystem>

#include "base/error.h"
#include "base/hdf5_file.h"
#include "sim/trace/trace.h"
#include "tests/scratch_folder.h"
#include "tests/sim/two_steps.h"

namespace superstep {
namespace {

std::string refusal_of(const std::filesystem::path& path) {
  try {
    (void)read_trace(path);
  } catch (const UserError& error) {
    EXPECT_EQ(error.code(), ExitCode::kDamagedTrace);
    return error.what();
  }
  return "accepted";
}

/// Ten supersteps of `two_steps` by the program that wrote format 1.0.0, which had profiles of u4.
TEST(TraceReader, ReadsAndRepairsTracesOfOlderFormats) {
  const auto old = std::filesystem::path(SUPERSTEP_SOURCE_DIR) / "tests/sim/format_1.0.0.h5.part";
  expect_totals(read_trace(old), 8);
  const auto mended = scratch_folder() / "newer.h5";
  repair_trace(old, mended);
  const TraceSummary trace = read_trace(mended);
  EXPECT_EQ(trace.format_version, "1.0.0") << "it lacks what later formats have";
  expect_totals(trace, 8);
  EXPECT_EQ(trace.assumed.sync, trace.totals.sync) << "it does not say";
  const Hdf5File file = Hdf5File::open(mended, Hdf5File::Access::kRead);
  EXPECT_EQ(file.type("/profiles/compute/cycles"), Hdf5Type::kU64);
  EXPECT_EQ(file.read_all<std::uint64_t>("/profiles/compute/cycles", Hdf5Type::kU64),
            (std::vector<std::uint64_t>{20, 20, 20, 21}));
}

TEST(TraceReader, RefusesDamagedForeignAndMissingFiles) {
  const auto path = scratch_folder() / "whole.h5";
  write_trace(path, TraceLevel::kSuperstep, 100, "a");
  const auto cut = scratch_folder() / "cut.h5";
  for (const std::uintmax_t size : {std::uintmax_t{0}, std::uintmax_t{100}, std::uintmax_t{3000},
                                    std::filesystem::file_size(path) / 2}) {
    std::filesystem::copy_file(path, cut, std::filesystem::copy_options::overwrite_existing);
    std::filesystem::resize_file(cut, size);
    EXPECT_NE(refusal_of(cut), "accepted") << size;
  }
  const auto tests = std::filesystem::path(SUPERSTEP_SOURCE_DIR) / "tests";
  // The library reads what a writer may be changing again and again: not for ever.
  std::filesystem::copy_file(tests / "sim/format_1.0.0.h5.part", cut,
                             std::filesystem::copy_options::overwrite_existing);
  std::filesystem::resize_file(cut, std::filesystem::file_size(cut) - 1);
  EXPECT_NE(refusal_of(cut), "accepted");
  EXPECT_NE(refusal_of(tests / "sim" / "two_steps.h").find("is not an HDF5 file"),
            std::string::npos);
  EXPECT_NE(refusal_of(tests / "base" / "h5py_types.h5").find("not a Superstep trace"),
            std::string::npos);
  EXPECT_THROW((void)read_trace(scratch_folder() / "none.h5"), InputOutputError);
  EXPECT_THROW((void)read_trace(scratch_folder()), InputOutputError);
}

/// Takes a dataset out of a file.
void remove_dataset(const std::filesystem::path& path, const std::string& dataset) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  ASSERT_GE(file, 0);
  EXPECT_GE(H5Ldelete(file, dataset.c_str(), H5P_DEFAULT), 0);
  H5Fclose(file);
}

TEST(TraceReader, MissesATableOfItsLevel) {
  for (const std::string dataset :
       {"/supersteps/superstep", "/supersteps/compute_cycles", "/launches/cycles", "/host/bytes",
        "/program/fused/name", "/profiles/compute/cycles"}) {
    const auto path = scratch_folder() / "damaged.h5";
    write_trace(path, TraceLevel::kTile, 3, "a");
    remove_dataset(path, dataset);
    EXPECT_EQ(refusal_of(path), path.string() + ": error: is damaged: " + dataset + " is missing");
  }
  const auto path = scratch_folder() / "summary.h5";
  write_trace(path, TraceLevel::kSummary, 3, "a");
  EXPECT_EQ(read_trace(path).totals.supersteps, 3U) << "its level has no supersteps";
}

}  // namespace
}  // namespace superstep
