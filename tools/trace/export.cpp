#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/output_file.h"
#include "report/export/format.h"
#include "tools/outputs.h"
#include "tools/streams.h"
#include "tools/trace/verbs.h"
#include "tools/windows.h"

namespace superstep {
namespace {

const ExportFormat& format_named(const std::string& name) {
  const auto formats = export_formats();
  const auto found = std::ranges::find(formats, name, &ExportFormat::name);
  if (found != formats.end()) return *found;
  std::string known;
  for (const ExportFormat& format : formats) {
    known += fmt::format("{}{}", known.empty() ? "" : ", ", format.name);
  }
  usage_error(fmt::format("there is no format '{}'; there are {}", name, known));
}

StackWeight weight_from(const std::string& text) {
  if (text != "critical" && text != "work") {
    usage_error(fmt::format("--weight takes critical or work, not '{}'", text));
  }
  return text == "work" ? StackWeight::kWork : StackWeight::kCritical;
}

ExportRequest request_from(const Options& options, const ExportFormat& format) {
  for (const char* name : {"window", "tiles", "weight", "table"}) {
    const std::string all = " " + std::string(format.options) + " ";
    if (options.has(name) && all.find(fmt::format(" {} ", name)) == std::string::npos) {
      usage_error(fmt::format("--{} is not for --to {}", name, format.name));
    }
  }
  ExportRequest request;
  if (const auto window = options.get("window"))
    request.window = supersteps_of("--window", *window);
  if (const auto tiles = options.get("tiles"); tiles && *tiles != "critical") {
    request.tiles = tiles_of("--tiles", *tiles, ", or critical");
  }
  if (const auto weight = options.get("weight")) request.weight = weight_from(*weight);
  if (const auto table = options.get("table")) request.table = *table;
  return request;
}

/// Gathers pieces, so that few go to the system.
class BufferedOutput {
 public:
  explicit BufferedOutput(ExportSink sink) : sink_(std::move(sink)) {}

  void add(std::string_view bytes) {
    constexpr std::size_t kPiece = std::size_t{1} << 20;
    buffer_ += bytes;
    if (buffer_.size() >= kPiece) flush();
  }
  void flush() {
    sink_(buffer_);
    buffer_.clear();
  }

 private:
  ExportSink sink_;
  std::string buffer_;
};

/// Writes the export, and gives what it leaves out.
std::vector<std::string> write(const ExportFormat& format, const TraceFile& trace,
                               const ExportRequest& request, ExportSink sink) {
  BufferedOutput output(std::move(sink));
  std::vector<std::string> left_out =
      format.write(trace, request, [&](std::string_view bytes) { output.add(bytes); });
  output.flush();
  return left_out;
}

ExitCode export_to_output(const ExportFormat& format, const TraceFile& trace,
                          const ExportRequest& request) {
  if (!format.is_text && isatty(STDOUT_FILENO) != 0) {
    usage_error(fmt::format(
        "{} is binary, and standard output is a terminal: -o FILE writes a file", format.name));
  }
  for (const std::string& sentence : write(format, trace, request, write_whole_output))
    write_error(sentence + "\n");
  return ExitCode::kOk;
}

}  // namespace

ExitCode trace_export(const Options& options, const std::vector<std::string>& files,
                      Answer& answer) {
  if (!options.has("to")) usage_error("trace export takes the format: --to FORMAT");
  if (!options.has("output")) usage_error("trace export takes the file to write: -o FILE");
  const ExportFormat& format = format_named(*options.get("to"));
  const ExportRequest request = request_from(options, format);
  const std::string out = *options.get("output");
  if (is_standard_output(out, answer)) {
    return export_to_output(format, TraceFile(files[0]), request);
  }
  check_outputs({{"the trace", files[0]}}, {{"the export", out}});
  const TraceFile trace(files[0]);
  OutputFile file(out);
  const std::vector<std::string> left_out =
      write(format, trace, request, [&](std::string_view bytes) { file.append(bytes); });
  file.commit();
  for (const std::string& sentence : left_out) answer.print("{}: {}\n", out, sentence);
  answer.fields() = {{"file", out}, {"left_out", left_out}};
  return ExitCode::kOk;
}

}  // namespace superstep
