#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>

#include "tools/command.h"

namespace superstep {
namespace {

const Command& command_named(const std::string& name) {
  std::vector<std::string> names{"help"};
  for (const Command& command : all_commands()) {
    if (name == command.name) return command;
    names.emplace_back(command.name);
  }
  const std::string guess = nearest(name, names);
  usage_error(fmt::format(
      "unknown command '{}'; {}", name,
      guess.empty() ? "`superstep help` lists the commands" : "did you mean '" + guess + "'?"));
}

ExitCode dispatch(const std::vector<std::string>& words) {
  if (words.empty()) {
    fmt::print(stderr, "{}", overview());
    return ExitCode::kUsage;
  }
  const std::string& name = words[0];
  if (name == "-h" || name == "--help" || name == "help") {
    if (words.size() > 1) {
      fmt::print("{}", command_named(words[1]).options().help());
    } else {
      fmt::print("{}", overview());
    }
    return ExitCode::kOk;
  }
  if (name == "--version") {
    fmt::print("superstep {}\n", SUPERSTEP_VERSION);
    return ExitCode::kOk;
  }
  const Command& command = command_named(name);
  Options options = command.options();
  if (!options.parse({words.begin() + 1, words.end()})) {
    fmt::print("{}", options.help());
    return ExitCode::kOk;
  }
  return command.run(options);
}

/// Problems after these are only counted: what is no input of ours at all has one in every line.
constexpr std::size_t kMostProblems = 20;

void print_problems(const UserError& error) {
  const std::vector<Problem>& problems = error.problems();
  for (std::size_t i = 0; i < std::min(kMostProblems, problems.size()); ++i)
    fmt::print(stderr, "{}\n", UserError(error.code(), {problems[i]}).what());
  if (problems.size() > kMostProblems)
    fmt::print(stderr, "and {} more\n", problems.size() - kMostProblems);
}

/// A broken invariant aborts; to the shell it is the exit code of an internal error.
void exit_internal(int) { std::_Exit(static_cast<int>(ExitCode::kInternal)); }

}  // namespace
}  // namespace superstep

int main(int argc, char** argv) {
  using superstep::ExitCode;
  std::signal(SIGABRT, superstep::exit_internal);
  ExitCode code = ExitCode::kInternal;
  try {
    code = superstep::dispatch({argv + 1, argv + argc});
  } catch (const superstep::UserError& error) {
    superstep::print_problems(error);
    code = error.code();
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "error: the host ran out of memory\n");
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
  }
  if (std::fflush(stdout) != 0 && code == ExitCode::kOk) {
    fmt::print(stderr, "error: cannot write to standard output\n");
    code = ExitCode::kInternal;
  }
  return static_cast<int>(code);
}
