#include <hdf5.h>

#include <array>

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

}  // namespace
}  // namespace superstep
