#include "sim/kernel/kernel.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace superstep {
namespace {

using TestEvent = Event<std::string>;
using TestOutbox = Outbox<std::string>;

/// Writes what it gets to a log, and then does as the test says.
class Writer : public Process<std::string> {
 public:
  using Act = std::function<void(const std::string&, TestOutbox&)>;

  Writer(ProcessPlace place, std::vector<std::string>& log, Act act = {})
      : Process(place), log_(log), act_(std::move(act)) {}

  void handle(const std::string& message, TestOutbox& out) override {
    log_.push_back(std::to_string(out.now().value()) + " " + message);
    if (act_) act_(message, out);
  }
  [[nodiscard]] std::string waits_for() const override { return wait_; }
  void wait(std::string what) { wait_ = std::move(what); }

 private:
  std::vector<std::string>& log_;
  Act act_;
  std::string wait_;
};

void one_by_one(std::size_t count, const std::function<void(std::size_t)>& body) {
  for (std::size_t i = 0; i < count; ++i) body(i);
}

/// The last one first, each on its own thread.
void backwards(std::size_t count, const std::function<void(std::size_t)>& body) {
  for (std::size_t i = count; i-- > 0;) std::thread([&] { body(i); }).join();
}

TEST(Kernel, HandlesEventsByTimeThenPlaceThenSourceThenOrderOfSending) {
  std::vector<std::string> log;
  Writer low({ChipId{0}, 1}, log), high({ChipId{0}, 2}, log), other({ChipId{1}, 0}, log);
  Kernel<std::string> kernel(one_by_one);
  const auto send = [&](std::uint64_t time, Writer& to, std::uint64_t source, const char* text) {
    kernel.send({.time = Cycles(time), .to = &to, .source = source, .message = text});
  };
  send(9, low, 0, "latest");
  send(5, other, 0, "other chip");
  send(5, high, 0, "high");
  send(5, low, 7, "low, source 7, first");
  send(5, low, 7, "low, source 7, second");
  send(5, low, 3, "low, source 3");
  while (kernel.step()) {
  }
  EXPECT_EQ(log, (std::vector<std::string>{"5 low, source 3", "5 low, source 7, first",
                                           "5 low, source 7, second", "5 high", "5 other chip",
                                           "9 latest"}));
  EXPECT_EQ(kernel.now(), 9_cycles);
}

TEST(Kernel, DefiniteEventsRunAheadOfConditionalOnes) {
  std::vector<std::string> log;
  Writer a({ChipId{0}, 0}, log), b({ChipId{0}, 1}, log);
  Kernel<std::string> kernel(one_by_one);
  kernel.send({.time = 3_cycles, .to = &a, .message = "conditional"});
  kernel.send({.time = 100_cycles, .to = &b, .is_definite = true, .message = "definite"});
  ASSERT_TRUE(kernel.step());
  EXPECT_EQ(log, (std::vector<std::string>{"100 definite"}));
  EXPECT_EQ(kernel.now(), 0_cycles) << "a process that is ahead does not move the time of all";
  ASSERT_TRUE(kernel.step());
  EXPECT_EQ(log.back(), "3 conditional");
  EXPECT_FALSE(kernel.step());
}

TEST(Kernel, WhatDefiniteEventsSendDoesNotDependOnThreads) {
  const auto run = [](const Kernel<std::string>::ForEach& side_by_side) {
    std::vector<std::string> log;
    Writer sink({ChipId{9}, 0}, log);
    std::vector<std::unique_ptr<Writer>> chips;
    Kernel<std::string> kernel(side_by_side);
    std::vector<std::vector<std::string>> logs(4);
    for (std::uint32_t c = 0; c < 4; ++c) {
      chips.push_back(std::make_unique<Writer>(
          ProcessPlace{ChipId{c}, 0}, logs[c], [&sink](const std::string& text, TestOutbox& out) {
            out.send({.time = out.now() + 1_cycles, .to = &sink, .message = text});
          }));
      kernel.send({.time = Cycles(10 - c),
                   .to = chips[c].get(),
                   .is_definite = true,
                   .message = "chip " + std::to_string(c)});
      kernel.send({.time = 8_cycles,
                   .to = chips[c].get(),
                   .is_definite = true,
                   .message = "chip " + std::to_string(c) + " at 8"});
    }
    while (kernel.step()) {
    }
    return log;
  };
  const std::vector<std::string> expected = {"8 chip 3",  "9 chip 0 at 8", "9 chip 1 at 8",
                                             "9 chip 2",  "9 chip 2 at 8", "9 chip 3 at 8",
                                             "10 chip 1", "11 chip 0"};
  EXPECT_EQ(run(one_by_one), expected);
  EXPECT_EQ(run(backwards), expected);
}

TEST(Kernel, ADeadlockNamesWhoWaitsForWhat) {
  std::vector<std::string> log;
  Writer second({ChipId{0}, 2}, log), first({ChipId{0}, 1}, log), idle({ChipId{0}, 0}, log);
  Kernel<std::string> kernel(one_by_one);
  for (Writer* writer : {&second, &first, &idle}) kernel.add(*writer);
  EXPECT_EQ(kernel.deadlock(), "");
  second.wait("tile 1 in zone 4");
  first.wait("tile 0 in zone 3");
  EXPECT_FALSE(kernel.step());
  EXPECT_EQ(kernel.deadlock(), "tile 0 in zone 3; tile 1 in zone 4");
}

TEST(KernelDeathTest, AnEventInThePastEndsTheRun) {
  std::vector<std::string> log;
  Writer sink({ChipId{0}, 1}, log);
  Writer source({ChipId{0}, 0}, log, [&](const std::string&, TestOutbox& out) {
    out.send({.time = 4_cycles, .to = &sink, .message = "late"});
  });
  Kernel<std::string> kernel(one_by_one);
  kernel.send({.time = 5_cycles, .to = &source, .message = "go"});
  EXPECT_DEATH(kernel.step(), "an event in the past, at cycle 4, is sent in cycle 5");
}

TEST(KernelDeathTest, AnEventInThePastOfItsReceiverEndsTheRun) {
  std::vector<std::string> log;
  Writer ahead({ChipId{0}, 0}, log);
  Kernel<std::string> kernel(one_by_one);
  kernel.send({.time = 100_cycles, .to = &ahead, .is_definite = true, .message = "definite"});
  kernel.send({.time = 3_cycles, .to = &ahead, .message = "earlier all the same"});
  ASSERT_TRUE(kernel.step());
  EXPECT_DEATH(kernel.step(), "an event at cycle 3 of a process that has come to cycle 100");
}

TEST(Kernel, AnEventMayBeSentWithoutDelay) {
  std::vector<std::string> log;
  Writer sink({ChipId{0}, 0}, log);
  Writer source({ChipId{0}, 1}, log, [&](const std::string&, TestOutbox& out) {
    out.send({.time = out.now(), .to = &sink, .message = "at once"});
  });
  Kernel<std::string> kernel(one_by_one);
  kernel.send({.time = 5_cycles, .to = &source, .message = "go"});
  while (kernel.step()) {
  }
  EXPECT_EQ(log, (std::vector<std::string>{"5 go", "5 at once"}));
}

}  // namespace
}  // namespace superstep
