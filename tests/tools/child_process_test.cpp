#include "tools/child_process.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <ctime>
#include <exception>
#include <filesystem>
#include <functional>
#include <stdexcept>

#include "base/hdf5_id.h"
#include "base/output_file.h"
#include "tests/scratch_folder.h"
#include "tools/signals.h"

namespace superstep {
namespace {

/// Ends the process as a broken program ends; sanitizers would take the signal for theirs.
void crash(int signal) {
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

TEST(ChildProcess, ACrashOfWhoReadsAFileIsAProblemOfTheFile) {
  for (const int signal : {SIGSEGV, SIGABRT}) {
    try {
      rehearse("x.h5", ExitCode::kMalformed, [&] { crash(signal); });
      FAIL() << "it has not crashed";
    } catch (const UserError& error) {
      EXPECT_EQ(error.code(), ExitCode::kMalformed);
      EXPECT_EQ(error.problems().at(0).where.file, "x.h5");
      EXPECT_TRUE(
          error.problems()[0].message.starts_with("is damaged: the process that read it crashed ("))
          << error.what();
    }
  }
}

/// Takes so much CPU time, in which who watches may end the process.
void burn(double seconds) {
  const std::clock_t end = std::clock() + static_cast<std::clock_t>(seconds * CLOCKS_PER_SEC);
  while (std::clock() < end) {
  }
}

TEST(ChildProcess, AUseOfHdf5WithoutEndIsAProblemOfTheFile) {
  const auto read = [] {
    const auto lock = hdf5_lock("/weights");
    for (;;) burn(1);
  };
  try {
    rehearse("x.h5", ExitCode::kMalformed, read);
    FAIL() << "it has ended";
  } catch (const UserError& error) {
    EXPECT_EQ(error.code(), ExitCode::kMalformed);
    EXPECT_STREQ(error.what(),
                 "x.h5: error: is damaged: the HDF5 library reads /weights without end; write it "
                 "anew");
  }
}

TEST(ChildProcess, UsesOfHdf5ThatComeBackMayTakeLonger) {
  const double longer = static_cast<double>(most_seconds_of_hdf5(0)) + 2.5;
  EXPECT_NO_THROW(rehearse("x.h5", ExitCode::kMalformed, [&] {
    const auto file = hdf5_lock("x.h5");
    for (const double half : {longer / 2, longer / 2}) {
      const auto dataset = hdf5_lock("/weights");
      burn(half);
    }
  }));
}

TEST(ChildProcess, AUseOfHdf5ThatReadsMuchMayTakeLonger) {
  EXPECT_LE(most_seconds_of_hdf5(0), 10U);
  EXPECT_GE(most_seconds_of_hdf5(std::uint64_t{4} << 30), 100U);
}

TEST(ChildProcess, IsWaitedForWhereEndsOfChildrenAreIgnored) {
  std::signal(SIGCHLD, SIG_IGN);
  EXPECT_THROW(rehearse("x.h5", ExitCode::kMalformed, [] { crash(SIGSEGV); }), UserError);
}

TEST(ChildProcess, WhatIsReadAndWhatIsThrownIsThatOfTheReader) {
  int reads = 0;
  EXPECT_EQ(read_behind_rehearsal("x.h5", [&] { return ++reads; }), 1) << "the copy's is its own";
  EXPECT_THROW(
      (void)read_behind_rehearsal("x.h5", []() -> int { throw std::runtime_error("no file"); }),
      std::runtime_error);
}

TEST(ChildProcess, ABrokenCheckWhileAFileIsReadIsNoDamageOfTheFile) {
  const auto checks = [] { SUPERSTEP_CHECK(false, "of a test"); };
  EXPECT_NO_THROW(rehearse("x.h5", ExitCode::kMalformed, checks));
  EXPECT_NO_THROW(rehearse("x.h5", ExitCode::kMalformed, [] { std::terminate(); }));
  EXPECT_NO_THROW(rehearse("x.h5", ExitCode::kMalformed, [] { throw 1; }));
}

/// How a copy ends that does this, or with 0 behind it.
ChildEnd end_of(const std::function<void()>& body) {
  if (const std::optional<ChildEnd> end = continue_in_child()) return *end;
  body();
  _exit(0);
}

TEST(ChildProcess, EndsAsItsCopyEnds) {
  EXPECT_EQ(end_of([] {}).code, 0);
  for (const int code : {1, 7, 74, 130}) {
    const ChildEnd end = end_of([&] { _exit(code); });
    EXPECT_EQ(end.code, code);
    EXPECT_EQ(end.signal, 0);
  }
  for (const int signal : {SIGSEGV, SIGKILL}) {
    EXPECT_EQ(end_of([&] { crash(signal); }).signal, signal);
  }
  const ChildEnd checked = end_of([] {
    tell_aborts_apart();
    SUPERSTEP_CHECK(false, "of a test");
  });
  EXPECT_EQ(checked.code, static_cast<int>(ExitCode::kInternal));
}

/// The next of the signals to end that comes, as its own number.
int next_signal() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
  int signal = 0;
  sigwait(&signals, &signal);
  return signal;
}

TEST(ChildProcess, GetsEachSignalThatItsParentGets) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    EXPECT_EQ(end_of([&] {
                kill(getppid(), signal);
                _exit(next_signal());
              }).code,
              signal);
  }
}

TEST(ChildProcess, GetsASignalToTheGroupOfItsParentOnce) {
  const ChildEnd end = end_of([] {
    setpgid(0, 0);
    const ChildEnd inner = end_of([] {
      kill(-getppid(), SIGTERM);
      const int first = next_signal();
      kill(getppid(), SIGHUP);
      _exit(first == SIGTERM && next_signal() == SIGHUP ? 0 : 1);
    });
    _exit(inner.signal == 0 ? inner.code : 2);
  });
  EXPECT_EQ(end.code, 0);
}

TEST(ChildProcess, ASignalThatComesEarlyIsAnInterruption) {
  const ChildEnd end = end_of([] {
    kill(getpid(), SIGTERM);
    take_signals([] {});
    for (;;) pause();
  });
  EXPECT_EQ(end.signal, 0);
  EXPECT_EQ(end.code, static_cast<int>(ExitCode::kInterrupted));
}

TEST(ChildProcess, LeavesNoTemporaryFileWhenItsParentRemovesThem) {
  const std::filesystem::path folder = scratch_folder() / "outputs";
  std::filesystem::create_directory(folder);
  const ChildEnd end = end_of([&] {
    replace_file(folder / "whole", "bytes");
    OutputFile output(folder / "begun");
    output.append("bytes");
    const FileLock lock(folder / "locked");
    crash(SIGSEGV);
  });
  EXPECT_EQ(end.signal, SIGSEGV);
  const auto count = [&] { return std::distance(std::filesystem::directory_iterator(folder), {}); };
  EXPECT_EQ(count(), 3);
  remove_temporary_files();
  EXPECT_EQ(count(), 1);
  EXPECT_TRUE(std::filesystem::exists(folder / "whole"));
}

TEST(ChildProcess, IsNoDamageWhenSomebodyEndsIt) {
  EXPECT_FALSE((ChildEnd{.signal = SIGKILL}.is_damage()));
  EXPECT_FALSE((ChildEnd{.signal = SIGINT}.is_damage()));
  EXPECT_FALSE((ChildEnd{.code = 7}.is_damage()));
  EXPECT_TRUE((ChildEnd{.signal = SIGBUS}.is_damage()));
}

}  // namespace
}  // namespace superstep
