#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "compiler/vertex/expression.h"
#include "isa/machine_config.h"

namespace superstep::vertex {

/// The vertex states of one launch's workers: worker w's begins at word w * stride. A stride of 0
/// is one state for all.
struct WorkerStates {
  std::uint32_t stride = 0;
  std::vector<std::uint32_t> words;
  std::uint32_t busy = 0;  ///< the first so many states have work, the others none; 0: not known
  /// By worker, nested ones together: of what data may skip the share that it does not, if even.
  std::vector<double> shares = {};
};

/// Machine code of one worker codelet: position independent (branches are relocated by `place`),
/// entered with $mvertex_base at its worker's state.
struct Codelet {
  std::string name;  ///< unique by content, e.g. `elementwise_f32_a1b2c3`
  std::vector<std::uint32_t> words;
  std::vector<std::uint32_t> relocations;  ///< indices of words whose low 19 bits (word address)
                                           ///< get the load address / 4 added
  std::uint32_t stack_bytes = 0;           ///< per worker, used upward from $mworker_base

  /// Makes the workers' states of a launch's state, which lies at `address`; they go right behind
  /// it, at the next 8-byte boundary. Their number of words depends on addresses modulo 8 only.
  /// Empty where the launch's state is that of the workers already.
  std::function<WorkerStates(std::span<const std::uint32_t> state, std::uint32_t address)> divide;
};

/// Where the workers' states of a launch's state of `words` words at `address` go.
[[nodiscard]] constexpr std::uint32_t worker_states_address(std::uint32_t address,
                                                            std::size_t words) {
  return (address + 4 * static_cast<std::uint32_t>(words) + 7) / 8 * 8;
}

/// The codelet's words at `address` (8-byte aligned).
[[nodiscard]] std::vector<std::uint32_t> place(const Codelet& codelet, std::uint32_t address);

/// How an input of an elementwise vertex is read.
enum class Access : std::uint8_t {
  kVector,            ///< one element for each output element
  kScalar,            ///< one element for all
  kCyclic,            ///< element (start + i) mod period for output element i
  kStretched,         ///< element (start + i) / period for output element i
  kAlignedCyclic,     ///< kCyclic, where start and period are multiples of `kAlignedElements`
  kAlignedStretched,  ///< kStretched likewise
};

/// Elements that a vertex makes at a time at most.
inline constexpr std::uint32_t kAlignedElements = 4;

[[nodiscard]] constexpr bool is_cyclic(Access access) {
  return access == Access::kCyclic || access == Access::kAlignedCyclic;
}
[[nodiscard]] constexpr bool is_stretched(Access access) {
  return access == Access::kStretched || access == Access::kAlignedStretched;
}
[[nodiscard]] constexpr bool is_aligned(Access access) {
  return access == Access::kAlignedCyclic || access == Access::kAlignedStretched;
}
[[nodiscard]] constexpr bool is_repeated(Access access) {
  return is_cyclic(access) || is_stretched(access);
}

/// State words of an input with this access: its address, and where it repeats {address, start,
/// period} with start < period.
[[nodiscard]] constexpr std::uint32_t state_words(Access access) {
  return is_repeated(access) ? 3 : 1;
}

/// Bytes behind an input that a vertex may read without using them, where the input repeats or an
/// input, output or float in between is narrower; a multiple of 8. Others are read to the padding.
inline constexpr std::uint32_t kReadPast = 16;

/// Elementwise over n elements. State words: {n, output addresses…, inputs…} as 32-bit words, with
/// `state_words` of each input. Addresses are 8-byte aligned; storage is padded to 8 bytes, and the
/// codelet may write the padding and read `kReadPast`, but nothing beyond. n >= 0. A scalar input's
/// address is that of its element.
[[nodiscard]] Codelet elementwise(const MachineConfig& machine, const Expression& expression,
                                  const std::vector<Node>& outputs,
                                  const std::vector<Access>& inputs);

/// Reduces `outer x reduced x inner` (row-major, dense) over the middle axis, which is not 0. One
/// or more values are reduced together (arg-min: two). `expression` has inputs 0..k-1
/// (accumulators) and k..2k-1 (elements, of whatever dtype it takes), and k outputs. State: {outer,
/// reduced, inner, initial-value addresses (k), output addresses (k), input addresses (k)}. Element
/// order: ascending, from the initial value.
[[nodiscard]] Codelet reduce(const MachineConfig& machine, const Expression& expression,
                             const std::vector<Node>& outputs, const std::vector<DType>& dtypes);

/// `reduce` where `inner` is 1 and `reduce_by` says so, some elements at a time: with `n` of
/// `row_lanes`, those of number k mod n are reduced together, those of k = 0 from the initial
/// value, others from the operation's neutral one. The results are combined, of four (0 with 2)
/// with (1 with 3); f16 that are summed in f32 begin with the sums of 0 and 1 and of 2 and 3.
[[nodiscard]] Codelet reduce_rows(const MachineConfig& machine, const Expression& expression,
                                  const std::vector<Node>& outputs,
                                  const std::vector<DType>& dtypes, bool is_odd);
/// Elements that `reduce_rows` takes at a time: 2 f32 or 4 f16 where one operation on floats is
/// all, also a sum of f16 in f32; else 0.
[[nodiscard]] std::uint32_t row_lanes(const Expression& expression,
                                      const std::vector<Node>& outputs,
                                      const std::vector<DType>& dtypes);
/// How rows are reduced.
enum class ReduceBy : std::uint8_t {
  kColumns,  ///< by `reduce`
  kRows,     ///< by `reduce_rows`: each is a whole number of `row_lanes`
  kOddRow,   ///< by `reduce_rows`: a single one, of pairs of f32 and one more
};
[[nodiscard]] ReduceBy reduce_by(const Expression& expression, const std::vector<Node>& outputs,
                                 const std::vector<DType>& dtypes, std::uint64_t rows,
                                 std::uint64_t reduced);

/// Moves elements of `element_bytes` (1, 2, 4) by strided boxes, in any order. State: {box count,
/// address of the box table}. A box is 12 words: {to address, from address, sizes n0..n2 (outer to
/// inner), to strides s0..s2 in bytes, from strides s0..s2 in bytes, 0}. No two boxes of one call
/// write the same 32-bit word. Byte addresses need only element alignment. The table is part of the
/// state.
[[nodiscard]] Codelet copy_boxes(const MachineConfig& machine, std::uint32_t element_bytes);

/// out (rows x columns) = A (rows x depth) Bt^T, with Bt (columns x depth); all dense and
/// row-major. State: {rows, columns, depth, address of A, of Bt, of out}; depth is not 0. f32:
/// rounded product, rounded sum, ascending k. f16: products and sums in f32, rounded to the result
/// dtype (f16 or f32). Integers wrap.
[[nodiscard]] Codelet dense_product(const MachineConfig& machine, DType operands, DType result);

}  // namespace superstep::vertex
