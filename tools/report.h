#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isa/program_image.h"
#include "sim/trace/trace.h"

namespace superstep {

/// Everything that one StableHLO operation, or the code between operations, took.
struct OperationTotals {
  std::string name, opcode;
  SourceLocation source;
  std::uint64_t supersteps = 0, flops = 0;
  Cycles compute{}, exchange{}, sync{}, host{};

  [[nodiscard]] Cycles device() const { return compute + exchange + sync; }
};

/// The operations of a run, most device cycles first and equal ones by name.
[[nodiscard]] std::vector<OperationTotals> operations_of(const TraceSummary& trace);

/// The report of a run as text: cycles by part, balance, memory of the worst tile, top operations.
[[nodiscard]] std::string text_report(const TraceSummary& trace);

/// One field of the JSON report; `steps[].name` is in every element of the list `steps`.
struct ReportField {
  std::string_view path, type, unit, meaning;
};

/// Every field of the JSON report, in its order.
[[nodiscard]] std::span<const ReportField> report_fields();

/// The same numbers as one JSON document.
[[nodiscard]] std::string json_report(const TraceSummary& trace);

/// Memory of the worst tile by category and the biggest tensors, as text.
[[nodiscard]] std::string memory_report(const ProgramInfo& info, const MachineConfig& machine);

}  // namespace superstep
