#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/answer.h"

namespace superstep {

/// A file of the command line: what it is there, as `--output` or `the program`, and its path.
struct NamedFile {
  std::string role;
  std::filesystem::path path;
  bool is_beside = false;  ///< made beside an output that is checked itself
};

/// Adds the files of the machine that `-m` and `--set` name to the inputs of a command.
void add_machine(std::vector<NamedFile>& inputs, const std::string& machine,
                 const std::vector<std::string>& overrides);

/// To be asked before any work: throws InputOutputError when an output cannot be made or is no
/// regular file, and UserError (usage) when it is `-`, the same file as an input or another output,
/// or of a run that lasts, all problems at once. Links are followed.
void check_outputs(const std::vector<NamedFile>& inputs, const std::vector<NamedFile>& outputs);

/// Whether an output is standard output, `-`; throws UserError (usage) where the document of
/// `--json` goes there.
[[nodiscard]] bool is_standard_output(const std::filesystem::path& output, const Answer& answer);

/// What a trace at `path` writes: the file, and the `.part` and the lock of a run that lasts.
[[nodiscard]] std::vector<NamedFile> trace_outputs(const std::string& role,
                                                   const std::filesystem::path& path);

}  // namespace superstep
