#include <hdf5.h>

#include <array>
#include <fstream>

#include "base/hdf5.h"
#include "tests/tools/feed_programs.h"
#include "tests/tools/program.h"

namespace superstep {
namespace {

// No host holds what the file says it has.
TEST(Inputs, OfAnotherShapeAreRefusedWithoutReadingThem) {
  const auto path = scratch_folder() / "huge.h5";
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const std::array<hsize_t, 2> shape{10'000'000, 10'000'000};
  const hid_t space = H5Screate_simple(2, shape.data(), nullptr);
  H5Dclose(H5Dcreate2(file, "arg0", H5T_IEEE_F32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  H5Sclose(space);
  H5Fclose(file);
  const ProgramRun run =
      superstep("run models/quickstart/square_plus_one.mlir -m tiny4 --input " + path.string());
  EXPECT_EQ(run.code, 5);
  EXPECT_NE(run.err.find("arg0 is tensor<10000000x10000000xf32>, but the program expects tensor<"),
            std::string::npos)
      << run.err;
}

// A program that does not fit is refused by the compiler, which is not asked.
TEST(Inputs, AreComparedWithTheProgramBeforeItIsCompiled) {
  const std::filesystem::path folder = scratch_folder();
  const std::string values = folder / "values.h5";
  write_tensors(values, {{"arg0", HostTensor(TensorType{DType::kF32, {3}})}});
  const std::string words =
      "run models/mnist_mlp/train_step.mlir -m tiny4 -q --input random:1 --repeat 3";
  EXPECT_EQ(superstep(words).code, 4);
  const ProgramRun run = superstep(words + " --input " + values);
  EXPECT_EQ(run.code, 5);
  EXPECT_NE(run.err.find("arg0 is tensor<3xf32>, but the program expects tensor<"),
            std::string::npos)
      << run.err;
}

TEST(Inputs, FilesOfFeedsThatTheProgramDoesNotHaveAreRefused) {
  const std::string values = scratch_folder() / "none.h5", given = scratch_folder() / "given.h5";
  write_tensors(values, {{"arg0", HostTensor(TensorType{DType::kF32, {3}})}});
  const std::string words =
      "run models/quickstart/square_plus_one.mlir -m tiny4 -q --input random:1";
  const ProgramRun fed = superstep(words + " --infeed " + values);
  EXPECT_EQ(fed.code, 5);
  EXPECT_EQ(fed.err, values + ": error: --infeed gives a file, but the program has no infeed\n");
  const ProgramRun gives = superstep(words + " --outfeed " + given);
  EXPECT_EQ(gives.code, 2);
  EXPECT_NE(gives.err.find("--outfeed names a file, but the program has no outfeed"),
            std::string::npos)
      << gives.err;
  EXPECT_FALSE(std::filesystem::exists(given));
}

TEST(Inputs, OfParametersAreNamedAsTheirFileHasThem) {
  const ProgramRun run = superstep(
      "run models/quickstart/affine.mlir -m tiny4 --input random:1 --parameters "
      "models/quickstart/affine_expected.h5");
  EXPECT_EQ(run.code, 5);
  EXPECT_NE(run.err.find("result0 of --parameters is tensor<4xf32>, but the program expects "
                         "tensor<4x3xf32> as arg0"),
            std::string::npos)
      << run.err;
}

TEST(Inputs, OfInfeedsAreNamedWithTheirFile) {
  const std::filesystem::path folder = scratch_folder();
  const std::string program = folder / "fed.mlir", values = folder / "fed.h5";
  std::ofstream(program) << kFedProgram;
  const auto run_with = [&](const std::string& name, std::int64_t visits) {
    write_tensors(values, {{name, HostTensor(TensorType{DType::kF32, {visits, 4}})}});
    return superstep("run " + program + " -m tiny4 -q --repeat 3 --infeed " + values);
  };
  const ProgramRun few = run_with("infeed0", 2);
  EXPECT_EQ(few.code, 1);
  EXPECT_NE(few.err.find("fed.h5: error: infeed0 has 2 visits"), std::string::npos) << few.err;
  const ProgramRun other = run_with("infeed7", 3);
  EXPECT_EQ(other.code, 5);
  EXPECT_NE(other.err.find("fed.h5: error: has infeed7 (tensor<3x4xf32>)"), std::string::npos)
      << other.err;
  const ProgramRun enough = run_with("infeed0", 3);
  EXPECT_EQ(enough.code, 0);
  EXPECT_EQ(enough.out.find("infeed0"), std::string::npos) << enough.out;
}

TEST(Inputs, OfInfeedsThatTheProgramDoesNotTakeAreAWarning) {
  const std::filesystem::path folder = scratch_folder();
  const std::string program = folder / "fed.mlir", values = folder / "fed.h5";
  std::ofstream(program) << kFedProgram;
  write_tensors(values, {{"infeed0", HostTensor(TensorType{DType::kF32, {7, 4}})}});
  for (const std::string prefetch : {"0", "2"}) {
    const ProgramRun run = superstep("run " + program + " -m tiny4 -q --repeat 3 --infeed " +
                                     values + " --set host.prefetch=" + prefetch);
    EXPECT_EQ(run.code, 0);
    EXPECT_NE(run.out.find(": infeed0 has 4 visits more than the program took\n"),
              std::string::npos)
        << run.out;
    EXPECT_NE(run.out.find("warning at cycle "), std::string::npos) << run.out;
  }
}

}  // namespace
}  // namespace superstep
