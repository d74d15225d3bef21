#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "compiler/ops/graph_builder.h"

namespace superstep {

/// An element narrower than a word as ui32, and back; others as they are.
[[nodiscard]] Tensor widened_bits(Tensor x);
[[nodiscard]] Tensor from_widened_bits(Tensor x, DType dtype);

struct NumberedRows {
  std::vector<Tensor> keys;
  Tensor numbers;
};

/// The function of a sort with LT and GT of floats as in total order, of equal zeros and one NaN:
/// so all of them have an order, with NaN behind the others.
[[nodiscard]] Graph with_ordered_floats(const Graph& comparator);

/// A region that says of two rows of scalars whether the first goes in front of the second:
/// arguments 2i and 2i + 1 are operand i of both. What follows from one row alone is its keys,
/// which are made once of all rows, so that comparing two takes no more than what is left.
class Comparator {
 public:
  explicit Comparator(const Graph& region);

  /// The keys of all rows, as `is_before` takes them.
  [[nodiscard]] std::vector<Tensor> keys(std::span<const Tensor> operands) const;
  /// By element, whether a row goes in front of another one.
  [[nodiscard]] Tensor is_before(GraphBuilder& builder, const Shape& shape,
                                 std::span<const Tensor> keys, std::span<const Tensor> other) const;
  /// Whether rows go in front of others: those with the lower number where the region does not
  /// decide. Rows with numbers from `count` are behind all others, if `decides_alone` does not
  /// hold.
  [[nodiscard]] Tensor goes_in_front(GraphBuilder& builder, const NumberedRows& rows,
                                     const NumberedRows& other, std::int64_t count) const;
  /// Operand `operand` of the rows with these keys, where it follows from them.
  [[nodiscard]] std::optional<Tensor> operand_of(std::size_t operand,
                                                 std::span<const Tensor> keys) const;
  /// Of rows of one operand, where the key has its type: whether that is another value.
  [[nodiscard]] std::optional<Tensor> differs(Tensor operand, Tensor key) const;
  /// The operand where it is the same.
  [[nodiscard]] Tensor operand_alike(Tensor key) const { return value_of(keys_[0], key); }
  /// Whether the region is one comparison of integers: rows of which neither goes in front of the
  /// other have the same key.
  [[nodiscard]] bool decides_alone() const;
  /// Whether the region is known to be a strict weak order: comparisons of integers or in total
  /// order, each later one of rows that are equal by those before.
  [[nodiscard]] bool is_order() const { return is_order(region_.results()[0]); }
  /// The key of rows as a signed word that ascends in their order, if `decides_alone` and there is
  /// one; and back.
  [[nodiscard]] std::optional<Tensor> word(Tensor key) const;
  [[nodiscard]] Tensor key_of(Tensor word) const;
  /// The key behind which there is none, if `decides_alone`; else any.
  [[nodiscard]] Tensor last_key(Tensor keys) const;

 private:
  /// How a key is kept.
  enum class Form : std::uint8_t {
    kAsIs,
    kBits,        ///< of a narrow type, as ui32
    kNumber,      ///< of an integer that is narrower, as i32
    kTotalOrder,  ///< of a float, as an integer that orders as the float does in total order
  };
  struct Key {
    ValueId value;  ///< of either row
    DType dtype;
    Form form = Form::kAsIs;
    std::optional<std::size_t> operand = {};  ///< that it is
  };

  /// How the value of a key is kept, and back.
  [[nodiscard]] static Tensor kept(const Key& key, Tensor value);
  [[nodiscard]] static Tensor value_of(const Key& key, Tensor kept);
  void find_keys();
  /// Whether the least key goes first, if `decides_alone`.
  [[nodiscard]] bool ascends() const;
  [[nodiscard]] DType key_dtype() const;
  /// With the bits flipped that make a key a word, or back: the same either way.
  [[nodiscard]] Tensor flipped(Tensor word) const;
  [[nodiscard]] Form form_of(std::size_t key) const;
  /// The key of both rows that the op compares where all of its values have an order.
  [[nodiscard]] std::optional<std::size_t> ordered_key(const Op& op) const;
  [[nodiscard]] bool is_order(ValueId value) const;
  /// Whether the op compares keys that are kept as integers instead.
  [[nodiscard]] bool compares_integers(const Op& op) const;

  const Graph& region_;
  std::vector<std::size_t> classes_;  ///< by value: equal for what is equal of equal rows
  std::vector<unsigned> rows_;        ///< by value: 1 and 2 of the rows from which it follows
  std::vector<std::optional<std::size_t>> key_of_;  ///< by value that is a key of a row
  std::vector<Key> keys_;
};

}  // namespace superstep
