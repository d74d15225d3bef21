#include "tools/child_process.h"

#include <gtest/gtest.h>

#include <csignal>
#include <stdexcept>

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

TEST(ChildProcess, IsNoCrashWhenSomebodyEndsIt) {
  EXPECT_FALSE((ChildEnd{.signal = SIGKILL}.is_crash()));
  EXPECT_FALSE((ChildEnd{.signal = SIGINT}.is_crash()));
  EXPECT_FALSE((ChildEnd{.code = 7}.is_crash()));
  EXPECT_TRUE((ChildEnd{.signal = SIGBUS}.is_crash()));
}

}  // namespace
}  // namespace superstep
