#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "base/output_file.h"
#include "report/export/format.h"
#include "tools/outputs.h"
#include "tools/trace/verbs.h"

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

/// A whole number, or empty.
template <class T>
std::optional<T> number_from(std::string_view text) {
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

SuperstepWindow window_from(std::string_view text) {
  const auto refuse = [&]() {
    usage_error(fmt::format("--window takes A:B, supersteps A to B - 1, not '{}'", text));
  };
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) refuse();
  SuperstepWindow window;
  const auto read = [&](std::string_view part, std::uint64_t& out) {
    if (part.empty()) return;
    const auto number = number_from<std::uint64_t>(part);
    if (!number) refuse();
    out = *number;
  };
  read(text.substr(0, colon), window.first);
  read(text.substr(colon + 1), window.end);
  if (window.first >= window.end) refuse();
  return window;
}

/// `0,17,100-107`, ascending and each once; empty for `critical`.
std::optional<std::vector<std::uint32_t>> tiles_from(std::string_view text) {
  constexpr std::uint32_t kMost = 65535;
  if (text == "critical") return std::nullopt;
  std::vector<std::uint32_t> tiles;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view item = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), item.size() + 1));
    const std::size_t dash = item.find('-');
    const auto first = number_from<std::uint32_t>(item.substr(0, dash));
    const auto last =
        dash == std::string_view::npos ? first : number_from<std::uint32_t>(item.substr(dash + 1));
    if (!first || !last || *first > *last || *last > kMost) {
      usage_error(
          fmt::format("--tiles takes tiles as in 0,17,100-107, or critical, not '{}'", text));
    }
    for (std::uint32_t tile = *first; tile <= *last; ++tile) tiles.push_back(tile);
  }
  std::ranges::sort(tiles);
  tiles.erase(std::unique(tiles.begin(), tiles.end()), tiles.end());
  if (tiles.empty()) usage_error("--tiles takes tiles as in 0,17,100-107, or critical");
  return tiles;
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
  if (const auto window = options.get("window")) request.window = window_from(*window);
  if (const auto tiles = options.get("tiles")) request.tiles = tiles_from(*tiles);
  if (const auto weight = options.get("weight")) request.weight = weight_from(*weight);
  if (const auto table = options.get("table")) request.table = *table;
  return request;
}

/// Gathers pieces, so that few go to the system.
class BufferedOutput {
 public:
  explicit BufferedOutput(OutputFile& file) : file_(file) {}

  void add(std::string_view bytes) {
    constexpr std::size_t kPiece = std::size_t{1} << 20;
    buffer_ += bytes;
    if (buffer_.size() >= kPiece) flush();
  }
  void flush() {
    file_.append(buffer_);
    buffer_.clear();
  }

 private:
  OutputFile& file_;
  std::string buffer_;
};

}  // namespace

ExitCode trace_export(const Options& options, const std::vector<std::string>& files,
                      Answer& answer) {
  if (!options.has("to")) usage_error("trace export takes the format: --to FORMAT");
  if (!options.has("output")) usage_error("trace export takes the file to write: -o FILE");
  const ExportFormat& format = format_named(*options.get("to"));
  const ExportRequest request = request_from(options, format);
  const std::string out = *options.get("output");
  check_outputs({{"the trace", files[0]}}, {{"the export", out}});
  const TraceFile trace(files[0]);
  OutputFile file(out);
  BufferedOutput output(file);
  const std::vector<std::string> left_out =
      format.write(trace, request, [&](std::string_view bytes) { output.add(bytes); });
  output.flush();
  file.commit();
  for (const std::string& sentence : left_out) answer.add_problem({{out, 0, 0}, sentence});
  answer.fields() = {{"file", out}, {"left_out", left_out}};
  return ExitCode::kOk;
}

}  // namespace superstep
