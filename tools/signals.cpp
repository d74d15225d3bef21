#include "tools/signals.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <system_error>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/output_file.h"

namespace superstep {
namespace {

enum class Taker : int { kNobody, kRequest, kAsked };
std::atomic<Taker> taker = Taker::kNobody;

void wait_for(sigset_t signals, const std::function<void()>& say_interrupted) {
  for (;;) {
    int signal = 0;
    if (sigwait(&signals, &signal) != 0) continue;
    Taker request = Taker::kRequest;
    if (taker.compare_exchange_strong(request, Taker::kAsked)) continue;
    say_interrupted();
    remove_temporary_files();
    _exit(static_cast<int>(ExitCode::kInterrupted));
  }
}

}  // namespace

void take_signals(std::function<void()> say_interrupted) {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM}) {
    std::signal(signal, SIG_DFL);  // an ignored one, as shells leave it, would never be waited for
    sigaddset(&signals, signal);
  }
  struct sigaction hangup {};
  const bool survives_hangup =  // who started us with nohup
      sigaction(SIGHUP, nullptr, &hangup) == 0 && hangup.sa_handler == SIG_IGN;
  if (!survives_hangup) sigaddset(&signals, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  try {
    std::thread(wait_for, signals, std::move(say_interrupted)).detach();
  } catch (const std::system_error&) {
    // A host without room for a thread: the signals do what they do to any process.
    pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  }
}

InterruptRequest::InterruptRequest() { taker = Taker::kRequest; }

InterruptRequest::~InterruptRequest() { taker = Taker::kNobody; }

bool InterruptRequest::asked() const {
  return taker.load(std::memory_order_relaxed) == Taker::kAsked;
}

}  // namespace superstep
