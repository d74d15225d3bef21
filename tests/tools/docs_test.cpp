#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>
#include <vector>

#include "compiler/ops/op.h"
#include "isa/table.h"
#include "tests/tools/program.h"
#include "tools/command.h"
#include "tools/reference_pages.h"

namespace superstep {
namespace {

TEST(Docs, PagesAreWhatTheTablesSay) {
  for (const ReferencePage& page : reference_pages()) {
    const auto path = std::filesystem::path(SUPERSTEP_SOURCE_DIR) / "docs" / page.file;
    EXPECT_TRUE(text_of(path) == page.text())
        << path << " is stale: `superstep docs docs` writes it again";
  }
}

TEST(Docs, CheckFailsOnAPageThatWasEdited) {
  const auto folder = scratch_folder() / "pages";
  std::filesystem::copy(std::filesystem::path(SUPERSTEP_SOURCE_DIR) / "docs", folder);
  std::ofstream(folder / "isa.md", std::ios::app) << "more\n";
  const ProgramRun run = superstep("docs --check " + folder.string());
  EXPECT_EQ(run.code, 1);
  EXPECT_NE(run.err.find("isa.md"), std::string::npos);
  EXPECT_EQ(run.err.find("cli.md"), std::string::npos);
}

/// What the table of docs/views.md explains behind names of steps and tensors: `.sum`.
std::set<std::string> explained_parts() {
  const std::string page = text_of(std::filesystem::path(SUPERSTEP_SOURCE_DIR) / "docs/views.md");
  const std::size_t begin = page.find("| behind the name |");
  std::istringstream lines(page.substr(begin, page.find("\n\n", begin) - begin));
  const std::regex part("`(\\.[a-z]+)");
  std::set<std::string> parts;
  for (std::string line; std::getline(lines, line);) {
    const std::string first = line.substr(0, line.find('|', 1));
    for (std::sregex_iterator match(first.begin(), first.end(), part), end; match != end; ++match)
      parts.insert((*match)[1]);
  }
  return parts;
}

TEST(Docs, ExplainWhatTheCompilerPutsBehindNames) {
  const std::regex quoted("\"(\\.[a-z]+)\"");
  std::set<std::string> named;
  const auto compiler = std::filesystem::path(SUPERSTEP_SOURCE_DIR) / "compiler";
  for (const auto& file : std::filesystem::recursive_directory_iterator(compiler)) {
    if (file.path().extension() != ".cpp") continue;
    const std::string text = text_of(file.path());
    for (std::sregex_iterator match(text.begin(), text.end(), quoted), end; match != end; ++match)
      named.insert((*match)[1]);
  }
  EXPECT_GT(named.size(), 20u);
  EXPECT_EQ(explained_parts(), named);
}

TEST(Docs, ExplainTheNamesOfStepsOfModels) {
  const std::set<std::string> parts = explained_parts();
  const std::regex name("[a-z_0-9]+(?:\\.[0-9]+)?(\\.[a-z]+)?[0-9]*(?: \\+[0-9]+)?");
  std::set<std::string> found;
  for (const char* model : {"karate/train", "order/sort", "convolution/halves", "chars/complete"}) {
    const ProgramRun run =
        superstep("compile models/" + std::string(model) + ".mlir -m small64 --json");
    ASSERT_EQ(run.code, 0) << run.err;
    const auto document = nlohmann::json::parse(run.out);
    for (const auto& step : document["plan"]) {
      const std::string text = step["name"];
      std::smatch match;
      ASSERT_TRUE(std::regex_match(text, match, name)) << text;
      if (match[1].length() == 0) continue;
      EXPECT_TRUE(parts.contains(match[1])) << text;
      found.insert(match[1]);
    }
  }
  for (const char* part : {".arm", ".arrange", ".convert", ".copy", ".fill", ".sum", ".transpose"})
    EXPECT_TRUE(found.contains(part)) << part;
}

TEST(Docs, EveryInstructionAndCommandHasItsLine) {
  std::string isa, cli;
  for (const ReferencePage& page : reference_pages()) {
    if (page.file == "isa.md") isa = page.text();
    if (page.file == "cli.md") cli = page.text();
  }
  for (const auto& info : isa::instruction_table())
    EXPECT_NE(isa.find("| `" + std::string(info.mnemonic)), std::string::npos) << info.mnemonic;
  for (const Command& command : all_commands())
    EXPECT_NE(cli.find("## superstep " + std::string(command.name)), std::string::npos);
}

TEST(Docs, EveryOpSaysWhatItTakes) {
  std::set<std::string> costed;
  std::istringstream lines(text_of(std::filesystem::path(SUPERSTEP_SOURCE_DIR) / "docs/ops.md"));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream cells(line);
    std::vector<std::string> row;
    for (std::string cell; std::getline(cells, cell, '|');) row.push_back(cell);
    if (row.size() > 4 && row[4].find_first_not_of(' ') != std::string::npos) costed.insert(row[1]);
  }
  for (const OpDefinition* op : all_ops())
    EXPECT_TRUE(costed.contains(fmt::format(" `{}` ", op->name))) << op->name;
}

/// Without the indentation of lines.
std::string unindented(const std::string& text) {
  std::istringstream lines(text);
  std::string out;
  for (std::string line; std::getline(lines, line);) {
    out += line.substr(std::min(line.size(), line.find_first_not_of(' '))) + "\n";
  }
  return out;
}

TEST(Docs, ExamplesOfEmbeddingArePartOfProgramsThatAreBuilt) {
  const std::filesystem::path top = SUPERSTEP_SOURCE_DIR;
  const std::string page = text_of(top / "docs/embedding.md");
  std::string programs;
  for (const char* name : {"main.cpp", "embedding.cpp", "fabric.cpp"})
    programs += unindented(text_of(top / "tests/package" / name));
  constexpr std::string_view kBegin = "```cpp\n", kEnd = "```\n";
  int examples = 0;
  for (std::size_t at = 0; (at = page.find(kBegin, at)) != std::string::npos; ++examples) {
    at += kBegin.size();
    const std::string example = unindented(page.substr(at, page.find(kEnd, at) - at));
    EXPECT_NE(programs.find(example), std::string::npos) << example;
  }
  EXPECT_EQ(examples, 12);
}

TEST(Docs, EveryMachineNumberNamesItsSource) {
  for (const ReferencePage& page : reference_pages()) {
    if (page.file != "config.md") continue;
    std::istringstream lines(page.text());
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("| `") || line.find("gc200") != std::string::npos) continue;
      EXPECT_FALSE(line.ends_with("|  |")) << line;
    }
  }
}

}  // namespace
}  // namespace superstep
