#include "tools/files.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <optional>
#include <random>
#include <sstream>

#include "base/error.h"
#include "base/float16.h"

namespace superstep {
namespace {

void set_from_double(HostTensor& tensor, std::size_t i, double value) {
  switch (tensor.type.dtype) {
    case DType::kI1:
      return tensor.set<std::uint8_t>(i, value > 0 ? 1 : 0);
    case DType::kI8:
    case DType::kU8:
      return tensor.set<std::uint8_t>(i, static_cast<std::uint8_t>(std::abs(value) * 100));
    case DType::kI16:
    case DType::kU16:
      return tensor.set<std::uint16_t>(i, static_cast<std::uint16_t>(std::abs(value) * 1000));
    case DType::kI32:
    case DType::kU32:
      return tensor.set<std::uint32_t>(i, static_cast<std::uint32_t>(std::abs(value) * 1000));
    case DType::kF16:
      return tensor.set<std::uint16_t>(i, half_bits(static_cast<float>(value)));
    case DType::kF32:
      return tensor.set<float>(i, static_cast<float>(value));
  }
}

}  // namespace

HostTensor random_tensor(const TensorType& type, std::mt19937& random) {
  HostTensor tensor(type);
  const auto n = static_cast<std::size_t>(type.elements());
  for (std::size_t i = 0; i < n; ++i)
    set_from_double(tensor, i, static_cast<double>(random()) / 2147483648.0 - 1.0);
  return tensor;
}

std::optional<std::uint32_t> random_seed(const std::string& input) {
  if (!input.starts_with("random:")) return {};
  std::uint32_t seed = 0;
  const char* end = input.data() + input.size();
  const auto [rest, error] = std::from_chars(input.data() + 7, end, seed);
  if (error != std::errc{} || rest != end)
    throw MalformedInput(fmt::format("'{}': the seed is a whole number, as in random:7", input));
  return seed;
}

std::string read_text_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in || std::filesystem::is_directory(path))
    throw MalformedInput(fmt::format("{}: no such file, or it cannot be read", path.string()));
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void write_text_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  if (!out.flush()) throw MalformedInput(fmt::format("{}: cannot be written", path.string()));
}

std::vector<HostTensor> load_arguments(const std::vector<TensorType>& expected,
                                       const std::vector<std::string>& inputs,
                                       const TensorFile& parameters) {
  TensorFile found;
  std::optional<std::uint32_t> seed;
  for (const std::string& input : inputs) {
    if (const auto given = random_seed(input)) {
      seed = given;
      continue;
    }
    for (auto& [name, tensor] : read_tensors(input)) found[name] = std::move(tensor);
  }
  std::vector<Problem> problems;
  std::vector<HostTensor> arguments;
  std::mt19937 random(seed.value_or(0));
  for (std::size_t k = 0; k < expected.size(); ++k) {
    const std::string name = fmt::format("arg{}", k);
    if (auto it = found.find(name); it != found.end()) {
      arguments.push_back(std::move(it->second));
      found.erase(it);
    } else if (const auto result = parameters.find(fmt::format("result{}", k));
               result != parameters.end()) {
      arguments.push_back(result->second);
    } else if (seed) {
      arguments.push_back(random_tensor(expected[k], random));
    } else {
      problems.push_back(
          {{},
           fmt::format("no dataset '{}'; the program expects {} there", name, expected[k].text())});
    }
  }
  for (const auto& [name, tensor] : found)
    problems.push_back(
        {{},
         fmt::format("dataset '{}' ({}) is no argument; the program takes arg0 to arg{}", name,
                     tensor.type.text(), expected.empty() ? 0 : expected.size() - 1)});
  if (!problems.empty()) {
    if (inputs.empty())
      problems.push_back({{}, "give a file with --input FILE.h5, or --input random:1"});
    throw MalformedInput(std::move(problems));
  }
  return arguments;
}

double element_as_double(const HostTensor& t, std::size_t i) {
  switch (t.type.dtype) {
    case DType::kI1:
    case DType::kU8:
      return t.get<std::uint8_t>(i);
    case DType::kI8:
      return t.get<std::int8_t>(i);
    case DType::kI16:
      return t.get<std::int16_t>(i);
    case DType::kU16:
      return t.get<std::uint16_t>(i);
    case DType::kI32:
      return t.get<std::int32_t>(i);
    case DType::kU32:
      return t.get<std::uint32_t>(i);
    case DType::kF16:
      return static_cast<double>(float_of_half(t.get<std::uint16_t>(i)));
    case DType::kF32:
      return static_cast<double>(t.get<float>(i));
  }
  return 0;
}

std::vector<std::string> compare_results(const std::vector<HostTensor>& results,
                                         const TensorFile& expected, double rtol, double atol) {
  std::vector<std::string> lines;
  for (const auto& [name, want] : expected) {
    std::size_t k = results.size();
    for (std::size_t i = 0; i < results.size(); ++i)
      if (name == fmt::format("result{}", i)) k = i;
    if (k == results.size()) {
      lines.push_back(fmt::format("{}: the program has no such result", name));
      continue;
    }
    const HostTensor& got = results[k];
    if (!(got.type == want.type)) {
      lines.push_back(
          fmt::format("{}: found {}, expected {}", name, got.type.text(), want.type.text()));
      continue;
    }
    std::size_t wrong = 0, worst = 0;
    double worst_excess = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(got.type.elements()); ++i) {
      const double a = element_as_double(got, i), b = element_as_double(want, i);
      if (a == b || (std::isnan(a) && std::isnan(b))) continue;
      const double excess = std::abs(a - b) - (atol + rtol * std::abs(b));
      if (excess <= 0) continue;
      if (wrong++ == 0 || excess > worst_excess || std::isnan(excess)) {
        worst = i;
        worst_excess = excess;
      }
    }
    if (wrong != 0)
      lines.push_back(fmt::format(
          "{}: {} of {} elements differ; the worst is element {}: found {}, expected {}", name,
          wrong, got.type.elements(), worst, element_as_double(got, worst),
          element_as_double(want, worst)));
  }
  return lines;
}

}  // namespace superstep
