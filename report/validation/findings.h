#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <deque>
#include <exception>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace superstep {

/// One rule about the rows of a dataset. It remembers the first place where it is broken.
class TraceRule {
 public:
  explicit TraceRule(std::string dataset) : dataset_(std::move(dataset)) {}

  /// `why` gives what is wrong with the row, for a sentence that begins with its place.
  template <class Why>
  void check(bool holds, std::uint64_t row, const Why& why) {
    if (holds) return;
    if (broken_++ == 0) first_ = fmt::format("{}[{}] {}", dataset_, row, why());
  }
  /// A number that another one says; `what` is what that is.
  template <class A, class B>
  void equal(std::uint64_t row, const A& found, const B& expected, std::string_view what) {
    check(found == expected, row,
          [&] { return fmt::format("is {}, but {} {}", found, what, expected); });
  }
  /// The number of something of which there are so many.
  template <class A, class B>
  void below(std::uint64_t row, const A& found, const B& count, std::string_view what) {
    check(found < count, row,
          [&] { return fmt::format("is {}, but there are {} {}", found, count, what); });
  }
  /// A number that is a part of another one.
  template <class A, class B>
  void at_most(std::uint64_t row, const A& found, const B& most, std::string_view what) {
    check(found <= most, row,
          [&] { return fmt::format("is {}, more than {} {}", found, what, most); });
  }

  [[nodiscard]] bool is_broken() const { return broken_ != 0; }
  [[nodiscard]] std::string problem() const {
    return broken_ == 1 ? first_
                        : fmt::format("{}; and {} rows more are wrong", first_, broken_ - 1);
  }

 private:
  std::string dataset_, first_;
  std::uint64_t broken_ = 0;
};

/// All rules that a trace is checked by.
class TraceFindings {
 public:
  explicit TraceFindings(std::filesystem::path path) : path_(std::move(path)) {}

  /// A rule about rows, which lasts as long as this.
  TraceRule& rule(std::string dataset) { return rules_.emplace_back(std::move(dataset)); }
  /// A rule about a whole dataset or attribute; `problem` gives the sentence when it is broken.
  template <class Text>
  bool expect(bool holds, const Text& problem) {
    ++others_;
    if (!holds) problems_.push_back(problem());
    return holds;
  }
  /// What cannot be read, and why.
  void add_failure(const std::string& what, const std::exception& error) {
    std::string why = error.what();
    if (const std::string file = path_.string() + ": "; why.starts_with(file)) {
      why.erase(0, file.size());
    }
    const bool is_named = why.find(what) != std::string::npos;
    problems_.push_back(is_named ? why : fmt::format("{}: {}", what, why));
  }

  [[nodiscard]] std::uint64_t checked() const { return rules_.size() + others_; }
  [[nodiscard]] std::vector<std::string> problems() const {
    std::vector<std::string> all = problems_;
    for (const TraceRule& rule : rules_) {
      if (rule.is_broken()) all.push_back(rule.problem());
    }
    return all;
  }

 private:
  std::filesystem::path path_;
  std::deque<TraceRule> rules_;
  std::vector<std::string> problems_;
  std::uint64_t others_ = 0;
};

}  // namespace superstep
