#include "tools/report_answer.h"

#include "report/insights.h"
#include "report/report.h"

namespace superstep {

void report(const TraceSummary& trace, Answer& answer, const TextStyle& style,
            const TraceFile* file) {
  if (answer.is_json()) {
    answer.fields().update(report_document(trace));
    answer.fields()["insights"] = insights_document(insights_of(trace, file, kMostRunsOfReports));
  } else {
    answer.print("{}", text_report(trace, style, file));
  }
}

}  // namespace superstep
