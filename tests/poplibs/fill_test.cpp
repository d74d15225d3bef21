// Slots of PopLibs' Fill and Fill2d: exactly those of its instructions, at every alignment and
// size.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/poplibs/checkout.h"
#include "tests/poplibs/device.h"

namespace superstep::poplibs {
namespace {

/// From the label that both entry points share to the branch behind a row, of 16- and 32-bit
/// elements: the paths of graphcore/poplibs lib/popops/codelets/asm/Fill.S.
std::uint64_t word_row(std::uint64_t address, std::uint64_t count, std::uint64_t width) {
  std::uint64_t slots = 2;  // aligned to 4 bytes?
  std::uint64_t bytes = count * width;
  if ((address & 2) != 0) {
    slots += 4;
    address += 2;
    bytes -= 2;
  }
  slots += 2;  // anything left?
  if (bytes != 0) {
    slots += 2;  // a word left?
    if (bytes >= 4) {
      slots += 2;  // aligned to 8 bytes?
      if ((address & 4) != 0) {
        slots += 2;
        bytes -= 4;
      }
      slots += 2 + bytes / 8;                       // the loop
      slots += 2 + ((bytes & 4) != 0 ? 1 : 0) + 2;  // a word left? a half?
      bytes &= 2;
    }
    if (bytes == 2) slots += 3;
  }
  return slots + 1;
}

/// The same of 8-bit elements.
std::uint64_t byte_row(std::uint64_t address, std::uint64_t count) {
  std::uint64_t slots = 4;  // the value four times; aligned to 4 bytes?
  std::uint64_t bytes = count;
  if ((address & 3) != 0) {
    slots += 17;
    const std::uint64_t first = std::min(bytes, 4 - (address & 3));
    bytes -= first;
    address += 4 - (address & 3);
  }
  slots += 3;  // a word left?
  std::uint64_t words = bytes / 4;
  if (words != 0) {
    slots += 2;  // enough for stores of 8 bytes?
    if (words < 17) {
      slots += 1 + words;
    } else {
      slots += 2;  // aligned to 8 bytes?
      if ((address & 4) != 0) {
        slots += 2;
        --words;
      }
      slots += 5 + 1 + words / 2 + 1;
      if (words % 2 != 0) slots += 2;
    }
  }
  slots += 1;  // bytes left?
  if (bytes % 4 != 0) slots += 10;
  return slots + 1;
}

/// Slots of a vertex with these rows, all at `offset` behind a multiple of 8.
std::uint64_t expected_slots(bool is_2d, std::size_t width, std::uint64_t offset,
                             const std::vector<std::size_t>& rows) {
  const std::uint64_t setup = width == 8 ? 3 : width == 2 ? 5 : width == 4 ? 6 : 4;
  const std::uint64_t row_setup = !is_2d ? 0 : width == 8 ? 2 : 3;
  std::uint64_t slots = setup + 1;  // and `exitz`
  if (is_2d && width == 8) slots += 1;
  for (const std::size_t count : rows) {
    slots += row_setup;
    if (width == 8) {
      slots += 1 + count + (is_2d ? 1 : 0);
    } else {
      slots += width == 1 ? byte_row(offset, count) : word_row(offset, count, width);
    }
  }
  return slots;
}

/// A vertex class of this name, linked.
class FillVertex {
 public:
  FillVertex(const Codelets& codelets, const Entry& entry)
      : entry_(entry), code_(codelets.link_entry(entry.symbol)) {}

  /// Runs it on rows at `offset` behind a multiple of 8; the slots it took, its results checked.
  [[nodiscard]] std::uint64_t slots(std::uint64_t offset,
                                    const std::vector<std::size_t>& rows) const {
    Case run(entry_, rows.front());
    run.random("in", {1}, 1, 1);
    run.random("out", rows, 0, 0);
    run.state("out").misalign = offset;
    run.place();
    const DeviceResult device = run_on_tile(run, code_, CodeletKind::kWorker);
    EXPECT_EQ(device.fault, "");
    EXPECT_EQ(device.rows, run.run_host());
    return device.cost.worker_slots.at(0);
  }

 private:
  const Entry& entry_;
  LinkedCode code_;
};

class PopLibsFill : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!poplibs_checkout()) GTEST_SKIP() << kNoPoplibs;
  }

  static const Entry& entry(const std::string& type) {
    const std::vector<Entry>& all = all_entries();
    return *std::find_if(all.begin(), all.end(),
                         [&](const Entry& entry) { return entry.type == type; });
  }
};

TEST_F(PopLibsFill, TakesTheSlotsThatPopLibsTabulates) {
  // The comments of _fillCycleEstimate, lib/popops/PerformanceEstimation.cpp.
  struct Row {
    const char* type;
    std::size_t count;
    std::uint64_t offset;
    std::uint64_t slots;
  };
  const std::vector<Row> kTable = {{"half", 1, 2, 15},  {"half", 2, 2, 20},  {"half", 4, 2, 30},
                                   {"half", 8, 2, 31},  {"half", 1, 4, 16},  {"half", 2, 4, 23},
                                   {"half", 4, 4, 24},  {"half", 8, 4, 25},  {"half", 1, 0, 16},
                                   {"half", 2, 0, 22},  {"half", 4, 0, 22},  {"half", 8, 0, 23},
                                   {"float", 1, 4, 24}, {"float", 2, 4, 25}, {"float", 4, 4, 26},
                                   {"float", 1, 0, 23}, {"float", 2, 0, 23}, {"float", 4, 0, 24}};
  for (const Row& row : kTable) {
    const FillVertex vertex(checkout_codelets(),
                            entry("popops::Fill<" + std::string(row.type) + ">"));
    EXPECT_EQ(vertex.slots(row.offset, {row.count}), row.slots)
        << row.count << " of " << row.type << " at " << row.offset;
  }
}

TEST_F(PopLibsFill, TakesTheSlotsOfItsPathAtEveryAlignmentAndSize) {
  std::size_t vertices = 0;
  for (const Entry& entry : all_entries()) {
    const bool is_2d = entry.type.starts_with("popops::Fill2d<");
    if (!is_2d && !entry.type.starts_with("popops::Fill<")) continue;
    if (!checkout_codelets().has(entry.symbol)) continue;
    ++vertices;
    const FillVertex vertex(checkout_codelets(), entry);
    const std::size_t width = entry.fields.at(0).element_bytes;
    // Bytes take stores of 8 bytes from 17 words on.
    const std::size_t sizes = width == 1 ? 90 : 40;
    for (std::uint64_t offset = 0; offset < 8; offset += width) {
      // The code for halves writes the first one of a misaligned row without asking for the size.
      const std::size_t least = is_2d || (width == 2 && offset % 4 != 0) ? 1 : 0;
      for (std::size_t count = least; count <= sizes; ++count) {
        const std::vector<std::size_t> rows =
            is_2d ? std::vector<std::size_t>{count, 1, count + 3} : std::vector<std::size_t>{count};
        ASSERT_EQ(vertex.slots(offset, rows), expected_slots(is_2d, width, offset, rows))
            << entry.type << ", " << count << " at " << offset;
      }
    }
  }
  EXPECT_EQ(vertices, 20U);
}

}  // namespace
}  // namespace superstep::poplibs
