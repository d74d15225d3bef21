#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/text.h"
#include "compiler/compile.h"
#include "compiler/import/builder.h"
#include "compiler/import/flatten.h"
#include "compiler/import/parser.h"
#include "compiler/import/python_lines.h"
#include "compiler/import/read_module.h"
#include "compiler/passes/draws.h"

namespace superstep {
namespace {

constexpr std::size_t kMaxProblems = 1000;

auto place(const import::Finding& finding) {
  const Problem& problem = finding.problem;
  return std::tie(problem.where.line, problem.where.column, problem.message);
}

/// Adds to the first clause of a message, in front of what it says to do.
void add_to_clause(std::string& message, const std::string& text) {
  message.insert(std::min(message.find("; "), message.size()), text);
}

/// What is not supported is said once, at its first place, and counted.
std::vector<import::Finding> counted(std::vector<import::Finding> findings) {
  std::vector<import::Finding> out;
  std::vector<std::size_t> places;
  std::unordered_map<std::string, std::size_t> known;
  for (import::Finding& finding : findings) {
    const auto [at, is_new] = finding.unsupported
                                  ? known.emplace(finding.problem.message, out.size())
                                  : std::pair(known.end(), true);
    if (is_new) {
      out.push_back(std::move(finding));
      places.push_back(1);
    } else {
      ++places[at->second];
      import::Finding& first = out[at->second];
      if (first.python.file.empty()) first.python = std::move(finding.python);
    }
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    std::string note = out[i].python.text();
    if (places[i] > 1) {
      note += (note.empty() ? "and " : ", and ") + std::to_string(places[i] - 1) + " more place" +
              (places[i] > 2 ? "s" : "");
    }
    if (!note.empty()) add_to_clause(out[i].problem.message, " (" + note + ")");
  }
  return out;
}

[[noreturn]] void refuse(std::vector<import::Finding> findings) {
  std::stable_sort(findings.begin(), findings.end(),
                   [](const auto& a, const auto& b) { return place(a) < place(b); });
  findings.erase(std::unique(findings.begin(), findings.end(),
                             [](const auto& a, const auto& b) { return place(a) == place(b); }),
                 findings.end());
  findings = counted(std::move(findings));
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

/// What a file is that other tools write where StableHLO was meant, and what writes that.
void refuse_other_formats(std::string_view text, const std::string& file) {
  const auto refuse = [&](const char* message) { throw MalformedInput({{{file, 1, 1}, message}}); };
  if (text.starts_with("ML\xefR")) {
    refuse(
        "this is MLIR bytecode, not text; write the module as text, in JAX by "
        "`exported.mlir_module()` or `lowered.as_text()`");
  }
  if (text.starts_with("HloModule")) {
    refuse(
        "this is HLO, not StableHLO; in JAX `lowered.as_text()`, without \"hlo\", writes "
        "StableHLO");
  }
}

/// Every line of a text that is not UTF-8, at its first byte that is none.
std::vector<import::Finding> bytes_that_are_no_text(std::string_view text,
                                                    const import::LineTable& lines) {
  std::vector<import::Finding> findings;
  for (std::size_t begin = 0; const auto bad = not_utf8(text.substr(begin));) {
    const std::size_t at = begin + *bad;
    const auto byte = static_cast<unsigned char>(text[at]);
    findings.push_back(
        {{lines.locate(at),
          fmt::format("the byte 0x{:02x} is no UTF-8 text; save the module as UTF-8", byte)}});
    begin = std::min(text.find('\n', at), text.size());
  }
  return findings;
}

}  // namespace

Module import_stablehlo(std::string_view text, const std::string& file) {
  return import::read_module(text, file, import::Dialects::kProgram, [](import::SyntaxModule&) {});
}

Module import::read_module(std::string_view text, const std::string& file, Dialects dialects,
                           const std::function<void(SyntaxModule&)>& edit) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  refuse_other_formats(text, file);
  const LineTable lines(text, file);
  if (auto findings = bytes_that_are_no_text(text, lines); !findings.empty()) {
    refuse(std::move(findings));
  }
  std::vector<SyntaxError> errors;
  SyntaxModule syntax = Parser(text, errors, dialects).parse();
  flatten(syntax, errors);
  std::vector<Finding> findings;
  for (SyntaxError& error : errors) {
    findings.push_back({{lines.locate(error.offset), std::move(error.message)}, error.unsupported});
  }
  try {
    edit(syntax);
  } catch (const Unsupported&) {
    // What is wrong with a text may be why it has not what `edit` asks for.
    if (!findings.empty()) refuse(std::move(findings));
    throw;
  }
  PythonLines python(syntax, file);
  Builder builder(syntax, lines, python, findings);
  Module module = builder.build();
  for (std::size_t i = 0; i < errors.size(); ++i) {
    if (errors[i].op) findings[i].python = builder.python_of_broken(*errors[i].op);
  }
  if (!findings.empty()) refuse(std::move(findings));
  module.main = number_draws(std::move(module.main));
  return module;
}

}  // namespace superstep
