#pragma once

#include <fmt/format.h>

#include <chrono>
#include <iterator>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "report/answer_field.h"

namespace superstep {

/// What a command says on standard output: text for people, or with `--json` one document. Nothing
/// is shown before the command ends, so that a document is whole and text is not mixed with errors.
class Answer {
 public:
  /// `command` is the command's name, `command_line` all of it.
  Answer(std::string command, std::string command_line, bool is_json);

  [[nodiscard]] bool is_json() const { return is_json_; }

  /// Adds text; left out of a document.
  template <class... Values>
  void print(fmt::format_string<Values...> format, Values&&... values) {
    if (!is_json_)
      fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
  }

  /// The command's own fields of the document.
  nlohmann::ordered_json& fields() { return fields_; }

  /// Adds something that went wrong: it goes to standard error and into the document.
  void add_problem(Problem problem) { problems_.push_back(std::move(problem)); }
  [[nodiscard]] const std::vector<Problem>& problems() const { return problems_; }

  /// What goes to standard output when the command ends with `code`.
  [[nodiscard]] std::string text(ExitCode code) const;
  /// The same for a command that another thread ends: without what the command said so far.
  [[nodiscard]] std::string text_of_end(ExitCode code, const std::vector<Problem>& problems) const;

 private:
  [[nodiscard]] nlohmann::ordered_json envelope(ExitCode code,
                                                const std::vector<Problem>& problems) const;

  std::string command_, command_line_;
  bool is_json_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::string text_;
  std::vector<Problem> problems_;
  nlohmann::ordered_json fields_ = nlohmann::ordered_json::object();
};

/// Fields of every document, whichever the command and its outcome.
[[nodiscard]] std::span<const AnswerField> envelope_fields();

/// A JSON Schema (draft 2020-12) of the documents of a command.
[[nodiscard]] nlohmann::ordered_json schema_of(std::string_view command,
                                               std::span<const AnswerField> fields);

/// An exit code as people and documents name it.
struct ExitCodeInfo {
  ExitCode code;
  const char* name;  ///< in documents
  const char* meaning;
};
[[nodiscard]] std::span<const ExitCodeInfo> exit_codes();

}  // namespace superstep
