#include "tools/child_process.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <iterator>
#include <new>

#include "base/failed_check.h"
#include "base/hdf5_activity.h"
#include "base/output_file.h"

namespace superstep {
namespace {

/// What a copy tells, in memory that it shares with this process.
struct Told {
  Hdf5Activity hdf5;
  std::atomic<bool> is_endless = false;
};

/// Of this process, where it is a copy that is watched.
Told* told_by_us = nullptr;

/// Called after each second of CPU time.
void end_if_endless(int) {
  static std::uint64_t changes = 0, seconds = 0;
  const Hdf5Activity& hdf5 = told_by_us->hdf5;
  if (const std::uint64_t now = hdf5.changes; now != changes || !hdf5.is_in_use) {
    changes = now;
    seconds = 0;
  } else if (++seconds >= most_seconds_of_hdf5(hdf5.bytes)) {
    told_by_us->is_endless = true;
    kill(getpid(), SIGKILL);
  }
}

/// Ends this process when a use of the HDF5 library does not come back.
void watch_hdf5(Told& told) {
  told_by_us = &told;
  tell_hdf5_activity(told.hdf5);
  struct sigaction tick {};
  tick.sa_handler = end_if_endless;
  tick.sa_flags = SA_RESTART;
  sigaction(SIGPROF, &tick, nullptr);
  sigset_t ticks;
  sigemptyset(&ticks);
  sigaddset(&ticks, SIGPROF);
  pthread_sigmask(SIG_UNBLOCK, &ticks, nullptr);
  const itimerval second{.it_interval = {.tv_sec = 1, .tv_usec = 0},
                         .it_value = {.tv_sec = 1, .tv_usec = 0}};
  setitimer(ITIMER_PROF, &second, nullptr);
}

HostLimit no_process(int error) {
  return HostLimit(
      fmt::format("the host gives no process to read a file in: {}", std::strerror(error)));
}

/// A copy of this process that is watched.
class Copy {
 public:
  Copy() {
    void* const memory =
        mmap(nullptr, sizeof(Told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw no_process(errno);
    told_ = new (memory) Told;
    // Where who started this process ignores the ends of children, there is none to wait for.
    std::signal(SIGCHLD, SIG_DFL);
    const pid_t parent = getpid();
    process_ = fork();
    if (process_ < 0) {
      const int error = errno;
      munmap(told_, sizeof(Told));
      throw no_process(error);
    }
    if (process_ > 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(static_cast<int>(ExitCode::kInterrupted));
    const rlimit no_core{};
    setrlimit(RLIMIT_CORE, &no_core);
    watch_hdf5(*told_);
  }
  Copy(const Copy&) = delete;
  Copy& operator=(const Copy&) = delete;
  ~Copy() {
    if (process_ > 0) munmap(told_, sizeof(Told));
  }

  /// The process id of the copy, 0 in it.
  [[nodiscard]] pid_t process() const { return process_; }

  /// How it ended, by its status.
  [[nodiscard]] ChildEnd end(int status) const {
    if (!WIFSIGNALED(status)) return {.code = WEXITSTATUS(status)};
    ChildEnd end{.signal = WTERMSIG(status)};
    end.is_endless = told_->is_endless;
    if (end.is_endless) end.object = told_->hdf5.object.data();
    return end;
  }

 private:
  Told* told_ = nullptr;
  pid_t process_ = 0;
};

void exit_internal_if_checked(int) {
  if (has_failed_check()) _exit(static_cast<int>(ExitCode::kInternal));
}

}  // namespace

void tell_aborts_apart() { std::signal(SIGABRT, exit_internal_if_checked); }

bool ChildEnd::is_damage() const {
  constexpr int kOfBroken[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
  return is_endless || std::ranges::find(kOfBroken, signal) != std::end(kOfBroken);
}

Problem damage_problem(const std::string& file, const ChildEnd& end, std::string_view advice) {
  if (end.is_endless) {
    return {{file, 0, 0},
            fmt::format("is damaged: the HDF5 library reads{}{} without end; {}",
                        end.object.empty() ? "" : " ", end.object, advice)};
  }
  return {{file, 0, 0},
          fmt::format("is damaged: the process that read it crashed ({}); {}; if that crashes too, "
                      "Superstep is at fault",
                      strsignal(end.signal), advice)};
}

std::uint64_t most_seconds_of_hdf5(std::uint64_t bytes) {
  // A use takes milliseconds, and to inflate values tens of MB a second on a slow host.
  constexpr std::uint64_t kLeast = 5, kBytesOfSecond = 8'000'000;
  return kLeast + bytes / kBytesOfSecond;
}

std::optional<ChildEnd> continue_in_child() {
  share_temporary_files();
  sigset_t signals, of_child, before;
  sigemptyset(&signals);
  sigemptyset(&of_child);
  for (const int signal : {SIGCHLD, SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
  sigaddset(&of_child, SIGCHLD);
  pthread_sigmask(SIG_BLOCK, &signals, &before);
  const Copy copy;
  const pid_t child = copy.process();
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
      return copy.end(status);
    }
    const int signal = sigwaitinfo(&signals, nullptr);
    if (signal > 0 && signal != SIGCHLD) kill(child, signal);
  }
}

void rehearse(const std::filesystem::path& path, ExitCode code, const std::function<void()>& read) {
  const Copy copy;
  const pid_t child = copy.process();
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
  if (const ChildEnd end = copy.end(status); end.is_damage())
    throw UserError(code, {damage_problem(path.string(), end, "write it anew")});
}

}  // namespace superstep
