#include "tools/conformance_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "base/error.h"
#include "base/files.h"

namespace superstep {
namespace {

constexpr std::string_view kBehindName = ": ";

/// Empty for a module that its folder counts.
std::string text_of(const ConformanceOutcome& outcome) {
  if (outcome.verdict == Verdict::kPassed && outcome.disabled.empty()) return {};
  std::string text = name_of(outcome.verdict);
  if (!outcome.disabled.empty()) text = fmt::format("disabled ({}), {}", outcome.disabled, text);
  return outcome.reason.empty() ? text : fmt::format("{}, {}", text, outcome.reason);
}

}  // namespace

ConformanceRecord record_of(const std::vector<ConformanceOutcome>& outcomes) {
  ConformanceRecord record;
  std::map<std::string, std::size_t> passed;
  for (const ConformanceOutcome& outcome : outcomes) {
    const std::string text = text_of(outcome);
    std::size_t& count = passed[outcome.name.substr(0, outcome.name.rfind('/'))];
    if (text.empty()) {
      ++count;
    } else {
      record[outcome.name] = text;
    }
  }
  for (const auto& [folder, count] : passed) record[folder] = fmt::format("{} passed", count);
  return record;
}

std::string text_of(const ConformanceRecord& record) {
  std::string text =
      "# Modules that passed, by folder, and each other one: `superstep conformance --expect`\n";
  for (const auto& [name, what] : record) text += fmt::format("{}{}{}\n", name, kBehindName, what);
  return text;
}

ConformanceRecord read_record(const std::string& path) {
  ConformanceRecord record;
  std::istringstream lines(read_text_file(path));
  std::uint32_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.empty() || line.front() == '#') continue;
    const std::size_t end = line.find(kBehindName);
    if (end == std::string::npos) {
      throw MalformedInput({{{path, number, 1},
                             "expected `NAME: what became of it`, as `superstep conformance "
                             "--expect FILE --update` writes it"}});
    }
    record[line.substr(0, end)] = line.substr(end + kBehindName.size());
  }
  return record;
}

std::vector<std::string> differences(const ConformanceRecord& expected,
                                     const std::vector<ConformanceOutcome>& outcomes) {
  const ConformanceRecord found = record_of(outcomes);
  std::map<std::string, std::string> sentences;
  for (const auto& [name, what] : found) {
    const auto before = expected.find(name);
    if (before == expected.end()) {
      sentences[name] = fmt::format("{}: {}; the file has nothing of it", name, what);
    } else if (before->second != what) {
      sentences[name] = fmt::format("{}: {}; expected: {}", name, what, before->second);
    }
  }
  for (const auto& [name, what] : expected) {
    if (found.contains(name)) continue;
    const bool passed =
        std::ranges::find(outcomes, name, &ConformanceOutcome::name) != outcomes.end();
    sentences[name] =
        fmt::format("{}: {}; expected: {}", name, passed ? "passed" : "not there", what);
  }
  std::vector<std::string> all;
  for (auto& [name, sentence] : sentences) all.push_back(std::move(sentence));
  return all;
}

}  // namespace superstep
