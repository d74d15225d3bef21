#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "report/export/csv.h"
#include "report/export/format.h"
#include "tools/command.h"
#include "tools/trace/verbs.h"

namespace superstep {
namespace {

struct Verb {
  std::string_view name, files;
  std::size_t least, most;   ///< words behind it
  std::string_view options;  ///< that it takes, separated by spaces
  ExitCode (*run)(const Options& options, const std::vector<std::string>& files, Answer& answer);
};

constexpr Verb kVerbs[] = {
    {"info", "one trace", 1, 1, "", trace_info},
    {"ls", "one trace", 1, 1, "", trace_list},
    {"validate", "one trace", 1, 1, "", trace_validate},
    {"export", "one trace", 1, 1, "to output window tiles weight table", trace_export},
    {"repair", "the .part file, and the file to write", 1, 2, "", trace_repair},
    {"schema", "no further word", 0, 0, "", trace_schema},
};

const Verb& verb_named(const std::string& name) {
  const auto* const found = std::ranges::find(kVerbs, name, &Verb::name);
  if (found != std::end(kVerbs)) return *found;
  std::vector<std::string> known;
  for (const Verb& verb : kVerbs) known.emplace_back(verb.name);
  const std::string guess = nearest(name, known);
  usage_error(fmt::format("unknown verb '{}'{}", name,
                          guess.empty() ? fmt::format("; there are {}", fmt::join(known, ", "))
                                        : "; did you mean '" + guess + "'?"));
}

}  // namespace

std::span<const AnswerField> trace_fields() {
  static constexpr AnswerField kFields[] = {
      {"file", "text", "", "repair, export: what was written"},
      {"cycles", "integer", "cycle", "repair"},
      {"supersteps", "integer", "", "repair, info, validate"},
      {"format_version", "text", "", "info, ls, validate"},
      {"level", "text", "", "info, ls, validate: summary, superstep, tile, vertex or instruction"},
      {"outcome", "text", "", "info: ok, trap, interrupted, oom or running"},
      {"complete", "boolean", "",
       "info, ls, validate: the file is finished, with the totals of what ran"},
      {"module", "text", "", "info"},
      {"machine", "text", "", "info"},
      {"provenance", "object", "", "info: what may differ between equal runs"},
      {"datasets", "list", "", "ls: by groups and names"},
      {"datasets[].path", "text", "", ""},
      {"datasets[].type", "text", "", "u1, u2, u4, u8, i4, i8, f8, text, or what else it is"},
      {"datasets[].shape", "list", "", "length along each axis"},
      {"datasets[].axes", "text", "", "their names"},
      {"datasets[].unit", "text", "", "1 of plain numbers and text"},
      {"datasets[].meaning", "text", "", ""},
      {"datasets[].same_as", "text", "",
       "the path before it that names the same dataset, or empty"},
      {"missing", "list", "", "ls: what the schema has and the file does not"},
      {"missing[].name", "text", "", "a path; of an attribute GROUP@NAME"},
      {"missing[].reason", "text", "",
       "the level or the format that has it; empty where nothing explains it"},
      {"checked", "integer", "", "validate: rules that the trace was checked by"},
      {"left_out", "list", "", "export: sentences on what the file does not hold"},
      {"markdown", "text", "", "schema: every dataset, as a table"},
  };
  return kFields;
}

Options trace_options() {
  std::string formats;
  for (const ExportFormat& format : export_formats()) {
    formats += fmt::format("{}{}", formats.empty() ? "" : ", ", format.name);
  }
  static const std::string to = "export: " + formats;
  static const std::string table = "csv: " + csv_table_names();
  Options options(
      "trace VERB ... [options]",
      "info, ls RUN.h5: what a trace is; what is in it.\n"
      "validate RUN.h5: whether it keeps its rules and adds up; damage is found with dataset and "
      "row.\n"
      "export RUN.h5 --to FORMAT -o FILE: gives it to other viewers (docs/exports.md).\n"
      "repair RUN.h5.part [OUT.h5]: makes what a killed run left a trace: RUN.h5, unless that is "
      "there already, and the .part goes, or OUT.h5; of a finished one, where there is nothing to "
      "repair, it writes nothing and ends with 2.\n"
      "schema: every dataset that there may be.",
      {"superstep trace ls run.h5", "superstep trace validate run.h5",
       "superstep trace export run.h5 --to perfetto -o run.pftrace",
       "superstep trace export run.h5 --to csv --table steps -o steps.csv",
       "superstep trace repair run.h5.part"});
  options.positionals(1, 3)
      .value("to", "FORMAT", to.c_str())
      .value("output,o", "FILE", "export: write it there; - is standard output")
      .value("window", "A:B", "export: supersteps A to B - 1 alone; A or B may be left out")
      .value("tiles", "LIST",
             "perfetto: these tiles, as in 0,17,100-107; or `critical` (default), those that are "
             "critical for most cycles")
      .value("weight", "critical|work",
             "folded, speedscope: cycles of the critical path (default), or compute cycles of all "
             "tiles")
      .value("table", "TABLE", table.c_str());
  return options;
}

ExitCode trace_command(const Options& options, Answer& answer) {
  const Verb& verb = verb_named(options.words()[0]);
  const std::vector<std::string> files(options.words().begin() + 1, options.words().end());
  if (files.size() < verb.least || files.size() > verb.most) {
    usage_error(fmt::format("trace {} takes {}", verb.name, verb.files));
  }
  for (const char* option : {"to", "output", "window", "tiles", "weight", "table"}) {
    const std::string all = " " + std::string(verb.options) + " ";
    if (options.has(option) && all.find(fmt::format(" {} ", option)) == std::string::npos) {
      usage_error(fmt::format("--{} is not for trace {}", option, verb.name));
    }
  }
  return verb.run(options, files, answer);
}

}  // namespace superstep
