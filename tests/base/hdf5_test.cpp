#include "base/hdf5.h"

#include <gtest/gtest.h>
#include <hdf5.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/hdf5_file.h"
#include "tests/scratch_folder.h"

namespace superstep {
namespace {

const std::filesystem::path kTests = std::filesystem::path(SUPERSTEP_SOURCE_DIR) / "tests" / "base";

std::string refusal_of(const std::filesystem::path& path) {
  try {
    (void)read_tensors(path);
  } catch (const MalformedInput& error) {
    return error.what();
  }
  return "accepted";
}

TEST(TensorFile, ReadsEveryTypeThatH5pyWrites) {
  const TensorFile file = read_tensors(kTests / "h5py_types.h5");
  ASSERT_EQ(file.size(), 11u);  // the string and the group are no tensors
  EXPECT_EQ(file.at("arg0").type, (TensorType{DType::kI1, {2, 2}}));
  EXPECT_EQ(file.at("arg0").get<std::uint8_t>(0), 1);
  EXPECT_EQ(file.at("arg0").get<std::uint8_t>(1), 0);
  EXPECT_EQ(file.at("arg1").get<std::int8_t>(0), -1);
  EXPECT_EQ(file.at("arg2").get<std::int16_t>(0), -300);
  EXPECT_EQ(file.at("arg3").type, (TensorType{DType::kI32, {}}));
  EXPECT_EQ(file.at("arg3").get<std::int32_t>(0), -70000);
  EXPECT_EQ(file.at("arg4").get<std::uint8_t>(0), 255);
  EXPECT_EQ(file.at("arg5").get<std::uint16_t>(0), 65535);
  EXPECT_EQ(file.at("arg6").get<std::uint32_t>(0), 4000000000u);
  EXPECT_EQ(file.at("arg7").type.dtype, DType::kF16);
  EXPECT_EQ(file.at("arg7").get<std::uint16_t>(0), 0x3e00);
  EXPECT_EQ(file.at("arg7").get<std::uint16_t>(1), 0xfbff);
  EXPECT_EQ(file.at("arg7").get<std::uint16_t>(2), 0x0001);
  EXPECT_EQ(file.at("arg8").get<float>(0), 1.5f);
  EXPECT_EQ(file.at("arg8").get<std::uint32_t>(1), 0x80000000u);
  EXPECT_EQ(file.at("arg9").type.shape, (Shape{0, 3}));
  EXPECT_EQ(file.at("big").get<float>(0), 2.5f);
}

TEST(TensorFile, IsWrittenAndReadBesideOthersInOtherThreads) {
  constexpr std::size_t kThreads = 4;
  constexpr int kFiles = 50;
  const TensorFile before = read_tensors(kTests / "h5py_types.h5");
  const auto folder = scratch_folder();
  std::array<int, kThreads> equal{};
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kFiles; ++i) {
        const auto path = folder / (std::to_string(t) + ".h5");
        write_tensors(path, before);
        Hdf5File::open(path, Hdf5File::Access::kWrite)
            .set_attribute("/", "file", std::to_string(i));
        const bool has_attribute =
            Hdf5File::open(path, Hdf5File::Access::kRead).text_attribute("/", "file") ==
            std::to_string(i);
        equal.at(t) +=
            has_attribute && read_tensors(path).at("arg9").type == before.at("arg9").type;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(equal, (std::array{kFiles, kFiles, kFiles, kFiles}));
}

void expect_written_as_read(const std::filesystem::path& file) {
  const TensorFile before = read_tensors(file);
  const auto path = scratch_folder() / "written.h5";
  write_tensors(path, before);
  const TensorFile after = read_tensors(path);
  ASSERT_EQ(after.size(), before.size());
  for (const auto& [name, tensor] : before) {
    EXPECT_EQ(after.at(name).type, tensor.type) << name;
    EXPECT_EQ(after.at(name).data, tensor.data) << name;
  }
}

TEST(TensorFile, WritesWhatItReadsBack) { expect_written_as_read(kTests / "h5py_types.h5"); }

TEST(TensorFile, WritesTheSameBytesTwice) {
  const TensorFile tensors = read_tensors(kTests / "h5py_types.h5");
  const auto bytes = [&](const std::string& name) {
    write_tensors(scratch_folder() / name, tensors);
    std::ifstream in(scratch_folder() / name, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  EXPECT_EQ(bytes("superstep_a.h5"), bytes("superstep_b.h5"));
}

/// A file with one dataset, of a shape that nobody wrote anything to.
std::filesystem::path unwritten(const std::string& name, std::vector<hsize_t> shape) {
  const auto path = scratch_folder() / "unwritten.h5";
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t space = H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
  H5Dclose(
      H5Dcreate2(file, name.c_str(), H5T_IEEE_F32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  H5Sclose(space);
  H5Fclose(file);
  return path;
}

TEST(TensorFile, ReadsNoDataOfWhatIsNotWanted) {
  const auto path = unwritten("arg0", {10'000'000, 10'000'000});
  const TensorFile file = read_tensors(
      path, {}, [](const std::string& name, const TensorType&) { return name != "arg0"; });
  EXPECT_EQ(file.at("arg0").type, (TensorType{DType::kF32, {10'000'000, 10'000'000}}));
  EXPECT_TRUE(file.at("arg0").data.empty());
}

TEST(TensorFile, NamesAreInTheOrderOfTheirNumbers) {
  TensorFile file;
  for (const char* name : {"result10", "b2", "result9", "a", "result2", "7", "b02", "arg11"})
    file.emplace(name, HostTensor(TensorType{DType::kI8, {1}}));
  std::vector<std::string> names;
  for (const auto& [name, tensor] : file) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"7", "a", "arg11", "b2", "b02", "result2", "result9",
                                             "result10"}));
}

TEST(TensorFile, ListsAreInTheOrderOfNumbers) {
  std::vector<HostTensor> tensors;
  for (std::int64_t k = 0; k < 12; ++k) tensors.emplace_back(TensorType{DType::kI8, {k}});
  const auto path = scratch_folder() / "list.h5";
  write_tensor_list(path, "arg", tensors);
  EXPECT_EQ(read_tensors(path).at("arg10").type.shape, Shape{10});
  const std::vector<HostTensor> found = read_tensor_list(path, "arg");
  ASSERT_EQ(found.size(), tensors.size());
  for (std::size_t k = 0; k < found.size(); ++k) EXPECT_EQ(found[k].type, tensors[k].type) << k;
  EXPECT_TRUE(read_tensor_list(path, "result").empty());
}

TEST(TensorFile, AListHasEachNumber) {
  const HostTensor tensor({DType::kI8, {1}});
  const auto path = scratch_folder() / "list.h5";
  write_tensors(path, {{"arg0", tensor}, {"arg2", tensor}});
  try {
    (void)read_tensor_list(path, "arg");
    FAIL() << "accepted";
  } catch (const MalformedInput& error) {
    EXPECT_NE(std::string(error.what()).find("has 2 datasets arg0, …, but no 'arg1'"),
              std::string::npos)
        << error.what();
  }
}

TEST(TensorFile, RefusesShapesBeyondWhatIsStored) {
  EXPECT_NE(
      refusal_of(unwritten("x", {100'000'000, 100'000'000}))
          .find("dataset 'x' (tensor<100000000x100000000xf32>) is larger than what is stored"),
      std::string::npos);
}

TEST(TensorFile, ReadsWideTypesAndBf16) {
  const TensorFile file = read_tensors(kTests / "h5py_wide.h5");
  EXPECT_EQ(file.at("arg0").type, (TensorType{DType::kF64, {2}}));
  EXPECT_EQ(file.at("arg0").get<double>(1), -1e300);
  EXPECT_EQ(file.at("arg1").type, (TensorType{DType::kI64, {}}));
  EXPECT_EQ(file.at("arg1").get<std::int64_t>(0), -5000000000000);
  EXPECT_EQ(file.at("arg2").get<std::uint64_t>(0), 18446744073709551615U);
  EXPECT_EQ(file.at("arg3").type, (TensorType{DType::kC64, {2}}));
  EXPECT_EQ(file.at("arg3").get<float>(2), 3);
  EXPECT_EQ(file.at("arg3").get<float>(3), -4);
  EXPECT_EQ(file.at("arg4").type, (TensorType{DType::kBF16, {2}}));
  EXPECT_EQ(file.at("arg4").get<std::uint16_t>(1), 0xc000);
  // Big endian.
  EXPECT_EQ(file.at("arg5").get<double>(0), 1.5);
  EXPECT_EQ(file.at("arg6").type.dtype, DType::kC64);
  EXPECT_EQ(file.at("arg6").get<float>(1), 2);
  EXPECT_EQ(file.at("arg7").type, (TensorType{DType::kC128, {2}}));
  EXPECT_EQ(file.at("arg7").get<double>(1), 0.1);
  EXPECT_EQ(file.at("arg7").get<double>(3), -1e300);
}

TEST(TensorFile, WritesWideTypesAndBf16) { expect_written_as_read(kTests / "h5py_wide.h5"); }

TEST(TensorFile, NamesTheTypesOfNarrowTensors) {
  TensorFile tensors;
  std::size_t number = 0;
  for (const DType dtype : kAllDTypes) {
    if (!is_narrow(dtype)) continue;
    HostTensor tensor({dtype, {2}});
    tensor.set<std::uint8_t>(0, 1);
    tensors.emplace("arg" + std::to_string(number++), tensor);
  }
  const auto path = scratch_folder() / "narrow.h5";
  write_tensors(path, tensors);
  const TensorFile found = read_tensors(path);
  ASSERT_EQ(found.size(), tensors.size());
  for (const auto& [name, tensor] : tensors) {
    EXPECT_EQ(found.at(name).type, tensor.type);
    EXPECT_EQ(found.at(name).data, tensor.data);
  }
}

TEST(TensorFile, NamesEveryDatasetOfAnUnsupportedType) {
  const std::string text = refusal_of(kTests / "h5py_unsupported.h5");
  EXPECT_NE(text.find("'arg0' has the type 128-bit float"), std::string::npos) << text;
  EXPECT_NE(text.find("'arg1' has the type compound"), std::string::npos) << text;
  EXPECT_NE(text.find("complex numbers of 32 or 64-bit floats"), std::string::npos) << text;
}

/// A file of h5py: a dataset of lzf, one in another file, one of lists, one that claims 2^62 bytes,
/// a group and a text where tensors are expected, and a link to nothing.
TEST(TensorFile, SaysWhatItFoundInsteadOfATensor) {
  const std::string text = refusal_of(kTests / "h5py_unreadable.h5");
  for (const char* said :
       {"'arg0' cannot be read: it is compressed with a filter that this HDF5 does not have (lzf, "
        "number 32000)",
        "'arg1' is a group; a tensor is a dataset of numbers", "'arg2' has the type text",
        "'arg3' cannot be read: it is kept in another file, absent.raw, which cannot be read",
        "'arg4' cannot be opened: it is damaged, of a newer HDF5, or a link to nothing",
        "'arg5' has the type lists of variable length",
        "'arg6' (tensor<1099511627776x1048576xf32>) is larger than what is stored"}) {
    EXPECT_NE(text.find(said), std::string::npos) << said << "\n" << text;
  }
  EXPECT_EQ(text.find("note"), std::string::npos);
  EXPECT_EQ(text.find("more"), std::string::npos);
}

TEST(TensorFile, RefusesAFileThatIsCutOffForeignOrMissing) {
  const auto cut = scratch_folder() / "cut.h5";
  std::filesystem::copy_file(kTests / "h5py_types.h5", cut,
                             std::filesystem::copy_options::overwrite_existing);
  std::filesystem::resize_file(cut, 1500);
  EXPECT_NE(refusal_of(cut).find("damaged HDF5 file, or one that was cut off"), std::string::npos);
  EXPECT_NE(refusal_of(kTests / "hdf5_test.cpp").find("is not an HDF5 file"), std::string::npos);
  EXPECT_THROW((void)read_tensors(scratch_folder() / "absent.h5"), InputOutputError);
}

TEST(Hdf5File, RowsAreThereBehindAFlushWhileTheirDatasetsAreOpen) {
  const std::filesystem::path path = scratch_folder() / "rows.h5";
  const std::vector<std::string> sets = {"/long", "/short"};
  Hdf5File file = Hdf5File::create(path);
  for (const std::string& set : sets) {
    file.make_dataset(set, {.type = Hdf5Type::kU32, .dims = {0}, .chunk_rows = 4});
  }
  file.start_swmr();
  std::vector<std::uint32_t> rows;
  // As a process that was killed leaves the file: the library opens no file twice.
  const auto are_there = [&] {
    const std::filesystem::path left = scratch_folder() / "left.h5";
    std::filesystem::copy_file(path, left, std::filesystem::copy_options::overwrite_existing);
    const Hdf5File reader = Hdf5File::open(left, Hdf5File::Access::kSwmrRead);
    for (const std::string& set : sets) {
      EXPECT_EQ(reader.read_all<std::uint32_t>(set, Hdf5Type::kU32), rows) << set;
    }
  };
  // Inside a chunk, to its end, over several.
  for (const std::uint32_t count : {1U, 1U, 2U, 9U, 3U}) {
    const std::size_t before = rows.size();
    for (std::uint32_t i = 0; i < count; ++i) rows.push_back(10 * count + i);
    for (const std::string& set : sets) file.append(set, rows.data() + before, count);
    file.flush();
    are_there();
  }
  Hdf5File moved = std::move(file);
  rows.push_back(7);
  for (const std::string& set : sets) moved.append(set, &rows.back(), 1);
  moved.close();
  are_there();
}

}  // namespace
}  // namespace superstep
