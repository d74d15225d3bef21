#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace superstep {

/// Exit codes of the `superstep` command.
enum class ExitCode : int {
  kOk = 0,
  kFailedCheck = 1,  ///< mismatch, failed check or trap
  kUsage = 2,
  kRegression = 3,
  kDoesNotFit = 4,
  kMalformed = 5,
  kUnsupported = 6,
  kDamagedTrace = 7,
  kInternal = 70,
  kHostLimit = 71,    ///< the host lacks memory, threads or another resource (EX_OSERR)
  kInputOutput = 74,  ///< a file or a stream cannot be read or written (EX_IOERR)
  kInterrupted = 130,
};

/// A place in a user's file; line and column count from 1, 0 means unknown.
struct SourceLocation {
  std::string file;
  std::uint32_t line = 0;
  std::uint32_t column = 0;

  /// `file:line:column`, as far as it is known; empty when nothing is.
  [[nodiscard]] std::string text() const;
  bool operator==(const SourceLocation&) const = default;
};

/// One thing that is wrong with an input: where, what was found, what is allowed, what to try.
struct Problem {
  SourceLocation where;
  std::string message;
};

/// Something the user can mend. Carries every problem of the input that was found, in order of
/// place. Messages may quote what users wrote, of any length and bytes: the constructors make that
/// fit to print.
class UserError : public std::runtime_error {
 public:
  UserError(ExitCode code, std::vector<Problem> problems);
  UserError(ExitCode code, std::string message)
      : UserError(code, {Problem{{}, std::move(message)}}) {}

  [[nodiscard]] ExitCode code() const { return code_; }
  [[nodiscard]] const std::vector<Problem>& problems() const { return problems_; }

 private:
  struct Presentable {};
  UserError(Presentable presentable, ExitCode code, std::vector<Problem> problems);

  ExitCode code_;
  std::vector<Problem> problems_;
};

/// Malformed input: a machine file, assembly, a module, a tensor file.
struct MalformedInput : UserError {
  explicit MalformedInput(std::vector<Problem> problems)
      : UserError(ExitCode::kMalformed, std::move(problems)) {}
  explicit MalformedInput(std::string message)
      : UserError(ExitCode::kMalformed, std::move(message)) {}
};

/// Well-formed input that asks for something Superstep does not model.
struct Unsupported : UserError {
  explicit Unsupported(std::vector<Problem> problems)
      : UserError(ExitCode::kUnsupported, std::move(problems)) {}
  explicit Unsupported(std::string message)
      : UserError(ExitCode::kUnsupported, std::move(message)) {}
};

/// A program that needs more tile memory than the machine has.
struct DoesNotFit : UserError {
  explicit DoesNotFit(std::string message) : UserError(ExitCode::kDoesNotFit, std::move(message)) {}
};

/// A file or a stream that the system does not let us read or write. `error` is an errno; the
/// message ends with the system's words for it.
struct InputOutputError : UserError {
  InputOutputError(const std::string& file, const std::string& message, int error);
  InputOutputError(const std::string& file, std::string message)
      : UserError(ExitCode::kInputOutput, {Problem{{file, 0, 0}, std::move(message)}}) {}
};

/// The host lacks memory, threads or another resource that the command needs.
struct HostLimit : UserError {
  explicit HostLimit(std::string message) : UserError(ExitCode::kHostLimit, std::move(message)) {}
};

/// The entry of `known` nearest to `word` when it is close enough to be a typing error, else empty.
[[nodiscard]] std::string nearest(const std::string& word, const std::vector<std::string>& known);

/// Ends the process with a message: a broken invariant of Superstep itself.
[[noreturn]] void fail_check(const char* condition, const char* file, int line,
                             const std::string& detail);

}  // namespace superstep

/// A claim about Superstep's own state; holds in every build. Never for user input.
#define SUPERSTEP_CHECK(condition, detail) \
  ((condition) ? void(0) : ::superstep::fail_check(#condition, __FILE__, __LINE__, (detail)))
