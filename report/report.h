#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isa/program_image.h"
#include "report/answer_field.h"
#include "report/shares.h"
#include "report/text_style.h"
#include "sim/trace/trace.h"
#include "sim/trace/trace_file.h"

namespace superstep {

/// Everything that one StableHLO operation, or the code between operations, took; or several, added
/// up by another grouping. Of an exchange that several share each has its part, by words.
struct OperationTotals {
  std::string name = {}, opcode = {};
  OpLocation source = {};
  std::uint64_t supersteps = 0, flops = 0;
  std::uint64_t runs = 0;  ///< executions of the step that ran most often
  Cycles compute{}, exchange{}, sync{}, host{};
  Cycles exchange_bound{};  ///< words of the busiest port of each exchange, no more than it took
  std::uint64_t exchange_bytes = 0;                ///< that exchanges write to tile memories
  std::uint64_t tile_cycles = 0, peak_cycles = 0;  ///< as StepTotals has them
  InstructionCounts instructions = {};             ///< likewise

  [[nodiscard]] Cycles device() const { return compute + exchange + sync; }
};

/// What steps can be added up by; the names of groups are those of operations, opcodes, places in
/// Python, places in the module, or `(none)`.
inline constexpr std::string_view kStepGroupings[] = {"operation", "opcode", "python", "source"};

/// The group that one of the operations that a step serves is booked on.
[[nodiscard]] std::string group_of(const StepTotals& step, const FusedOperation& operation,
                                   std::string_view by);
/// One of the operations that a step serves, and its share of the step.
struct StepPart {
  FusedOperation operation;
  Share share;
};
/// The whole step is a part where it serves one operation or no weights are known.
[[nodiscard]] std::vector<StepPart> parts_of(const StepTotals& step);
/// What a share of a step took, without supersteps and runs; all parts of a step add up to it, and
/// so do all groups of parts.
[[nodiscard]] OperationTotals taken_by(const Share& share, const StepTotals& step);
/// The operations of a run, or the groups of another of `kStepGroupings`; most device cycles first
/// and equal ones by name.
[[nodiscard]] std::vector<OperationTotals> operations_of(const TraceSummary& trace,
                                                         std::string_view by = "operation");
/// Whether it is in tables: some run beside longer ones, and only their arithmetic counts.
[[nodiscard]] inline bool is_listed(const OperationTotals& group) {
  return group.device().value() != 0 || group.flops != 0;
}
/// Adds what the other took, but its runs.
void add(OperationTotals& sums, const OperationTotals& other);

/// What of their compute cycles the tiles issue instructions in: at most one of each pipe a cycle.
struct IssueShares {
  double main = 0, auxiliary = 0, amp = 0;  ///< amp: of the auxiliary
};
/// Nothing without compute cycles, or without instructions.
[[nodiscard]] std::optional<IssueShares> issue_shares(const InstructionCounts& instructions,
                                                      std::uint64_t tile_cycles);
/// Nothing of a trace that does not say it.
[[nodiscard]] std::optional<IssueShares> issue_shares(const TraceSummary& trace);

/// The report of a run as text: cycles by part, balance, memory of the worst tile, top operations,
/// what is worth a look; in lines of the style's columns. `file` is that of the trace, if one is
/// there: with it all rules of insights look that its level allows.
[[nodiscard]] std::string text_report(const TraceSummary& trace, const TextStyle& style,
                                      const TraceFile* file = nullptr);

/// Every field of `report_document`, in its order, and of the insights that answers have behind it.
[[nodiscard]] std::span<const AnswerField> report_fields();

/// The same numbers as fields of a JSON document.
[[nodiscard]] nlohmann::ordered_json report_document(const TraceSummary& trace);
/// These alone, as a trace keeps them.
[[nodiscard]] std::string json_report(const TraceSummary& trace);

/// The same as `memory_report` as a document.
[[nodiscard]] nlohmann::ordered_json memory_document(const ProgramInfo& info,
                                                     const MachineConfig& machine);

/// Memory of the worst tile by category and the biggest tensors, as text.
[[nodiscard]] std::string memory_report(const ProgramInfo& info, const MachineConfig& machine,
                                        std::size_t columns);

}  // namespace superstep
