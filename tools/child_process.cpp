#include "tools/child_process.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <iterator>

#include "base/failed_check.h"
#include "base/output_file.h"

namespace superstep {
namespace {

/// The process id of the copy, 0 in it.
pid_t copy_process() {
  // Where who started this process ignores the ends of children, there is none to wait for.
  std::signal(SIGCHLD, SIG_DFL);
  const pid_t parent = getpid(), child = fork();
  if (child < 0) {
    throw HostLimit(
        fmt::format("the host gives no process to read a file in: {}", std::strerror(errno)));
  }
  if (child > 0) return child;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(static_cast<int>(ExitCode::kInterrupted));
  const rlimit no_core{};
  setrlimit(RLIMIT_CORE, &no_core);
  return 0;
}

ChildEnd end_of(int status) {
  if (WIFSIGNALED(status)) return {.signal = WTERMSIG(status)};
  return {.code = WEXITSTATUS(status)};
}

void exit_internal_if_checked(int) {
  if (has_failed_check()) _exit(static_cast<int>(ExitCode::kInternal));
}

}  // namespace

void tell_aborts_apart() { std::signal(SIGABRT, exit_internal_if_checked); }

bool ChildEnd::is_crash() const {
  constexpr int kOfBroken[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
  return std::ranges::find(kOfBroken, signal) != std::end(kOfBroken);
}

Problem crash_problem(const std::string& file, int signal, std::string_view advice) {
  return {{file, 0, 0},
          fmt::format("is damaged: the process that read it crashed ({}); {}; if that crashes too, "
                      "Superstep is at fault",
                      strsignal(signal), advice)};
}

std::optional<ChildEnd> continue_in_child() {
  share_temporary_files();
  sigset_t signals, of_child, before;
  sigemptyset(&signals);
  sigemptyset(&of_child);
  for (const int signal : {SIGCHLD, SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
  sigaddset(&of_child, SIGCHLD);
  pthread_sigmask(SIG_BLOCK, &signals, &before);
  const pid_t child = copy_process();
  if (child == 0) {
    // A signal to the group of this process would reach the copy twice.
    setpgid(0, 0);
    std::signal(SIGTTOU, SIG_IGN);  // it writes to the terminal of another group
    pthread_sigmask(SIG_UNBLOCK, &of_child, nullptr);
    return std::nullopt;
  }
  for (int status = 0;;) {
    if (waitpid(child, &status, WNOHANG) == child) {
      pthread_sigmask(SIG_SETMASK, &before, nullptr);
      return end_of(status);
    }
    const int signal = sigwaitinfo(&signals, nullptr);
    if (signal > 0 && signal != SIGCHLD) kill(child, signal);
  }
}

void rehearse(const std::filesystem::path& path, ExitCode code, const std::function<void()>& read) {
  const pid_t child = copy_process();
  if (child == 0) {
    // What is locked here is not locked by the copy.
    close_range(STDERR_FILENO + 1, ~0U, 0);
    tell_aborts_apart();
    // What this process has open, and its temporary files, are its own.
    std::set_terminate([] { _exit(static_cast<int>(ExitCode::kInternal)); });
    try {
      read();
    } catch (...) {
      // Who reads it next meets that too.
    }
    _exit(0);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (const ChildEnd end = end_of(status); end.is_crash())
    throw UserError(code, {crash_problem(path.string(), end.signal, "write it anew")});
}

}  // namespace superstep
