#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/hdf5.h"
#include "isa/program_image.h"

namespace superstep {

/// How far results may be from the expected ones: |found - expected| <= atol + rtol * |expected|.
struct Tolerance {
  double rtol = 0, atol = 0;
};

/// What one dtype is allowed where the user says nothing: booleans and integers nothing, f32 1e-4
/// and 1e-6, f16 two units in the last place, 2^-9, and one of those at 1, 2^-10. Assumed: enough
/// for sums in another order, too little for a wrong element.
[[nodiscard]] Tolerance default_tolerance(DType dtype);

/// What the command line says of tolerances; each holds for every dtype.
struct ToleranceOptions {
  std::optional<double> rtol, atol;
};

/// One expected tensor beside the result of its name.
struct TensorComparison {
  std::string name;
  Tolerance tolerance;
  std::uint64_t elements = 0, differing = 0;
  std::string difference;  ///< what is wrong, in words; empty when they agree
};

/// Compares `result0 …` with the tensors of those names in a file of expected ones. Those of the
/// file that are no results of the program differ.
[[nodiscard]] std::vector<TensorComparison> compare_results(const std::vector<HostTensor>& results,
                                                            const TensorFile& expected,
                                                            const ToleranceOptions& options);

/// Of expected results of so many calls, those of the last ones, which a run from a checkpoint
/// made.
[[nodiscard]] TensorFile of_last_calls(TensorFile expected, const std::vector<HostTensor>& results,
                                       std::uint32_t calls);

/// The verdict for a document: whether they agree, how many of how many, each tensor.
[[nodiscard]] nlohmann::ordered_json expect_fields(const std::vector<TensorComparison>& comparisons,
                                                   std::size_t results, bool agrees);

/// The tolerances that were used, in words.
[[nodiscard]] std::string tolerances_text(const std::vector<TensorComparison>& comparisons);

/// A line for each result, with its elements where they are few.
[[nodiscard]] std::string results_text(const std::vector<HostTensor>& results);

/// The scalars that each call gave beside the expected ones: the loss curve.
[[nodiscard]] std::string curves_text(const ProgramImage& image,
                                      const std::vector<HostTensor>& results,
                                      const TensorFile& expected);

}  // namespace superstep
