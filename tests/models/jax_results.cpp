#include "tests/models/jax_results.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>

#include "base/files.h"
#include "compiler/compile.h"
#include "compiler/ops/elements.h"

namespace superstep {

ProgramImage compile_file(const std::filesystem::path& module, const MachineConfig& machine) {
  return compile(import_stablehlo(read_text_file(module), module.filename()), machine);
}

RunResult run_on(const ProgramImage& image, const TensorFile& file, const RunOptions& options,
                 const std::string& prefix) {
  std::vector<HostTensor> arguments;
  for (std::size_t a = 0; a < image.arguments.size(); ++a) {
    arguments.push_back(file.at(fmt::format("{}arg{}", prefix, a)));
  }
  RunOptions checked = options;
  checked.check_repeats = 8;
  RunResult run = run_image(image, arguments, checked);
  EXPECT_FALSE(run.trap) << run.trap->text();
  return run;
}

Tolerance within(double relative, double absolute) {
  return [=](DType, double magnitude) { return absolute + relative * magnitude; };
}

void expect_close(const HostTensor& found, const HostTensor& expected, const Tolerance& tolerance) {
  ASSERT_EQ(found.type.text(), expected.type.text());
  const DType dtype = expected.type.dtype;
  const bool is_exact = !tolerance || !(is_float(dtype) || is_complex(dtype));
  for (std::size_t i = 0; i < static_cast<std::size_t>(expected.type.elements()); ++i) {
    if (is_exact) {
      ASSERT_EQ(read_bits(found, i), read_bits(expected, i)) << "element " << i;
      continue;
    }
    const std::complex<double> value = read_number(found, i), want = read_number(expected, i);
    if (value == want || (std::isnan(value.real()) && std::isnan(want.real()))) continue;
    const double magnitude = std::abs(want);
    ASSERT_TRUE(std::isfinite(magnitude) && std::abs(value - want) <= tolerance(dtype, magnitude))
        << "element " << i << " is " << value << ", expected " << want;
  }
}

void expect_results(const RunResult& run, const TensorFile& expected, const Tolerance& tolerance,
                    const std::string& prefix) {
  const auto name = [&](std::size_t r) { return fmt::format("{}result{}", prefix, r); };
  for (std::size_t r = 0; r < run.results.size(); ++r) {
    SCOPED_TRACE(name(r));
    expect_close(run.results[r], expected.at(name(r)), tolerance);
  }
  EXPECT_FALSE(expected.contains(name(run.results.size()))) << "the program has fewer results";
}

}  // namespace superstep
