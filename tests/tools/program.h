#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/scratch_folder.h"

namespace superstep {

/// The first program that the documentation runs.
inline constexpr const char* kAffine =
    "run models/quickstart/affine.mlir -m tiny4 --input models/quickstart/affine_input.h5";

/// What a run of the `superstep` program gave.
struct ProgramRun {
  int code = 0;
  std::string out, err;
};

inline std::string text_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// Runs `superstep WORDS` through a shell, from the top of the repository, without a cache;
/// `environment` may have variables, as in `COLUMNS=120`. `binary` may be another one.
inline ProgramRun superstep(const std::string& words, const std::string& environment = "",
                            const std::filesystem::path& binary = SUPERSTEP_BINARY) {
  const auto folder = scratch_folder();
  const std::string command = "cd " SUPERSTEP_SOURCE_DIR
                              " && (env -u COLUMNS XDG_CACHE_HOME=/dev/null LC_ALL=C.UTF-8 " +
                              environment + " " + binary.string() + " " + words + ") >" +
                              (folder / "stdout").string() + " 2>" + (folder / "stderr").string();
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text_of(folder / "stdout"),
          text_of(folder / "stderr")};
}

}  // namespace superstep
