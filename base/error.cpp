#include "base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "base/failed_check.h"
#include "base/text.h"

namespace superstep {
namespace {

std::atomic<bool> failed_check = false;

/// No line of a message is longer, whatever it quotes.
constexpr std::size_t kLongestLine = 1000;

/// Messages quote what users wrote.
std::string presentable(const std::string& message) {
  std::string text;
  for (std::size_t begin = 0; begin <= message.size();) {
    const std::size_t end = std::min(message.find('\n', begin), message.size());
    if (begin > 0) text += '\n';
    text +=
        printable(shortened(std::string_view(message).substr(begin, end - begin), kLongestLine));
    begin = end + 1;
  }
  return text;
}

std::vector<Problem> presentable(std::vector<Problem> problems) {
  for (Problem& problem : problems) problem.message = presentable(problem.message);
  return problems;
}

std::string joined(const std::vector<Problem>& problems) {
  std::string text;
  for (const Problem& problem : problems) {
    if (!text.empty()) text += '\n';
    const std::string where = problem.where.text();
    text += where.empty() ? "error: " : where + ": error: ";
    text += problem.message;
  }
  return text;
}

/// Insertions, deletions, substitutions and swaps of neighbours (optimal string alignment).
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) cost[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) cost[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitute = cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, substitute});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  }
  return cost[a.size()][b.size()];
}

}  // namespace

std::string SourceLocation::text() const {
  if (file.empty()) return {};
  const std::string name = printable(file);
  if (line == 0) return name;
  if (column == 0) return fmt::format("{}:{}", name, line);
  return fmt::format("{}:{}:{}", name, line, column);
}

UserError::UserError(ExitCode code, std::vector<Problem> problems)
    : UserError(Presentable{}, code, presentable(std::move(problems))) {}

UserError::UserError(Presentable /*unused*/, ExitCode code, std::vector<Problem> problems)
    : std::runtime_error(joined(problems)), code_(code), problems_(std::move(problems)) {}

InputOutputError::InputOutputError(const std::string& file, const std::string& message, int error)
    : InputOutputError(file, error == 0 ? message
                                        : fmt::format("{}: {}", message,
                                                      std::generic_category().message(error))) {}

std::string nearest(const std::string& word, const std::vector<std::string>& known) {
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : known) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

bool has_failed_check() { return failed_check; }

void fail_check(const char* condition, const char* file, int line, const std::string& detail) {
  failed_check = true;
  const std::string text = fmt::format("superstep: internal error at {}:{}: {} does not hold: {}\n",
                                       file, line, condition, detail);
  std::fputs(text.c_str(), stderr);
  std::abort();
}

}  // namespace superstep
