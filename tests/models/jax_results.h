#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/hdf5.h"
#include "isa/machine_config.h"
#include "isa/program_image.h"
#include "sim/run_image.h"

namespace superstep {

/// The programs that come with Superstep.
inline const std::filesystem::path kModels = std::filesystem::path(SUPERSTEP_SOURCE_DIR) / "models";

/// The tensors of one of their files.
[[nodiscard]] inline TensorFile tensors(const std::string& file) {
  return read_tensors(kModels / file);
}

/// A module of StableHLO, for a machine.
[[nodiscard]] ProgramImage compile_file(const std::filesystem::path& module,
                                        const MachineConfig& machine);

/// Runs a program on `arg0`, `arg1`, … of a file, each behind the prefix. Expects no trap.
[[nodiscard]] RunResult run_on(const ProgramImage& image, const TensorFile& file,
                               const RunOptions& options = {}, const std::string& prefix = {});

/// How far a float or complex number may be from an expected one of this type and magnitude.
using Tolerance = std::function<double(DType dtype, double magnitude)>;

/// A tolerance of absolute + relative * magnitude.
[[nodiscard]] Tolerance within(double relative, double absolute);

/// Integers and booleans are equal, and without a tolerance all others too, to the bit; NaN is
/// close to NaN.
void expect_close(const HostTensor& found, const HostTensor& expected,
                  const Tolerance& tolerance = {});

/// The results are close to `result0`, `result1`, … of a file, each behind the prefix, and as many.
void expect_results(const RunResult& run, const TensorFile& expected,
                    const Tolerance& tolerance = {}, const std::string& prefix = {});

}  // namespace superstep
