#include <nlohmann/json.hpp>
#include <vector>

#include "base/output_file.h"
#include "report/page/page.h"
#include "report/page/page_data.h"
#include "sim/trace/trace_file.h"
#include "tools/command.h"
#include "tools/outputs.h"
#include "tools/streams.h"

namespace superstep {
namespace {

constexpr AnswerField kFields[] = {
    {"file", "text", "", "the page that was written"},
    {"bytes", "integer", "B", "its size"},
};

}  // namespace

std::span<const AnswerField> html_fields() { return kFields; }

Options html_options() {
  Options options(
      "html RUN.h5 [RUN2.h5] -o PAGE.html",
      "Writes a trace, or two to compare, as a page for a browser: one file that needs "
      "nothing else.",
      {"superstep run program.mlir --trace tile -o run.h5", "superstep html run.h5 -o run.html",
       "superstep html before.h5 after.h5 -o compare.html"});
  options.value("output,o", "FILE", "the page; - is standard output");
  options.positionals(1, 2);
  return options;
}

ExitCode html_command(const Options& options, Answer& answer) {
  const std::optional<std::string> output = options.get("output");
  if (!output) usage_error("give the page a name: -o PAGE.html");
  std::vector<NamedFile> inputs;
  for (const std::string& word : options.words()) inputs.push_back({"the trace", word});
  const bool is_piped = is_standard_output(*output, answer);
  if (!is_piped) check_outputs(inputs, {{"--output", *output}});
  const std::vector<std::string>& words = options.words();
  const std::string page =
      page_html(words.size() == 1 ? std::vector{page_document(TraceFile(words[0]))}
                                  : page_documents(TraceFile(words[0]), TraceFile(words[1])));
  if (is_piped) {
    write_whole_output(page);
    return ExitCode::kOk;
  }
  replace_file(*output, page);
  answer.print("Wrote {} ({} kB)\n", *output, (page.size() + 500) / 1000);
  answer.fields()["file"] = *output;
  answer.fields()["bytes"] = page.size();
  return ExitCode::kOk;
}

}  // namespace superstep
