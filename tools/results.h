#pragma once

#include <string>
#include <vector>

#include "base/hdf5.h"
#include "isa/program_image.h"

namespace superstep {

/// `result0 …` by name, as files have them.
[[nodiscard]] TensorFile results_by_name(const std::vector<HostTensor>& results);

/// Compares `result0 …` with a file of expected ones; empty when all agree within
/// |found - expected| <= atol + rtol * |expected|, else a line for each tensor that differs.
[[nodiscard]] std::vector<std::string> compare_results(const std::vector<HostTensor>& results,
                                                       const TensorFile& expected, double rtol,
                                                       double atol);

/// A line for each result, with its elements where they are few.
[[nodiscard]] std::string results_text(const std::vector<HostTensor>& results);

/// The scalars that each call gave beside the expected ones: the loss curve.
[[nodiscard]] std::string curves_text(const ProgramImage& image,
                                      const std::vector<HostTensor>& results,
                                      const TensorFile& expected);

}  // namespace superstep
