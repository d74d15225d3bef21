#pragma once

#include <cstdint>
#include <vector>

#include "compiler/vertex/codelet.h"
#include "compiler/vertex/meaning.h"
#include "compiler/vertex/vertex_state.h"

namespace superstep::vertex {

/// A product of rows with common weights on the AMP units: a block of weights is `depth` inputs by
/// `channels` columns; its sums are f32.
struct AmpProduct {
  DType operands = DType::kF32;  ///< f32 or f16
  /// f32 only: the rows of one input are neighbours, [input][row] with an even number of rows, in
  /// place of [row][input].
  bool rows_inside = false;
  bool few_rows = true;      ///< some worker may have less than three rows, `rows_inside` four
  bool accumulates = false;  ///< starts from the sums in memory, else from 0
  std::uint32_t unused_inputs = 0;  ///< last inputs of the block that are taken as 0; f32 only
  bool operator==(const AmpProduct&) const = default;

  [[nodiscard]] std::int64_t depth() const { return operands == DType::kF32 ? 8 : 16; }
  [[nodiscard]] std::int64_t channels() const { return operands == DType::kF32 ? 16 : 8; }

  /// Of one worker, for one block of weights.
  struct State {
    StateWord sums, rows;
    std::int64_t row_count = 0;
    std::int64_t pitch = 0;  ///< bytes from a row to the next (an input, for `rows_inside`)

    void append_words(const AmpProduct& product, std::vector<StateWord>& words) const;
  };

  [[nodiscard]] Codelet code(const MachineConfig& machine) const;
  /// Of one worker, with the block of weights.
  void interpret(const StateView& state, const Pointer& weights) const;
};

/// Bytes of one channel of a block of weights: [channel][input], in region 1.
inline constexpr std::int64_t kAmpChannelBytes = 32;
/// Words of vertex state of one worker: {sums, rows, repeats, strides}. Sums are
/// [row][channel], 16-byte aligned, in region 1. Rows lie in region 0: what is read and written in
/// one cycle must be in different memory elements.
inline constexpr std::int64_t kAmpStateWords = 4;

/// The third word of a worker's state for a number of rows: repeats of the loop; negative for less
/// than three, `rows_inside` four.
[[nodiscard]] std::int64_t amp_repeats(const AmpProduct& product, std::int64_t rows);
/// The last word of a worker's state for rows that lie `pitch` bytes apart (inputs, for
/// `rows_inside`).
[[nodiscard]] std::uint32_t amp_strides(const AmpProduct& product, std::int64_t pitch);
/// The greatest pitch that the strides can express.
[[nodiscard]] std::int64_t amp_max_pitch(const AmpProduct& product);

/// Multiplies one block for some rows a worker; with `rows_inside` an even number. f32: rounded
/// product, rounded sum, ascending inputs.
[[nodiscard]] Codelet amp_product(const AmpProduct& product);

/// 128-bit loads of a block of weights.
[[nodiscard]] inline std::int64_t amp_weight_loads(const AmpProduct& product) {
  return product.channels() * kAmpChannelBytes / 16;
}

/// How many of `rows` rows are a worker's: the first workers get one more, or two.
[[nodiscard]] std::int64_t amp_rows_of_worker(const AmpProduct& product, std::int64_t rows,
                                              std::int64_t workers, std::int64_t worker);

/// Whether so many rows need a codelet with `few_rows`.
[[nodiscard]] bool amp_has_few_rows(const AmpProduct& product, std::int64_t rows,
                                    std::int64_t workers);

/// Worker slots for some rows, where a matrix instruction takes `amp_slots`.
[[nodiscard]] std::int64_t amp_product_slots(const AmpProduct& product, std::int64_t rows,
                                             std::int64_t amp_slots = 1);

/// Cycles from the first instruction of the supervisor to the end of a launch of blocks: `first`
/// that start from 0, then `more` that accumulate, for rows dealt evenly to the workers.
[[nodiscard]] std::int64_t amp_launch_cycles(const MachineConfig& machine,
                                             const AmpProduct& product, std::int64_t rows,
                                             std::int64_t first, std::int64_t more);

}  // namespace superstep::vertex
