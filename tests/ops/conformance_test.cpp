// Runs StableHLO's own test data: each check becomes two results of @main, compared here.
// The folder holds `interpret`, `math` and `testdata` of openxla/stablehlo (stablehlo/tests and
// stablehlo/testdata).

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <regex>
#include <sstream>

#include "compiler/compile.h"
#include "compiler/ops/elements.h"
#include "compiler/ops/scalar_region.h"
#include "tests/ops/on_machine.h"
#include "tests/ops/op_case.h"
#include "compiler/import/checked_module.h"

namespace superstep {
namespace {

struct Check {
  std::string kind, found, expected, found_type, expected_type;
  std::uint64_t ulp = 0;
  double difference = 0;
};

/// A module whose @main returns what its checks compared.
struct Checked {
  std::string text;
  std::vector<Check> checks;
};

std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// 64-bit element types as 32-bit ones: most of `interpret` holds small numbers in wide types, and
/// tiles have more functions of narrow ones.
std::string narrowed(const std::string& text) {
  static const std::regex kInteger("(<|x)(u?)i64>");
  static const std::regex kFloat("(<|x)f64>");
  return std::regex_replace(std::regex_replace(text, kInteger, "$1$2i32>"), kFloat, "$1f32>");
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

std::string joined(const std::vector<Check>& checks, bool types) {
  std::string out;
  for (const Check& check : checks) {
    if (!out.empty()) out += ", ";
    out +=
        types ? check.found_type + ", " + check.expected_type : check.found + ", " + check.expected;
  }
  return out;
}

/// Where the statement at `at` ends: with the line that holds its type.
std::size_t end_of_statement(const std::string& text, std::size_t at) {
  return std::min(text.find('\n', text.find(" : ", at)), text.size());
}

Check parse_check(const std::string& statement, std::size_t number, std::string& replacement) {
  static const std::regex kCall(
      R"(@check\.(\w+)\((%[\w#]+), (%[\w#]+)\)[^:]*: \((tensor<[^)]*>), (tensor<[^)]*>)\))");
  static const std::regex kConstant(
      R"(check\.(\w+)_const (%[\w#]+), (dense<[\s\S]*>) : (tensor<[^{ ]*>))");
  static const std::regex kPair(R"(check\.(\w+) (%[\w#]+), (%[\w#]+)[^:]* : (tensor<[^{ ,]*>))");
  static const std::regex kUlp(R"(max_ulp_difference = (\d+))");
  static const std::regex kTolerance(R"(tolerance = ([\d.e-]+))");
  std::smatch match;
  Check check;
  if (std::regex_search(statement, match, kCall)) {
    check = {match[1], match[2], match[3], match[4], match[5]};
    check.ulp = 3;
    check.difference = 1e-3;
  } else if (std::regex_search(statement, match, kConstant)) {
    const std::string name = "%check_" + std::to_string(number);
    replacement = name + " = stablehlo.constant " + match[3].str() + " : " + match[4].str();
    check = {match[1], match[2], name, match[4], match[4]};
    check.ulp = 1;
    check.difference = 1e-4;
  } else if (std::regex_search(statement, match, kPair)) {
    check = {match[1], match[2], match[3], match[4], match[4]};
    check.ulp = 1;
    check.difference = 1e-4;
  }
  if (std::regex_search(statement, match, kUlp)) check.ulp = std::stoull(match[1]);
  if (std::regex_search(statement, match, kTolerance)) check.difference = std::stod(match[1]);
  return check;
}

/// Empty text when the section has no check of a form that is known here.
Checked rewritten(std::string text) {
  Checked out;
  for (std::size_t at = text.find("check."); at != std::string::npos;
       at = text.find("check.", at)) {
    const std::size_t begin = text.rfind('\n', at) + 1;
    const std::size_t end = end_of_statement(text, begin);
    std::string replacement;
    const Check check =
        parse_check(text.substr(begin, end - begin), out.checks.size(), replacement);
    if (check.kind.empty()) return {};
    out.checks.push_back(check);
    text.replace(begin, end - begin, replacement);
    at = begin;
  }
  if (out.checks.empty()) return {};
  // The function that held the checks is @main, or the only one.
  std::size_t main = text.find("@main(");
  if (main == std::string::npos) {
    main = text.find("func.func @");
    if (main == std::string::npos || text.find("func.func", main + 1) != std::string::npos)
      return {};
    main += 10;
    text.replace(main, text.find('(', main) - main, "@main");
  }
  const std::size_t head = text.find("()", main);
  const std::size_t body = text.find("{\n", main);
  if (head == std::string::npos || head > body) return {};
  std::size_t leave = text.find("return", body);
  while (text.rfind("stablehlo.return", leave) == leave - 10)
    leave = text.find("return", leave + 1);
  text.replace(leave, text.find('\n', leave) - leave,
               "return " + joined(out.checks, false) + " : " + joined(out.checks, true));
  text.replace(head + 2, body - head - 2, " -> (" + joined(out.checks, true) + ") ");
  replace_all(text, "func.return", "return");
  out.text = text;
  return out;
}

/// Every value of a graph without arguments; lowerings run on the host where that is possible, if
/// `lowers`.
std::vector<HostTensor> all_values(const Graph& graph, bool lowers) {
  std::vector<HostTensor> values(graph.values().size());
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

/// By element of a solution X of T X = B or X T = B, how far two ways of substitution may differ:
/// 2 n u M(T)^-1 |T| |X| = 2 n u (2 M(T)^-1 |D| |X| - |X|), where M(T) is T with the diagonal D
/// positive and all else negative (Higham, Accuracy and stability of numerical algorithms, 8.2).
std::vector<double> solve_bounds(const Op& op, const std::vector<HostTensor>& values) {
  HostTensor comparison = values[index(op.operands[0])], scaled = values[index(op.results[0])];
  const HostTensor found = scaled;
  const auto n = static_cast<std::size_t>(comparison.type.shape.back());
  const auto rows = static_cast<std::size_t>(*(scaled.type.shape.end() - 2));
  const auto columns = static_cast<std::size_t>(scaled.type.shape.back());
  const bool is_left = std::get<bool>(op.attributes.at("left_side"));
  for (std::size_t i = 0; i < static_cast<std::size_t>(comparison.type.elements()); ++i) {
    const double size = std::fabs(read_float(comparison, i));
    write_float(comparison, i, i / n % n == i % n ? size : -size);
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(scaled.type.elements()); ++i) {
    const std::size_t unknown = is_left ? i / columns % n : i % n;
    const std::size_t batch = i / (rows * columns);
    const double pivot = read_float(comparison, (batch * n + unknown) * n + unknown);
    write_float(scaled, i, std::fabs(read_float(scaled, i)) * pivot);
  }
  const HostTensor sums = op.definition->evaluate(op, std::vector{comparison, scaled})[0];
  std::vector<double> bounds;
  for (std::size_t i = 0; i < static_cast<std::size_t>(sums.type.elements()); ++i) {
    const double most = 2 * read_float(sums, i) - std::fabs(read_float(found, i));
    bounds.push_back(2 * static_cast<double>(n) * std::ldexp(most, -24));
  }
  return bounds;
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

/// `found` with the zeros of `expected`: both are no distance apart (getUlpDifference of
/// StableHLO).
HostTensor without_signs_of_zeros(HostTensor found, const HostTensor& expected) {
  if (found.type != expected.type) return found;
  for (std::size_t i = 0; i < static_cast<std::size_t>(found.type.elements()); ++i) {
    if (read_float(found, i) == 0 && read_float(expected, i) == 0) {
      write_bits(found, i, read_bits(expected, i));
    }
  }
  return found;
}

/// A tensor of real numbers: the parts of complex ones.
HostTensor real_numbers(HostTensor tensor) {
  if (!is_complex(tensor.type.dtype)) return tensor;
  tensor.type.dtype = DType::kF32;
  tensor.type.shape.push_back(2);
  return tensor;
}

/// Whether result `result` of the graph is what the next one says it should be.
::testing::AssertionResult holds(const Check& check, const Graph& graph, std::size_t result,
                                 const std::vector<HostTensor>& values) {
  const ValueId id = graph.results()[result];
  const HostTensor found = real_numbers(values[index(id)]);
  const HostTensor expected = real_numbers(values[index(graph.results()[result + 1])]);
  if (check.kind == "expect_eq" || !is_float(found.type.dtype)) return close(found, expected, 0);
  const Op* producer = graph.producer_of(id);
  const std::string_view name =
      producer != nullptr ? producer->definition->name : std::string_view();
  const bool solves = name == "stablehlo.triangular_solve" && check.kind == "expect_close";
  const bool adds = name == "stablehlo.dot_general" || name == "stablehlo.convolution" ||
                    (name == "stablehlo.reduce_window" && sums_floats(producer->regions[0]));
  if (adds || solves) {
    const std::vector<double> bounds =
        solves ? solve_bounds(*producer, values) : sum_bounds(*producer, values);
    return within(found, expected, [&](std::size_t i) { return bounds[i]; });
  }
  if (check.kind == "expect_close")
    return close(without_signs_of_zeros(found, expected), expected, check.ulp);
  return within(found, expected, [&](std::size_t i) {
    return check.difference * std::max(1.0, std::fabs(read_float(expected, i)));
  });
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
/// The modules that test the check itself.
constexpr const char* kExcepted[] = {"@ulp_difference_float32", "@ulp_difference_float64"};

class Conformance : public ::testing::TestWithParam<const char*> {
 protected:
  /// Runs one module if it can be read. `narrows`: as it is not written, with 32-bit types.
  void run(const std::string& section, const std::filesystem::path& path, bool narrows) {
    const Checked module = rewritten(section);
    if (module.text.empty()) {
      ++unreadable_;
      return;
    }
    Module imported;
    try {
      imported = import_stablehlo(module.text, path.filename().string());
    } catch (const Unsupported&) {
      ++unsupported_;
      return;
    } catch (const MalformedInput& error) {
      // A number that was written for 64 bits.
      EXPECT_TRUE(narrows) << error.what();
      ++unreadable_;
      return;
    }
    const Graph& graph = imported.main;
    const auto check = [&](const char* who, const std::vector<HostTensor>& values) {
      for (std::size_t i = 0; i < module.checks.size(); ++i) {
        EXPECT_TRUE(holds(module.checks[i], graph, 2 * i, values)) << who << ", " << path << "\n"
                                                                   << section.substr(0, 300);
      }
    };
    std::vector<HostTensor> values = all_values(graph, false);
    check("reference", values);
    try {
      check("lowering", all_values(graph, true));
      const std::vector<HostTensor> results = run_on("tiny4", graph, {});
      for (std::size_t i = 0; i < results.size(); ++i) {
        values[index(graph.results()[i])] = results[i];
      }
      check("tiny4", values);
      ++run_;
    } catch (const Unsupported&) {
      // A function of wide types that tiles do not have.
      ++host_only_;
    }
  }

  std::size_t run_ = 0, host_only_ = 0, unsupported_ = 0, unreadable_ = 0;
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
    for (const std::string& section : split_modules(read_text(path))) {
      if (std::ranges::any_of(kExcepted, is_in(section))) continue;
      run(section, path, false);
      const std::string narrow = narrows ? narrowed(section) : section;
      if (narrow == section || std::ranges::any_of(kWideOnly, is_in(section))) continue;
      run(narrow, path, true);
    }
  }
  std::printf(
      "%s: %zu modules hold, %zu of them on the host only, %zu need what is not supported, %zu are "
      "of another form\n",
      GetParam(), run_ + host_only_, host_only_, unsupported_, unreadable_);
  EXPECT_GT(run_, 0U);
}

INSTANTIATE_TEST_SUITE_P(StableHlo, Conformance, ::testing::Values("interpret", "math", "testdata"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace superstep
