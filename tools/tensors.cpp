#include "tools/tensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/error.h"
#include "compiler/ops/elements.h"
#include "tools/child_process.h"

namespace superstep {
namespace {

void set_from_double(HostTensor& tensor, std::size_t i, double value) {
  const DType dtype = tensor.type.dtype;
  if (dtype == DType::kF8E8M0FNU) value = std::abs(value);  // which has no sign
  if (is_float(dtype)) return write_float(tensor, i, static_cast<float>(value));
  if (dtype == DType::kI1) return write_int(tensor, i, value > 0 ? 1 : 0);
  const double most = is_narrow_integer(dtype) ? 1 << (bit_width(dtype) - 1)
                      : size_of(dtype) == 1    ? 100
                                               : 1000;
  write_int(tensor, i, static_cast<std::int64_t>(std::abs(value) * most));
}

/// Whether a dataset may be the argument of its name, given once or a slice for each call.
bool may_be_argument(const std::vector<TensorType>& expected, const std::string& name,
                     const TensorType& type) {
  for (std::size_t k = 0; k < expected.size(); ++k) {
    if (name != fmt::format("arg{}", k)) continue;
    const Shape& one = expected[k].shape;
    return type.dtype == expected[k].dtype && type.shape.size() - one.size() <= 1 &&
           std::equal(one.rbegin(), one.rend(), type.shape.rbegin());
  }
  return false;
}

/// ` (params.w1)`, as the program names an argument, or nothing.
std::string label_of_argument(const ProgramImage& program, std::size_t position) {
  for (const Stream& stream : program.streams) {
    const bool is_meant = stream.kind == Stream::Kind::kArgument && stream.position == position;
    if (is_meant && !stream.label.empty()) return fmt::format(" ({})", stream.label);
  }
  return {};
}

}  // namespace

double element_as_double(const HostTensor& tensor, std::size_t i) {
  if (is_float(tensor.type.dtype)) return read_float(tensor, i);
  const std::int64_t value = read_int(tensor, i);
  return is_signed(tensor.type.dtype) ? static_cast<double>(value)
                                      : static_cast<double>(static_cast<std::uint64_t>(value));
}

std::string element_text(const HostTensor& tensor, std::size_t i, int digits) {
  const DType dtype = tensor.type.dtype;
  if (is_float(dtype)) return fmt::format("{:.{}g}", read_float(tensor, i), digits);
  if (is_complex(dtype)) {
    const std::complex<double> value = read_complex(tensor, i);
    return fmt::format("({:.{}g}, {:.{}g})", value.real(), digits, value.imag(), digits);
  }
  if (!is_signed(dtype)) {
    return fmt::format("{}", static_cast<std::uint64_t>(read_int(tensor, i)));
  }
  return fmt::format("{}", read_int(tensor, i));
}

HostTensor random_tensor(const TensorType& type, std::mt19937& random) {
  if (is_complex(type.dtype)) {
    TensorType parts{real_of(type.dtype), type.shape};
    parts.shape.push_back(2);
    HostTensor tensor = random_tensor(parts, random);
    tensor.type = type;
    return tensor;
  }
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
    throw UserError(ExitCode::kUsage,
                    fmt::format("'{}': the seed is a whole number, as in random:7", input));
  return seed;
}

std::vector<HostTensor> load_arguments(const ProgramImage& program,
                                       const std::vector<std::string>& inputs,
                                       const TensorFile& parameters) {
  const std::vector<TensorType>& expected = program.arguments;
  TensorFile found;
  std::optional<std::uint32_t> seed;
  for (const std::string& input : inputs) {
    if (const auto given = random_seed(input)) {
      seed = given;
      continue;
    }
    const auto wanted = [&](const std::string& name, const TensorType& type) {
      return may_be_argument(expected, name, type);
    };
    TensorFile given_here =
        read_behind_rehearsal(input, [&] { return read_tensors(input, "arg", wanted); });
    for (auto& [name, tensor] : given_here) found[name] = std::move(tensor);
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
      const TensorType& type = result->second.type;
      if (!may_be_argument(expected, name, type)) {
        problems.push_back(
            {{},
             fmt::format("result{} of --parameters is {}, but the program expects {} as {}", k,
                         type.text(), expected[k].text(), name)});
      }
      arguments.push_back(result->second);
    } else if (seed) {
      arguments.push_back(random_tensor(expected[k], random));
    } else {
      problems.push_back({{},
                          fmt::format("no dataset '{}'{}; the program expects {} there", name,
                                      label_of_argument(program, k), expected[k].text())});
    }
  }
  for (const auto& [name, tensor] : found)
    problems.push_back(
        {{},
         fmt::format("dataset '{}' ({}) is one argument too many: the program takes {}; jax.jit "
                     "leaves out what a function does not use, unless it has keep_unused=True",
                     name, tensor.type.text(), expected.size())});
  if (!problems.empty()) {
    if (inputs.empty())
      problems.push_back({{}, "give a file with --input FILE.h5, or --input random:1"});
    throw MalformedInput(std::move(problems));
  }
  return arguments;
}

FeedTensors load_infeeds(const ProgramImage& image, const std::optional<std::string>& file) {
  FeedTensors infeeds;
  if (file) {
    TensorFile fed = read_behind_rehearsal(*file, [&] { return read_tensors(*file, "infeed"); });
    for (auto& [name, tensor] : fed) {
      const auto position = std::stoul(name.substr(std::string_view("infeed").size()));
      infeeds[static_cast<std::uint32_t>(position)] = std::move(tensor);
    }
  }
  try {
    check_infeeds(image, infeeds);
  } catch (const MalformedInput& error) {
    std::vector<Problem> problems = error.problems();
    if (!file) problems.push_back({{}, "give a file with --infeed FILE.h5"});
    std::string found;
    for (const auto& [position, tensor] : infeeds)
      found +=
          fmt::format("{}infeed{} ({})", found.empty() ? "" : ", ", position, tensor.type.text());
    if (file) problems.push_back({{*file, 0, 0}, "has " + (found.empty() ? "no infeed0" : found)});
    throw MalformedInput(std::move(problems));
  }
  if (file && infeeds.empty()) {
    throw MalformedInput({{{*file, 0, 0}, "--infeed gives a file, but the program has no infeed"}});
  }
  return infeeds;
}

}  // namespace superstep
