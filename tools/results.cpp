#include "tools/results.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/ops/elements.h"
#include "tools/tensors.h"

namespace superstep {
namespace {

/// At most this many calls of a curve are shown.
constexpr std::size_t kCurveRows = 9;
/// Results of more elements are shown by type only.
constexpr std::size_t kMostShown = 16;

std::string result_name(std::size_t k) { return fmt::format("result{}", k); }

/// One curve: some calls, and the worst of all.
std::string curve_text(const std::string& name, const HostTensor& found,
                       const HostTensor& expected) {
  const auto n = static_cast<std::size_t>(found.type.elements());
  const auto relative = [&](std::size_t i) {
    const double a = element_as_double(found, i), b = element_as_double(expected, i);
    return a == b ? 0.0 : std::abs(a - b) / std::abs(b);
  };
  std::string out = fmt::format("{:<10}{:>8}{:>16}{:>16}{:>16}\n", name, "call", "found",
                                "expected", "relative error");
  const std::size_t rows = std::min(n, kCurveRows);
  for (std::size_t row = 0; row < rows; ++row) {
    const std::size_t i = row * (n - 1) / (rows - 1);
    out += fmt::format("{:<10}{:>8}{:>16.7g}{:>16.7g}{:>16.1e}\n", "", i,
                       element_as_double(found, i), element_as_double(expected, i), relative(i));
  }
  std::size_t worst = 0;
  for (std::size_t i = 1; i < n; ++i)
    if (relative(i) > relative(worst)) worst = i;
  return out + fmt::format("{:<10}largest relative error of all {} calls: {:.1e}, call {}\n", "", n,
                           relative(worst), worst);
}

/// A tensor of real numbers: the parts of complex ones.
HostTensor real_numbers(const HostTensor& tensor) {
  HostTensor numbers = tensor;
  if (!is_complex(tensor.type.dtype)) return numbers;
  numbers.type.dtype = real_of(tensor.type.dtype);
  numbers.type.shape.push_back(2);
  return numbers;
}

/// What differs between two tensors of one type.
void compare(const HostTensor& found, const HostTensor& expected, TensorComparison& out) {
  std::size_t worst = 0;
  double worst_excess = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(found.type.elements()); ++i) {
    const double a = element_as_double(found, i), b = element_as_double(expected, i);
    if (read_bits(found, i) == read_bits(expected, i)) continue;
    if (is_float(found.type.dtype) && (a == b || (std::isnan(a) && std::isnan(b)))) continue;
    const double excess = std::abs(a - b) - (out.tolerance.atol + out.tolerance.rtol * std::abs(b));
    if (excess <= 0 && (out.tolerance.rtol > 0 || out.tolerance.atol > 0)) continue;
    if (out.differing++ == 0 || excess > worst_excess || std::isnan(excess)) {
      worst = i;
      worst_excess = excess;
    }
  }
  if (out.differing == 0) return;
  out.difference = fmt::format(
      "{} of {} elements differ; the worst is element {}: found {}, expected {}, "
      "allowed {:g} relative + {:g} absolute",
      out.differing, out.elements, worst, element_as_double(found, worst),
      element_as_double(expected, worst), out.tolerance.rtol, out.tolerance.atol);
}

}  // namespace

TensorFile of_last_calls(TensorFile expected, const std::vector<HostTensor>& results,
                         std::uint32_t calls) {
  for (std::size_t k = 0; k < results.size(); ++k) {
    const auto found = expected.find(result_name(k));
    if (found == expected.end()) continue;
    HostTensor& all = found->second;
    TensorType last = all.type;
    if (last.shape.empty() || last.shape[0] != calls || results[k].type.shape.empty()) continue;
    last.shape[0] = results[k].type.shape[0];
    if (last != results[k].type || last.shape[0] > calls) continue;
    all.data.erase(all.data.begin(), all.data.end() - static_cast<std::ptrdiff_t>(last.bytes()));
    all.type = last;
  }
  return expected;
}

Tolerance default_tolerance(DType dtype) {
  switch (dtype) {
    case DType::kF32:
    case DType::kC64:
      return {1e-4, 1e-6};
    case DType::kF64:
    case DType::kC128:
      return {1e-12, 1e-14};
    case DType::kF16:
      return {1.0 / 512, 1.0 / 1024};
    case DType::kBF16:
      return {1.0 / 64, 1.0 / 128};
    case DType::kF4E2M1FN:
      return {1.0 / 4, 1.0 / 2};
    case DType::kF6E2M3FN:
      return {1.0 / 16, 1.0 / 8};
    case DType::kF6E3M2FN:
      return {1.0 / 8, 1.0 / 16};
    case DType::kF8E3M4:
      return {1.0 / 32, 1.0 / 64};
    case DType::kF8E4M3:
    case DType::kF8E4M3B11FNUZ:
    case DType::kF8E4M3FN:
    case DType::kF8E4M3FNUZ:
      return {1.0 / 16, 1.0 / 64};
    case DType::kF8E5M2:
    case DType::kF8E5M2FNUZ:
      return {1.0 / 8, 1.0 / 64};
    case DType::kF8E8M0FNU:
      return {1.0 / 2, 0};
    case DType::kI1:
    case DType::kI2:
    case DType::kI4:
    case DType::kU2:
    case DType::kU4:
    case DType::kI8:
    case DType::kI16:
    case DType::kI32:
    case DType::kI64:
    case DType::kU8:
    case DType::kU16:
    case DType::kU32:
    case DType::kU64:
      return {};
  }
  return {};
}

std::vector<TensorComparison> compare_results(const std::vector<HostTensor>& results,
                                              const TensorFile& expected,
                                              const ToleranceOptions& options) {
  std::vector<TensorComparison> comparisons;
  for (const auto& [name, want] : expected) {
    const Tolerance usual = default_tolerance(want.type.dtype);
    TensorComparison comparison{
        name, {options.rtol.value_or(usual.rtol), options.atol.value_or(usual.atol)}, 0, 0, {}};
    comparison.elements = static_cast<std::uint64_t>(want.type.elements());
    std::size_t k = 0;
    while (k < results.size() && name != result_name(k)) ++k;
    if (k == results.size()) {
      comparison.difference = "the program has no such result";
    } else if (!(results[k].type == want.type)) {
      comparison.difference =
          fmt::format("found {}, expected {}", results[k].type.text(), want.type.text());
      const Shape& shape = want.type.shape;
      const bool has_calls =
          !shape.empty() && Shape(shape.begin() + 1, shape.end()) == results[k].type.shape;
      if (has_calls) comparison.difference += fmt::format("; give --repeat {}?", shape[0]);
    } else {
      compare(real_numbers(results[k]), real_numbers(want), comparison);
    }
    comparisons.push_back(std::move(comparison));
  }
  return comparisons;
}

nlohmann::ordered_json expect_fields(const std::vector<TensorComparison>& comparisons,
                                     std::size_t results, bool agrees) {
  nlohmann::ordered_json fields = {
      {"agrees", agrees}, {"compared", comparisons.size()}, {"results", results}};
  fields["tensors"] = nlohmann::ordered_json::array();
  for (const TensorComparison& comparison : comparisons) {
    fields["tensors"].push_back({{"name", comparison.name},
                                 {"agrees", comparison.difference.empty()},
                                 {"elements", comparison.elements},
                                 {"differing", comparison.differing},
                                 {"rtol", comparison.tolerance.rtol},
                                 {"atol", comparison.tolerance.atol},
                                 {"difference", comparison.difference}});
  }
  return fields;
}

std::string tolerances_text(const std::vector<TensorComparison>& comparisons) {
  std::vector<std::string> used;
  for (const TensorComparison& comparison : comparisons) {
    const auto [rtol, atol] = comparison.tolerance;
    std::string text = rtol == 0 && atol == 0
                           ? std::string("exactly")
                           : fmt::format("within {:g} relative + {:g} absolute", rtol, atol);
    if (std::ranges::find(used, text) == used.end()) used.push_back(std::move(text));
  }
  return fmt::format("{}", fmt::join(used, " or "));
}

std::string results_text(const std::vector<HostTensor>& results) {
  std::string out;
  for (std::size_t k = 0; k < results.size(); ++k) {
    const auto n = static_cast<std::size_t>(results[k].type.elements());
    out += fmt::format("{}  {}", result_name(k), results[k].type.text());
    if (n <= kMostShown) {
      out += "  [";
      for (std::size_t i = 0; i < n; ++i)
        out += (i == 0 ? "" : ", ") + element_text(results[k], i, 7);
      out += "]";
    }
    out += "\n";
  }
  return out;
}

std::string curves_text(const ProgramImage& image, const std::vector<HostTensor>& results,
                        const TensorFile& expected) {
  std::string out;
  for (std::size_t k = 0; k < results.size(); ++k) {
    const auto want = expected.find(result_name(k));
    const HostTensor& got = results[k];
    const bool is_curve = want != expected.end() && got.type == want->second.type &&
                          is_float(got.type.dtype) && image.results[k].shape.empty() &&
                          got.type.shape.size() == 1 && got.type.elements() > 1;
    if (is_curve) out += curve_text(want->first, got, want->second);
  }
  return out;
}

}  // namespace superstep
