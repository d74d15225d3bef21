#pragma once

#include <cstdint>
#include <vector>

#include "compiler/vertex/worker_code.h"

namespace superstep::vertex {

/// The time a virtual register holds a value. Positions: instruction i reads at 2i and writes at
/// 2i + 1, so a result may take the register of an operand that ends there.
struct Interval {
  Reg reg;
  std::uint32_t first = 0, last = 0;
  bool pinned = false;  ///< cannot live on the stack
  double uses = 0;      ///< ten times as many for each loop around

  [[nodiscard]] double density() const { return uses / (last - first + 1); }
};

/// Of all registers that are used, sorted by their beginning. An interval has no holes.
[[nodiscard]] std::vector<Interval> live_intervals(const std::vector<WorkerCode::Item>& items,
                                                   std::size_t registers, std::uint32_t labels);

/// Where virtual registers are, by number.
struct Assignment {
  std::vector<std::int32_t> machine;  ///< register number, or -1
  std::vector<std::int32_t> slot;     ///< stack word, or -1; that of a pair is even
  std::uint32_t slots = 0;
  /// Registers above the others of the arithmetic file that carry values from and to the stack.
  std::int32_t carriers = 0;
  bool ok = true;
};

/// What may live on the stack where there are too few registers.
enum class Spill : std::uint8_t { kNothing, kWords, kWordsAndPairs };

/// Linear scan over intervals that are sorted by their beginning, with so many registers of the
/// main file. What has the fewest uses for the time it lives goes to the stack, pairs only where
/// nothing else can.
[[nodiscard]] Assignment linear_scan(const std::vector<Interval>& intervals, std::size_t registers,
                                     std::int32_t main_registers, Spill spill);

}  // namespace superstep::vertex
