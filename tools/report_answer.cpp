#include "tools/report_answer.h"

#include "report/report.h"
#include "report/text_table.h"

namespace superstep {

void report(const TraceSummary& trace, Answer& answer) {
  if (answer.is_json()) {
    answer.fields().update(report_document(trace));
  } else {
    answer.print("{}", text_report(trace, output_columns()));
  }
}

}  // namespace superstep
