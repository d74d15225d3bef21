#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/vertex/lane.h"

namespace superstep::vertex {

/// Arithmetic of one turn in program order, on register pairs of two f32 or four f16. A turn has
/// four elements where a value is an f16, else two: an f32 then has two parts, or one.
class VectorArithmetic {
 public:
  VectorArithmetic(WorkerCode& code, const Expression& expression, const std::vector<Node>& outputs,
                   Lane& lane);

  /// Whether there are vector instructions for all that the outputs depend on.
  [[nodiscard]] bool is_possible() const;
  [[nodiscard]] bool is_used(std::uint32_t node) const { return uses_[node] > 0; }
  [[nodiscard]] std::uint32_t elements_per_turn() const { return elements_; }
  [[nodiscard]] std::uint32_t parts(DType dtype) const {
    return dtype == DType::kF16 ? 1 : elements_ / 2;
  }

  /// Gives part of an input.
  void provide(std::uint32_t node, std::uint32_t part, Reg pair);
  /// Part of a float.
  Reg value(std::uint32_t node, std::uint32_t part);
  /// What all values so far take, and labels in front of some of it.
  [[nodiscard]] const std::vector<Instruction>& instructions() const { return instructions_; }
  struct Placed {
    std::size_t before;
    Label label;
  };
  [[nodiscard]] const std::vector<Placed>& labels() const { return labels_; }

 private:
  using Step = Expression::Step;
  /// How elements stand in a pair: an f16, or the 16 bits of a mask; an f32, or its 32 bits.
  enum class Width : std::uint8_t { kHalf, kSingle };
  struct Forms {
    Reg half;
    std::array<Reg, 2> single;
  };
  /// Bounds of a `clamp`, by the bits of the constant.
  struct Bounds {
    bool maximum;
    Width width;
    std::uint64_t bits;
    Reg reg;
  };

  [[nodiscard]] const Step& step(std::uint32_t node) const { return expression_.steps()[node]; }
  [[nodiscard]] DType dtype(std::uint32_t node) const { return step(node).dtype; }
  [[nodiscard]] bool is_vector_step(std::uint32_t node) const;
  [[nodiscard]] bool is_scalar(std::uint32_t node) const { return lane_.is_invariant(node); }
  /// Whether an instruction on f16, or on masks of them, makes a node.
  [[nodiscard]] Width natural_width(std::uint32_t node) const { return widths_[node]; }
  /// The same, from that of the nodes before it.
  [[nodiscard]] Width find_width(std::uint32_t node) const;

  Reg half(std::uint32_t node);
  Reg single(std::uint32_t node, std::uint32_t part);
  Reg get(std::uint32_t node, Width width, std::uint32_t part) {
    return width == Width::kHalf ? half(node) : single(node, part);
  }
  Reg compute(std::uint32_t node, Width width, std::uint32_t part);
  Reg make_half(std::uint32_t node);
  Reg narrowed(std::uint32_t node);
  Reg widened(std::uint32_t node, std::uint32_t part);

  Reg emit(std::string_view mnemonic, const std::vector<Arg>& args);
  Reg vector(Width width, std::string_view operation, const std::vector<Arg>& args);
  /// An instruction on each register of a pair.
  Reg each_word(std::string_view mnemonic, Reg x, const std::vector<Arg>& more = {});
  /// Bits of x and of a constant.
  Reg with_bits(std::string_view mnemonic, std::uint32_t x, std::uint32_t constant,
                std::uint32_t part);
  /// `operation` of x and y; a scalar broadcasts as the first operand only.
  Reg binary(std::string_view operation, std::uint32_t x, std::uint32_t y, Width width,
             std::uint32_t part);
  /// The same where `swapped` of y and x is the same.
  Reg symmetric(std::string_view operation, std::string_view swapped, std::uint32_t x,
                std::uint32_t y, Width width, std::uint32_t part);
  Reg blend(Reg mask, Reg chosen, Reg other);
  Reg call(const Step& step, std::uint32_t part);
  Reg extreme(std::uint32_t node, Width width, std::uint32_t part);
  /// The least or greatest of what is a number, and a sum of the sizes of all: NaN where one is.
  struct Extreme {
    Reg number, sizes;
  };
  Extreme extreme_number(std::uint32_t node, Width width, std::uint32_t part);
  /// Whether a node is the least or greatest of two, and no `clamp`.
  [[nodiscard]] bool is_extreme(std::uint32_t node) const;
  Reg with_negative_zero(std::string_view operation, Reg x, Width width);
  Reg clamp_bounds(bool maximum, std::uint64_t bits, Width width);
  Reg infinity(Width width);

  WorkerCode& code_;
  const Expression& expression_;
  const std::vector<Node>& outputs_;
  Lane& lane_;
  std::uint32_t elements_ = 2;
  std::vector<std::uint32_t> uses_;  ///< by node: how many nodes and outputs take it
  std::vector<Width> widths_;        ///< natural ones, by node
  std::vector<Forms> forms_;
  std::vector<Instruction> instructions_;
  std::vector<Placed> labels_;
  std::vector<Bounds> bounds_;
  std::array<Reg, 2> infinities_;
};

}  // namespace superstep::vertex
