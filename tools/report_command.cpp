#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "base/error.h"
#include "report/diff.h"
#include "report/report.h"
#include "report/view.h"
#include "tools/command.h"
#include "tools/report_answer.h"

namespace superstep {
namespace {

/// The one of `choices` that an option names.
template <class Choices, class Name>
const auto& chosen(const std::string& option, const std::string& word, const Choices& choices,
                   const Name& name_of) {
  const auto found = std::ranges::find(choices, word, name_of);
  if (found != std::ranges::end(choices)) return *found;
  std::vector<std::string> names;
  std::string all;
  for (const auto& choice : choices) {
    names.emplace_back(name_of(choice));
    all += (all.empty() ? "" : ", ") + names.back();
  }
  const std::string guess = nearest(word, names);
  usage_error(fmt::format("--{} has no '{}': {}", option, word,
                          guess.empty() ? all : "did you mean '" + guess + "'? all are " + all));
}

std::vector<ReportView> views_to_compare() {
  std::vector<ReportView> views;
  std::ranges::copy_if(report_views(), std::back_inserter(views), &ReportView::can_compare);
  return views;
}

TextStyle style_of(const Options& options) {
  TextStyle style = TextStyle::of_output();
  const std::string when = options.get("color").value_or("auto");
  constexpr std::string_view kWhen[] = {"auto", "always", "never"};
  chosen("color", when, kWhen, [](std::string_view name) { return name; });
  if (when != "auto") style.has_colour = when == "always";
  return style;
}

/// Refuses what a view would not look at.
void check_takes(const ReportView& view, const Options& options) {
  std::string takes;
  for (const std::string_view option : view.takes)
    takes += fmt::format("{}--{}", takes.empty() ? "" : ", ", option);
  for (const char* option : {"group-by", "match", "top"})
    if (options.has(option) && !std::ranges::count(view.takes, std::string_view(option)))
      usage_error(fmt::format("--{} is not for --view {}, which takes {}", option, view.name,
                              takes.empty() ? "none of --group-by, --match, --top" : takes));
}

std::string list_of(std::span<const std::string_view> names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

/// What the options say of a view; `what` adds up by these.
ViewOptions wanted_of(const Options& options, std::string_view what,
                      std::span<const std::string_view> groupings) {
  ViewOptions wanted{.top = options.number("top", 0, 1'000'000'000, 20)};
  if (const auto match = options.get("match")) wanted.match = *match;
  if (const std::string problem = pattern_problem(wanted.match); !problem.empty())
    usage_error(fmt::format("--match '{}': {}", wanted.match, problem));
  if (const auto by = options.get("group-by"))
    wanted.group_by = chosen(fmt::format("group-by of {}", what), *by, groupings,
                             [](std::string_view name) { return name; });
  return wanted;
}

void show(const std::vector<ViewTable>& tables, std::string_view name, const TextStyle& style,
          Answer& answer) {
  if (answer.is_json()) {
    answer.fields()["view"] = name;
    answer.fields()["tables"] = view_document(tables);
  } else {
    answer.print("{}", view_text(tables, style));
  }
}

}  // namespace

std::span<const AnswerField> report_command_fields() {
  static const std::vector<AnswerField> kFields = [] {
    const std::span<const AnswerField> report = report_fields();
    std::vector<AnswerField> all(report.begin(), report.end());
    all.insert(all.end(),
               {{"view", "text", "", "--view: its name; diff: diff"},
                {"tables", "list", "", "--view, diff: its tables, with the numbers of the text"},
                {"tables[].name", "text", "", ""},
                {"tables[].title", "text", "", "its heading"},
                {"tables[].columns", "list", "", ""},
                {"tables[].columns[].name", "text", "", ""},
                {"tables[].columns[].unit", "text", "", "of numbers; 1 or empty for plain ones"},
                {"tables[].columns[].meaning", "text", "", "or empty where the name says it"},
                {"tables[].rows", "list", "", "a list for each row, a value or null for a column"},
                {"tables[].notes", "list", "", "sentences on it, as on what the trace lacks"}});
    return all;
  }();
  return kFields;
}

Options report_options() {
  std::string views, grouped, also;
  for (const ReportView& view : report_views()) {
    views += fmt::format("{}{}", views.empty() ? "" : ", ", view.name);
    if (view.groupings.empty()) continue;
    grouped += fmt::format("--view {}, ", view.name);
    for (const std::string_view by : view.groupings)
      if (!std::ranges::count(kStepGroupings, by))
        also += fmt::format("; --view {} also {}", view.name, by);
  }
  std::string compared;
  for (const ReportView& view : views_to_compare())
    compared += fmt::format("{}{}", compared.empty() ? "" : ", ", view.name);
  static const std::string view_help =
      fmt::format("one view of the trace: {}; of diff: {} (ops)", views, compared);
  static const std::string group_help = fmt::format("what {}diff add up by: {} (operation){}",
                                                    grouped, list_of(kStepGroupings), also);
  Options options(
      "report RUN.h5 [options] | report diff A.h5 B.h5 [options]",
      "Shows a trace, whole or as one view, or what differs between two.",
      {"superstep report run.h5", "superstep report run.h5 --view ops --group-by python",
       "superstep report run.h5 --view steps --match 'dot_general*'",
       "superstep report diff before.h5 after.h5",
       "superstep report diff before.h5 after.h5 --view memory"});
  options.value("view", "NAME", view_help.c_str())
      .value("group-by", "WHAT", group_help.c_str())
      .value("match", "PATTERN", "only names like this shell pattern; not for tiles, insights")
      .value("top", "N", "rows of long tables, 0 for all (20)")
      .value("color", "WHEN", "auto, always or never (auto: on a terminal, without NO_COLOR)")
      .positionals(1, 3);
  return options;
}

ExitCode report_command(const Options& options, Answer& answer) {
  const std::vector<std::string>& words = options.words();
  const TextStyle style = style_of(options);
  if (words[0] == "diff") {
    if (words.size() != 3) usage_error("report diff takes two traces");
    const std::vector<ReportView> views = views_to_compare();
    const ReportView& compared = chosen("view of report diff", options.get("view").value_or("ops"),
                                        views, [](const ReportView& view) { return view.name; });
    check_takes(compared, options);
    const ViewOptions wanted = wanted_of(options, "report diff", kStepGroupings);
    const TraceFile before(words[1]), after(words[2]);
    const TraceSummary was = before.summary(), is = after.summary();
    show(diff_tables({before, was, wanted}, {after, is, wanted}, compared), "diff", style, answer);
    return ExitCode::kOk;
  }
  if (words.size() != 1) usage_error("report takes one trace; `report diff` two");
  const TraceFile file(words[0]);
  const TraceSummary trace = file.summary();
  const std::optional<std::string> view = options.get("view");
  if (!view) {
    for (const char* option : {"group-by", "match", "top"})
      if (options.has(option)) usage_error(fmt::format("--{} goes with --view", option));
    report(trace, answer, style, &file);
    return ExitCode::kOk;
  }
  const ReportView& chosen_view =
      chosen("view", *view, report_views(), [](const ReportView& v) { return v.name; });
  check_takes(chosen_view, options);
  const ViewOptions wanted =
      wanted_of(options, fmt::format("--view {}", chosen_view.name), chosen_view.groupings);
  show(tables_of(chosen_view, {file, trace, wanted}), chosen_view.name, style, answer);
  return ExitCode::kOk;
}

}  // namespace superstep
