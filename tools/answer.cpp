#include "tools/answer.h"

#include <algorithm>

#include "report/json_text.h"

namespace superstep {
namespace {

using nlohmann::ordered_json;

constexpr ExitCodeInfo kExitCodes[] = {
    {ExitCode::kOk, "ok", "ok"},
    {ExitCode::kFailedCheck, "failed_check",
     "a result differs from what was expected, or the program trapped"},
    {ExitCode::kUsage, "usage", "wrong command line"},
    {ExitCode::kRegression, "regression", "cycles differ from the baseline"},
    {ExitCode::kDoesNotFit, "does_not_fit", "the program does not fit into tile memory"},
    {ExitCode::kMalformed, "malformed",
     "malformed input: program, machine file, tensors, assembly"},
    {ExitCode::kUnsupported, "unsupported", "the program uses what Superstep does not support"},
    {ExitCode::kDamagedTrace, "damaged_trace", "damaged or foreign trace file"},
    {ExitCode::kInternal, "internal", "internal error"},
    {ExitCode::kHostLimit, "host_limit", "the host lacks memory, threads or another resource"},
    {ExitCode::kInputOutput, "input_output", "a file or stream cannot be read or written"},
    {ExitCode::kInterrupted, "interrupted", "interrupted"},
};

constexpr AnswerField kEnvelope[] = {
    {"schema", "text", "",
     "superstep-COMMAND/1; a new number when a field goes or changes meaning"},
    {"version", "text", "", "of Superstep"},
    {"command", "text", "", "the command line"},
    {"seconds", "number", "s", "wall time of the command"},
    {"exit_code", "integer", "", "what the process exits with"},
    {"exit_name", "text", "", "the same as a word, such as ok, usage, does_not_fit, input_output"},
    {"help", "text", "", "what --help asks for"},
    {"problems", "list", "", "what went wrong, also on standard error; empty when nothing did"},
    {"problems[].file", "text", "", "where, or empty"},
    {"problems[].line", "integer", "", "from 1; 0 when unknown"},
    {"problems[].column", "integer", "", "from 1; 0 when unknown"},
    {"problems[].message", "text", "", "what was found, what is allowed, what to try"},
};

const char* name_of(ExitCode code) {
  const auto* found = std::ranges::find(kExitCodes, code, &ExitCodeInfo::code);
  return found == std::end(kExitCodes) ? "internal" : found->name;
}

}  // namespace

std::span<const ExitCodeInfo> exit_codes() { return kExitCodes; }

std::span<const AnswerField> envelope_fields() { return kEnvelope; }

Answer::Answer(std::string command, std::string command_line, bool is_json)
    : command_(std::move(command)), command_line_(std::move(command_line)), is_json_(is_json) {}

ordered_json Answer::envelope(ExitCode code, const std::vector<Problem>& problems) const {
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin_;
  ordered_json document = {{"schema", "superstep-" + command_ + "/1"},
                           {"version", SUPERSTEP_VERSION},
                           {"command", command_line_},
                           {"seconds", seconds.count()},
                           {"exit_code", static_cast<int>(code)},
                           {"exit_name", name_of(code)}};
  document["problems"] = ordered_json::array();
  for (const Problem& problem : problems) {
    document["problems"].push_back({{"file", problem.where.file},
                                    {"line", problem.where.line},
                                    {"column", problem.where.column},
                                    {"message", problem.message}});
  }
  return document;
}

std::string Answer::text(ExitCode code) const {
  if (!is_json_) return text_;
  ordered_json document = envelope(code, problems_);
  document.update(fields_);
  return json_text(document, 2) + "\n";
}

std::string Answer::text_of_end(ExitCode code, const std::vector<Problem>& problems) const {
  return is_json_ ? json_text(envelope(code, problems), 2) + "\n" : std::string();
}

}  // namespace superstep
