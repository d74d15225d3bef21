#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

namespace superstep {

/// A folder of the running test's own; all of them go when the program ends.
inline std::filesystem::path scratch_folder() {
  struct Root {
    std::filesystem::path path =
        std::filesystem::path(::testing::TempDir()) / ("superstep_" + std::to_string(getpid()));
    ~Root() {
      std::error_code ignored;
      std::filesystem::remove_all(path, ignored);
    }
  };
  static const Root root;
  const auto folder = root.path / ::testing::UnitTest::GetInstance()->current_test_info()->name();
  std::filesystem::create_directories(folder);
  return folder;
}

}  // namespace superstep
