#include <fmt/format.h>

#include <filesystem>

#include "tools/command.h"
#include "base/files.h"
#include "base/output_file.h"
#include "tools/reference_pages.h"

namespace superstep {
namespace {

/// Nothing where there is no page yet.
std::string text_of(const std::filesystem::path& path) {
  return std::filesystem::exists(path) ? read_text_file(path) : std::string();
}

}  // namespace

std::span<const AnswerField> docs_fields() {
  static constexpr AnswerField kFields[] = {
      {"files", "list", "", "pages that were written"},
  };
  return kFields;
}

Options docs_options() {
  Options options("docs DIR [options]",
                  "Writes the reference pages that follow from the tables of the code.",
                  {"superstep docs docs", "superstep docs docs --check"});
  options.flag("check", "write nothing; fail when a page is not what the tables say")
      .positionals(1, 1);
  return options;
}

ExitCode docs_command(const Options& options, Answer& answer) {
  const std::filesystem::path folder = options.words()[0];
  bool same = true;
  for (const ReferencePage& page : reference_pages()) {
    const std::filesystem::path path = folder / page.file;
    const std::string text = page.text();
    if (text_of(path) == text) continue;
    same = false;
    if (options.has("check")) {
      answer.add_problem({{path.string(), 0, 0},
                          fmt::format("is not what the tables say; `superstep docs {}` writes it",
                                      folder.string())});
    } else {
      replace_file(path, text);
      answer.print("{}\n", path.string());
      answer.fields()["files"].push_back(path.string());
    }
  }
  return same || !options.has("check") ? ExitCode::kOk : ExitCode::kFailedCheck;
}

}  // namespace superstep
