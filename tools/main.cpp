#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <mutex>
#include <new>
#include <optional>
#include <system_error>

#include "base/output_file.h"
#include "tools/answer.h"
#include "tools/child_process.h"
#include "tools/command.h"
#include "tools/progress.h"
#include "tools/signals.h"
#include "tools/streams.h"

namespace superstep {
namespace {

/// Held by the thread that writes the answer of the process, which is the last thing it does.
std::mutex answering;

/// Problems after these are only counted: what is no input of ours at all has one in every line.
constexpr std::size_t kMostProblems = 20;

std::string problems_text(ExitCode code, const std::vector<Problem>& problems) {
  std::string text;
  for (std::size_t i = 0; i < std::min(kMostProblems, problems.size()); ++i)
    text += std::string(UserError(code, {problems[i]}).what()) + "\n";
  if (problems.size() > kMostProblems)
    text += fmt::format("and {} more\n", problems.size() - kMostProblems);
  return text;
}

const Command& command_named(const std::string& name) {
  std::vector<std::string> names{"help", "version"};
  for (const Command& command : all_commands()) {
    if (name == command.name) return command;
    names.emplace_back(command.name);
  }
  const std::string guess = nearest(name, names);
  usage_error(fmt::format(
      "unknown command '{}'; {}", name,
      guess.empty() ? "`superstep help` lists the commands" : "did you mean '" + guess + "'?"));
}

/// `words` without options: what is left of `help run --json`.
std::vector<std::string> without_options(std::vector<std::string> words) {
  std::erase_if(words, [](const std::string& word) { return word.starts_with('-'); });
  return words;
}

ExitCode dispatch(const std::vector<std::string>& words, Answer& answer) {
  if (words.empty()) {
    write_error(overview());
    return ExitCode::kUsage;
  }
  const std::string& name = words[0];
  const auto help = [&](const std::string& text) {
    answer.print("{}", text);
    answer.fields()["help"] = text;
    return ExitCode::kOk;
  };
  if (name == "-h" || name == "--help" || name == "help") {
    const std::vector<std::string> about = without_options({words.begin() + 1, words.end()});
    return help(about.empty() || about[0] == "help" || about[0] == "version"
                    ? overview()
                    : command_named(about[0]).options().help());
  }
  if (name == "--version" || name == "version") {
    answer.print("superstep " SUPERSTEP_VERSION "\n");
    return ExitCode::kOk;
  }
  const Command& command = command_named(name);
  Options options = command.options();
  if (!options.parse({words.begin() + 1, words.end()})) return help(options.help());
  return command.run(options, answer);
}

/// A broken invariant aborts; to the shell it is the exit code of an internal error.
void exit_internal(int) { std::_Exit(static_cast<int>(ExitCode::kInternal)); }

/// Whose fault an exception is that none of ours throws. TBB has no type of its own for a host that
/// gives it no thread.
ExitCode code_of(const std::exception& error) {
  const bool lacks_thread =
      std::string_view(error.what()).find("pthread") != std::string_view::npos;
  return lacks_thread ? ExitCode::kHostLimit : ExitCode::kInternal;
}

/// Ends the process for an exception that a thread of a library let go.
[[noreturn]] void end_uncaught() {
  ExitCode code = ExitCode::kInternal;
  std::string what = "an exception that nobody caught";
  try {
    if (const std::exception_ptr error = std::current_exception()) std::rethrow_exception(error);
  } catch (const std::exception& error) {
    code = code_of(error);
    what = error.what();
  } catch (...) {
    what += " is of no known type";
  }
  write_error(problems_text(code, {{{}, what}}));
  remove_temporary_files();
  std::_Exit(static_cast<int>(code));
}

/// Runs a command; what stops it becomes a problem of its answer.
ExitCode run(const std::vector<std::string>& words, Answer& answer) {
  const auto stopped = [&](ExitCode code, std::string message) {
    answer.add_problem({{}, std::move(message)});
    return code;
  };
  try {
    return dispatch(words, answer);
  } catch (const UserError& error) {
    for (const Problem& problem : error.problems()) answer.add_problem(problem);
    return error.code();
  } catch (const std::bad_alloc&) {
    return stopped(ExitCode::kHostLimit, "the host ran out of memory");
  } catch (const std::filesystem::filesystem_error& error) {
    return stopped(ExitCode::kInputOutput,
                   fmt::format("{}: {}", error.path1().string(), error.code().message()));
  } catch (const std::system_error& error) {
    return stopped(ExitCode::kHostLimit, error.what());
  } catch (const std::exception& error) {
    return stopped(code_of(error), error.what());
  }
}

/// The answer of the process: it knows the command before its options are read.
Answer answer_for(const std::vector<std::string>& words) {
  std::string line = "superstep";
  for (const std::string& word : words) line += " " + word;
  const bool is_json = std::ranges::find(words, "--json") != words.end();
  const bool is_command =
      !words.empty() && std::ranges::any_of(all_commands(), [&](const Command& command) {
        return words[0] == command.name;
      });
  return {is_command ? words[0] : "help", line, is_json};
}

/// The command of words that does nothing but read traces; null for any other.
const Command* reader_of(const std::vector<std::string>& words) {
  const auto commands = all_commands();
  const auto found = std::ranges::find_if(commands, [&](const Command& command) {
    return !words.empty() && words[0] == command.name && command.traces != nullptr;
  });
  return found == commands.end() ? nullptr : &*found;
}

/// What to say of the process of a command that ended so by a signal.
ExitCode add_end(const ChildEnd& end, const Command& command, const std::vector<std::string>& words,
                 Answer& answer) {
  Options options = command.options();
  (void)options.parse({words.begin() + 1, words.end()});
  const std::string traces = fmt::format("{}", fmt::join(command.traces(options.words()), " or "));
  if (!end.is_damage()) {
    answer.add_problem({{},
                        fmt::format("somebody ended the process that read {} by a signal ({})",
                                    traces, strsignal(end.signal))});
    return ExitCode::kHostLimit;
  }
  answer.add_problem(damage_problem(traces, end, "another run makes it anew"));
  return ExitCode::kDamagedTrace;
}

/// Writes the answer of the process.
ExitCode finish(ExitCode code, const Answer& answer) {
  answering.lock();
  std::string errors = problems_text(code, answer.problems());
  if (const int error = write_output(answer.text(code)); error != 0) {
    errors += InputOutputError("standard output", "cannot be written", error).what();
    errors += "\n";
    if (code == ExitCode::kOk) code = ExitCode::kInputOutput;
  }
  write_error(errors);
  return code;
}

ExitCode answer_words(const std::vector<std::string>& words) {
  Answer answer = answer_for(words);
  if (const Command* const reader = reader_of(words)) {
    std::optional<ChildEnd> end;
    try {
      end = continue_in_child();
    } catch (const HostLimit& error) {
      for (const Problem& problem : error.problems()) answer.add_problem(problem);
      return finish(error.code(), answer);
    }
    if (end && end->signal == 0) return ExitCode{end->code};
    if (end) {
      take_signals([] {});
      remove_temporary_files();
      return finish(add_end(*end, *reader, words, answer), answer);
    }
    tell_aborts_apart();
  }
  take_signals([&] {
    if (!answering.try_lock()) return;
    const std::string stage = current_stage();
    const std::vector<Problem> problems{
        {{}, stage.empty() ? "interrupted" : "interrupted: " + stage}};
    const char* const next_line = isatty(STDERR_FILENO) != 0 ? "\n" : "";  // behind `^C`
    write_error(next_line + problems_text(ExitCode::kInterrupted, problems));
    (void)write_output(answer.text_of_end(ExitCode::kInterrupted, problems));
  });
  return finish(run(words, answer), answer);
}

}  // namespace
}  // namespace superstep

int main(int argc, char** argv) {
  superstep::hold_standard_streams();
  std::signal(SIGABRT, superstep::exit_internal);
  std::set_terminate(superstep::end_uncaught);
  return static_cast<int>(superstep::answer_words({argv + 1, argv + argc}));
}
