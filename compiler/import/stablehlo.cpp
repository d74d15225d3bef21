#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "compiler/compile.h"
#include "compiler/import/builder.h"
#include "compiler/import/parser.h"

namespace superstep {
namespace {

constexpr std::size_t kMaxProblems = 1000;

auto place(const import::Finding& finding) {
  const Problem& problem = finding.problem;
  return std::tie(problem.where.line, problem.where.column, problem.message);
}

[[noreturn]] void refuse(std::vector<import::Finding> findings) {
  std::stable_sort(findings.begin(), findings.end(),
                   [](const auto& a, const auto& b) { return place(a) < place(b); });
  findings.erase(std::unique(findings.begin(), findings.end(),
                             [](const auto& a, const auto& b) { return place(a) == place(b); }),
                 findings.end());
  bool only_unsupported = true;
  std::vector<Problem> problems;
  for (import::Finding& finding : findings) {
    only_unsupported = only_unsupported && finding.unsupported;
    if (problems.size() < kMaxProblems) problems.push_back(std::move(finding.problem));
  }
  if (findings.size() > kMaxProblems) {
    problems.push_back(
        {{}, "and " + std::to_string(findings.size() - kMaxProblems) + " more problems"});
  }
  if (only_unsupported) throw Unsupported(std::move(problems));
  throw MalformedInput(std::move(problems));
}

}  // namespace

Module import_stablehlo(std::string_view text, const std::string& file) {
  std::vector<import::SyntaxError> errors;
  const import::SyntaxModule syntax = import::Parser(text, errors).parse();
  const import::LineTable lines(text, file);
  std::vector<import::Finding> findings;
  for (import::SyntaxError& error : errors) {
    findings.push_back({{lines.locate(error.offset), std::move(error.message)}, error.unsupported});
  }
  Module module = import::Builder(syntax, lines, findings).build();
  if (!findings.empty()) refuse(std::move(findings));
  return module;
}

}  // namespace superstep
