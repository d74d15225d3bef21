#include "sim/host/arguments.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace superstep {
namespace {

TensorType stacked(const TensorType& type, std::uint32_t calls) {
  TensorType out = type;
  out.shape.insert(out.shape.begin(), calls);
  return out;
}

}  // namespace

bool is_sliced(const TensorType& expected, const TensorType& argument, std::uint32_t calls) {
  return argument == stacked(expected, calls);
}

bool is_state(const ProgramImage& image, std::size_t argument) {
  return std::ranges::any_of(image.alias,
                             [&](const auto& alias) { return alias && *alias == argument; });
}

void check_arguments(const ProgramImage& image, const std::vector<HostTensor>& arguments,
                     std::uint32_t calls) {
  std::vector<Problem> problems;
  const auto report = [&](std::string text) { problems.push_back({{}, std::move(text)}); };
  if (calls == 0) report("the program must be called at least once");
  for (std::size_t i = arguments.size(); i < image.arguments.size(); ++i) {
    report(fmt::format("arg{} is missing; the program expects {} arguments, arg{} is {}", i,
                       image.arguments.size(), i, image.arguments[i].text()));
  }
  for (std::size_t i = image.arguments.size(); i < arguments.size(); ++i) {
    report(fmt::format("arg{} is one too many; the program expects {} arguments", i,
                       image.arguments.size()));
  }
  for (std::size_t i = 0; i < std::min(arguments.size(), image.arguments.size()); ++i) {
    const TensorType& expected = image.arguments[i];
    const TensorType& found = arguments[i].type;
    const bool sliced = is_sliced(expected, found, calls);
    if (found == expected || (sliced && !is_state(image, i))) {
      std::string wrong = bytes_problem(fmt::format("arg{}", i), arguments[i].data.size(), found);
      if (!wrong.empty()) report(std::move(wrong));
      continue;
    }
    if (sliced) {
      report(
          fmt::format("arg{} is state that the program keeps between calls: it is {}, given once, "
                      "not {}",
                      i, expected.text(), found.text()));
    } else if (calls > 1 && !is_state(image, i)) {
      report(fmt::format("arg{} is {}, but the program expects {}, or {} for one slice a call", i,
                         found.text(), expected.text(), stacked(expected, calls).text()));
    } else {
      report(
          fmt::format("arg{} is {}, but the program expects {}", i, found.text(), expected.text()));
    }
  }
  if (!problems.empty()) throw MalformedInput(std::move(problems));
}

void check_argument(const ProgramImage& image, std::uint32_t position) {
  if (position >= image.arguments.size()) {
    throw MalformedInput(fmt::format("the program has no arg{}; it expects {} arguments", position,
                                     image.arguments.size()));
  }
}

void check_argument(const ProgramImage& image, std::uint32_t position, const HostTensor& value) {
  check_argument(image, position);
  if (value.type != image.arguments[position]) {
    throw MalformedInput(fmt::format("arg{} is {}, but the program expects {}", position,
                                     value.type.text(), image.arguments[position].text()));
  }
  check_bytes(fmt::format("arg{}", position), value.data.size(), value.type);
}

std::string bytes_problem(const std::string& name, std::size_t bytes, const TensorType& type) {
  if (bytes == type.bytes()) return {};
  return fmt::format("{} has {} B, and {} is {} B", name, bytes, type.text(), type.bytes());
}

void check_bytes(const std::string& name, std::size_t bytes, const TensorType& type) {
  std::string wrong = bytes_problem(name, bytes, type);
  if (!wrong.empty()) throw MalformedInput(std::move(wrong));
}

}  // namespace superstep
