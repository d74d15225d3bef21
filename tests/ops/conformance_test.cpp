// Runs StableHLO's own test data through the reference, the lowerings and a machine. The folder
// holds `interpret`, `math` and `testdata` of openxla/stablehlo (stablehlo/tests and
// stablehlo/testdata). `superstep conformance` says which modules run on tiles as they are written.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>
#include <regex>
#include <string>
#include <vector>

#include "base/files.h"
#include "compiler/compile.h"
#include "compiler/import/checked_module.h"
#include "compiler/ops/check_rule.h"
#include "compiler/ops/elements.h"
#include "compiler/ops/scalar_region.h"
#include "tests/ops/on_machine.h"
#include "tests/ops/op_case.h"

namespace superstep {
namespace {

/// 64-bit element types as 32-bit ones: most of `interpret` holds small numbers in wide types, and
/// tiles have more functions of narrow ones.
std::string narrowed(const std::string& text) {
  static const std::regex kInteger("(<|x)(u?)i64>");
  static const std::regex kFloat("(<|x)f64>");
  return std::regex_replace(std::regex_replace(text, kInteger, "$1$2i32>"), kFloat, "$1f32>");
}

/// Every value of a graph; lowerings run on the host where that is possible, if `lowers`.
std::vector<HostTensor> all_values(const Graph& graph, const std::vector<HostTensor>& arguments,
                                   bool lowers) {
  std::vector<HostTensor> values(graph.values().size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    values[index(graph.arguments()[i])] = arguments[i];
  }
  for (const Op& op : graph.ops()) {
    std::vector<HostTensor> operands;
    for (const ValueId operand : op.operands) operands.push_back(values[index(operand)]);
    std::vector<HostTensor> results;
    if (lowers) results = run_lowering(op, graph, operands);
    if (results.empty()) results = op.definition->evaluate(op, operands);
    for (std::size_t i = 0; i < results.size(); ++i) values[index(op.results[i])] = results[i];
  }
  return values;
}

/// How many numbers or products an element of the result of a sum, a dot or a convolution adds.
double terms_of(const Op& op, const std::vector<HostTensor>& operands) {
  const auto list = [&](const char* name) {
    return std::get<std::vector<std::int64_t>>(op.attributes.at(name));
  };
  double terms = 1;
  if (op.definition->name == "stablehlo.reduce_window") {
    for (const std::int64_t places : list("window_dimensions")) {
      terms *= static_cast<double>(places);
    }
  } else if (op.definition->name == "stablehlo.convolution") {
    // Those of output features are no part of a sum.
    const auto& text = std::get<std::string>(op.attributes.at("dimension_numbers"));
    const std::size_t output = text.find('o', text.find('x'));
    const auto d = std::count(text.begin() + static_cast<std::ptrdiff_t>(text.find('x')),
                              text.begin() + static_cast<std::ptrdiff_t>(output), ',');
    terms = static_cast<double>(operands[1].type.elements()) /
            static_cast<double>(operands[1].type.shape[static_cast<std::size_t>(d)]);
  } else {
    for (const std::int64_t d : list("lhs_contracting_dimensions")) {
      terms *= static_cast<double>(operands[0].type.shape[static_cast<std::size_t>(d)]);
    }
  }
  return terms;
}

/// By element of the result of a sum, how far two ways of adding up may differ: 2 K u sum |a||b|
/// for K products.
std::vector<double> sum_bounds(const Op& op, const std::vector<HostTensor>& values) {
  std::vector<HostTensor> magnitudes;
  for (const ValueId operand : op.operands) {
    HostTensor magnitude = values[index(operand)];
    for (std::size_t i = 0; i < static_cast<std::size_t>(magnitude.type.elements()); ++i) {
      if (is_complex(magnitude.type.dtype)) {
        write_complex(magnitude, i, std::abs(read_complex(magnitude, i)));
      } else {
        write_float(magnitude, i, std::fabs(read_float(magnitude, i)));
      }
    }
    magnitudes.push_back(std::move(magnitude));
  }
  const HostTensor sums = op.definition->evaluate(op, magnitudes)[0];
  const double products = terms_of(op, magnitudes);
  const DType dtype = sums.type.dtype;
  const int bits = dtype == DType::kBF16  ? 8
                   : dtype == DType::kF16 ? 11
                   : dtype == DType::kF64 ? 53
                                          : 24;
  const double unit = std::ldexp(1.0, -bits);
  std::vector<double> bounds;
  for (std::size_t i = 0; i < static_cast<std::size_t>(sums.type.elements()); ++i) {
    if (is_complex(sums.type.dtype)) {
      // A part is of twice as many products.
      const double bound = 4 * products * unit * read_complex(sums, i).real();
      bounds.insert(bounds.end(), 2, bound);
    } else {
      bounds.push_back(2 * products * unit * read_float(sums, i));
    }
  }
  return bounds;
}

/// How far an element of a Fourier transform of n numbers may be from another way to add up: 3 u
/// for each halving of n, of the root of the mean square (Higham, Accuracy and stability of
/// numerical algorithms, 24.1, with room for factors that are not 2).
double fourier_bound(const Op& op, const HostTensor& expected) {
  double squares = 0, terms = 1;
  const auto elements = static_cast<std::size_t>(expected.type.elements());
  for (std::size_t i = 0; i < elements; ++i) squares += std::pow(read_float(expected, i), 2);
  for (const std::int64_t n : std::get<std::vector<std::int64_t>>(op.attributes.at("fft_length"))) {
    terms *= static_cast<double>(n);
  }
  const double mean = std::sqrt(squares / static_cast<double>(std::max<std::size_t>(elements, 1)));
  return 3 * std::log2(2 * terms) * std::ldexp(mean, -24);
}

::testing::AssertionResult within(const HostTensor& found, const HostTensor& expected,
                                  const std::function<double(std::size_t)>& bound) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(found.type.elements()); ++i) {
    const double a = read_float(found, i);
    const double b = read_float(expected, i);
    const bool same = a == b || (std::isnan(a) && std::isnan(b));
    if (!same && !(std::fabs(a - b) <= bound(i))) {
      return ::testing::AssertionFailure() << "element " << i << " is " << a << ", expected " << b;
    }
  }
  return ::testing::AssertionSuccess();
}

/// A tensor of real numbers: the parts of complex ones.
HostTensor real_numbers(HostTensor tensor) {
  if (!is_complex(tensor.type.dtype)) return tensor;
  tensor.type.dtype = real_of(tensor.type.dtype);
  tensor.type.shape.push_back(2);
  return tensor;
}

/// Whether a result of the graph is what the next one says it should be. `narrows`: of a module
/// with 32-bit types, whose tolerances were chosen for 64-bit ones.
::testing::AssertionResult holds(const Check& check, const Graph& graph, std::size_t result,
                                 const std::vector<HostTensor>& values, bool narrows) {
  const ValueId id = graph.results()[result];
  const HostTensor& found = values[index(id)];
  const HostTensor& expected = values[index(graph.results()[result + 1])];
  const std::optional<std::string> problem = violation(check, found, expected);
  if (!problem) return ::testing::AssertionSuccess();
  const Op* producer = graph.producer_of(id);
  const std::string_view name =
      producer != nullptr ? producer->definition->name : std::string_view();
  const bool adds = name == "stablehlo.dot_general" || name == "stablehlo.convolution" ||
                    (name == "stablehlo.reduce_window" && sums_floats(producer->regions[0]));
  if (adds && check.kind == Check::Kind::kClose) {
    const std::vector<double> bounds = sum_bounds(*producer, values);
    return within(real_numbers(found), real_numbers(expected),
                  [&](std::size_t i) { return bounds[i]; });
  }
  if (name == "stablehlo.fft") {
    const double bound = fourier_bound(*producer, expected);
    return within(real_numbers(found), real_numbers(expected), [&](std::size_t) { return bound; });
  }
  if (narrows && check.kind == Check::Kind::kAlmostEqual) {
    return within(found, expected, [&](std::size_t i) {
      return check.tolerance * std::max(1.0, std::fabs(read_float(expected, i)));
    });
  }
  return ::testing::AssertionFailure() << *problem;
}

std::vector<std::filesystem::path> modules_below(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> out;
  if (!std::filesystem::exists(folder)) return out;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".mlir") out.push_back(entry.path());
  }
  std::ranges::sort(out);
  return out;
}

/// Functions whose expected values hold for 64 bits only; the tangent's arguments are next to its
/// poles, where they have other tangents as f32.
constexpr const char* kWideOnly[] = {"@count_leading_zeros_op_test_si64", "@remainder_op_test_f64",
                                     "@tan_op_test_f64"};

/// The results on tiny4, or on small64 where tiny4 has too little memory.
std::vector<HostTensor> run_where_it_fits(const Graph& graph, const std::vector<HostTensor>& data) {
  try {
    return run_on("tiny4", graph, data);
  } catch (const DoesNotFit&) {
    return run_on("small64", graph, data);
  }
}

class Conformance : public ::testing::TestWithParam<const char*> {
 protected:
  /// Runs one module if it can be read. `narrows`: not as it is written, with 32-bit types.
  void run(const std::string& section, const std::filesystem::path& path, bool narrows) {
    CheckedModule checked;
    try {
      checked = import_checked(section, path.filename().string());
    } catch (const Unsupported&) {
      ++unsupported_;
      return;
    } catch (const MalformedInput& error) {
      // A number that was written for 64 bits.
      EXPECT_TRUE(narrows) << error.what();
      return;
    }
    if (!checked.infeeds.empty()) {
      // The reference has no host: `superstep conformance` runs these.
      ++unsupported_;
      return;
    }
    const Graph& graph = checked.module.main;
    const auto check = [&](const char* who, const std::vector<HostTensor>& values) {
      for (std::size_t i = 0; i < checked.checks.size(); ++i) {
        EXPECT_TRUE(holds(checked.checks[i], graph, 2 * i, values, narrows))
            << who << ", " << path << ":" << checked.checks[i].line;
      }
    };
    std::vector<HostTensor> values = all_values(graph, checked.data, false);
    check("reference", values);
    try {
      check("lowering", all_values(graph, checked.data, true));
      const std::vector<HostTensor> results = run_where_it_fits(graph, checked.data);
      for (std::size_t i = 0; i < results.size(); ++i) {
        values[index(graph.results()[i])] = results[i];
      }
      check("machine", values);
      ++run_;
    } catch (const Unsupported&) {
      // A function of wide types that tiles do not have.
      ++host_only_;
    } catch (const DoesNotFit&) {
      ++host_only_;
    }
  }

  std::size_t run_ = 0, host_only_ = 0, unsupported_ = 0;
};

TEST_P(Conformance, HoldsForEveryModuleOfSupportedOps) {
  const char* root = std::getenv("STABLEHLO_TESTDATA");
  if (root == nullptr) {
    GTEST_SKIP() << "STABLEHLO_TESTDATA does not name a folder with StableHLO's *.mlir test data";
  }
  const bool narrows = std::string(GetParam()) == "interpret";
  const auto is_in = [](const std::string& section) {
    return [&section](const char* name) { return section.find(name) != std::string::npos; };
  };
  for (const std::filesystem::path& path :
       modules_below(std::filesystem::path(root) / GetParam())) {
    for (const std::string& section : split_modules(read_text_file(path))) {
      if (section.find("RUN-DISABLED") != std::string::npos) continue;
      run(section, path, false);
      const std::string narrow = narrows ? narrowed(section) : section;
      if (narrow == section || std::ranges::any_of(kWideOnly, is_in(section))) continue;
      run(narrow, path, true);
    }
  }
  std::printf(
      "%s: %zu modules hold, %zu of them on the host only, %zu need what is not supported\n",
      GetParam(), run_ + host_only_, host_only_, unsupported_);
  EXPECT_GT(run_, 0U);
}

INSTANTIATE_TEST_SUITE_P(StableHlo, Conformance, ::testing::Values("interpret", "math", "testdata"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace superstep
