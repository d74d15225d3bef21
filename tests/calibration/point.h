#pragma once

#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/files.h"

namespace superstep::test {

/// A measurement of a chip beside what the simulator takes for the same: a line of the table of
/// docs/validation.md.
struct CalibrationPoint {
  enum class Role {
    kFit,    ///< a number of the machine was chosen by it, or by a sum with it
    kCheck,  ///< none was
  };

  std::string id;    ///< V05
  std::string what;  ///< with its unit
  std::string chip;
  std::string measured, ours;
  std::string residual;  ///< (ours - measured) / measured
  Role role = Role::kCheck;
  std::string tolerance;
  bool is_met = false;
  std::string cause;  ///< whose it is where they differ, the machine's or the compiler's

  [[nodiscard]] std::string line() const {
    return fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", id, what, chip,
                       measured, ours, residual, role == Role::kFit ? "fit" : "check", tolerance,
                       is_met ? "yes" : "no", cause);
  }
};

/// One of two numbers, within so many percent or not.
inline CalibrationPoint calibration_point(std::string id, std::string what, std::string chip,
                                          double measured, double ours, double percent,
                                          std::string cause) {
  const double off = 100 * (ours - measured) / measured;
  return {.id = std::move(id),
          .what = std::move(what),
          .chip = std::move(chip),
          .measured = fmt::format("{}", measured),
          .ours = fmt::format("{}", ours),
          .residual = fmt::format("{:+.1f} %", off),
          .tolerance = fmt::format("{} %", percent),
          .is_met = off <= percent && off >= -percent,
          .cause = std::move(cause)};
}

/// docs/validation.md has a line that begins so.
inline void expect_line(const std::string& line) {
  const std::string page =
      read_text_file(std::filesystem::path(SUPERSTEP_SOURCE_DIR) / "docs/validation.md");
  EXPECT_NE(page.find("\n" + line), std::string::npos) << "docs/validation.md has no line\n"
                                                       << line;
}

inline void expect_on_page(const CalibrationPoint& point) { expect_line(point.line()); }

}  // namespace superstep::test
