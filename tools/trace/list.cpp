#include "report/trace_listing.h"
#include "tools/trace/verbs.h"

namespace superstep {

ExitCode trace_list(const Options&, const std::vector<std::string>& files, Answer& answer) {
  const TraceListing listing = list_trace(files[0]);
  answer.print("{}", listing_text(listing));
  answer.fields() = listing_document(listing);
  return ExitCode::kOk;
}

}  // namespace superstep
