#include "tools/outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <climits>

#include "base/error.h"
#include "base/output_file.h"
#include "isa/machine_config.h"
#include "sim/trace/trace.h"

namespace superstep {
namespace {

namespace fs = std::filesystem;

/// As commands name it.
constexpr const char* kStandardOutput = "-";

/// Bytes of a name beside an output: `.part.4194304.new`, with the largest number of a process.
constexpr std::size_t kMostBeside = 17;

void check_name(const fs::path& path) {
  const fs::path target = link_target(path);
  if (target.filename().native().size() + kMostBeside <= NAME_MAX) return;
  throw InputOutputError(path.string(), "cannot be written with a temporary file beside it",
                         ENAMETOOLONG);
}

/// The same for two paths that name one file, whether it exists or not.
fs::path identity(const fs::path& path) {
  std::error_code none;
  const fs::path target = link_target(path);
  const fs::path known = fs::weakly_canonical(fs::absolute(target, none), none);
  return none ? target : known;
}

bool is_same_file(const fs::path& a, const fs::path& b) {
  std::error_code none;
  // Hard links are one file under two names.
  return identity(a) == identity(b) || fs::equivalent(a, b, none);
}

/// Whether a process writes the trace that this is, or is the unfinished file or the lock of.
bool is_of_a_run_that_lasts(const fs::path& path) {
  fs::path trace = link_target(path);
  if (is_locked(trace)) return true;
  if (trace.extension() != ".part" && trace.extension() != ".lock") return false;
  return is_locked(trace.replace_extension());
}

/// Whether it is the trace of a run, whose lock says what another run does there.
bool is_trace(const NamedFile& output, const std::vector<NamedFile>& outputs) {
  return std::ranges::any_of(outputs, [&](const NamedFile& other) {
    return other.is_beside && other.path == lock_beside(output.path);
  });
}

}  // namespace

void add_machine(std::vector<NamedFile>& inputs, const std::string& machine,
                 const std::vector<std::string>& overrides) {
  for (const std::string& file : machine_files(machine, overrides))
    inputs.push_back({"the machine", file});
}

void check_outputs(const std::vector<NamedFile>& inputs, const std::vector<NamedFile>& outputs) {
  std::vector<Problem> problems;
  ExitCode code = ExitCode::kUsage;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const NamedFile& output = outputs[i];
    if (output.path == kStandardOutput) {
      problems.push_back(
          {{output.path.string(), 0, 0},
           fmt::format(
               "{}: only `html` and `trace export` write to standard output; a file of that "
               "name is ./-",
               output.role)});
      continue;
    }
    try {
      if (!output.is_beside || fs::exists(fs::symlink_status(output.path))) {
        check_output(output.path);
      }
      if (!output.is_beside) check_name(output.path);
    } catch (const InputOutputError& error) {
      code = ExitCode::kInputOutput;
      for (const Problem& problem : error.problems()) {
        problems.push_back({problem.where, fmt::format("{}: {}", output.role, problem.message)});
      }
      continue;
    }
    const auto compare = [&](const NamedFile& other) {
      if (!is_same_file(output.path, other.path)) return;
      problems.push_back(
          {{output.path.string(), 0, 0},
           fmt::format("{} would replace {}: give it another name", output.role, other.role)});
    };
    if (!output.is_beside && !is_trace(output, outputs) && is_of_a_run_that_lasts(output.path)) {
      problems.push_back(
          {{output.path.string(), 0, 0},
           fmt::format("{} would replace a file of a run that lasts: give it another name",
                       output.role)});
    }
    for (const NamedFile& input : inputs) compare(input);
    for (std::size_t j = 0; j < i; ++j) compare(outputs[j]);
  }
  if (!problems.empty()) throw UserError(code, std::move(problems));
}

bool is_standard_output(const fs::path& output, const Answer& answer) {
  if (output != kStandardOutput) return false;
  if (answer.is_json()) {
    throw UserError(ExitCode::kUsage,
                    "-o - and --json both write to standard output: give -o a file");
  }
  return true;
}

std::vector<NamedFile> trace_outputs(const std::string& role, const fs::path& path) {
  return {{role, path},
          {fmt::format("the unfinished file of {}", role), trace_part(path), true},
          {fmt::format("the lock of {}", role), lock_beside(path), true}};
}

}  // namespace superstep
