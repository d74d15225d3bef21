#pragma once

#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/vertex/expression.h"
#include "compiler/vertex/worker_code.h"

namespace superstep::vertex {

/// How a value of an expression stands in a register.
enum class Form : std::uint8_t {
  kMain,   ///< main file. Integers widened to 32 bits, i1 as 0 or 1, f32 as bits, f16 and bf16 as
           ///< bits below undefined ones
  kArith,  ///< arithmetic file. f32; f16 and bf16 widened to f32; i1 as a mask of 32 equal bits;
           ///< integers as in kMain
  kHalf,   ///< f16 and bf16 only: arithmetic file, bits below undefined ones
};

/// Rounding modes of `f32int`.
inline constexpr int kRoundEven = 0, kRoundUp = 1, kRoundDown = 2, kTruncate = 3, kRoundAway = 4;

/// Emits the code of an expression for one element at a time. What depends on constants and scalar
/// inputs only goes to the prologue.
class Lane {
 public:
  /// Loads an element of an input in a form that `load_forms` allows.
  using Load = std::function<Reg(std::uint32_t input, Form form)>;

  Lane(WorkerCode& code, const Expression& expression, const std::vector<Access>& inputs,
       Load load_scalar);

  /// Of a function that is called for few elements: nothing goes to the prologue but what all of
  /// its instructions share.
  Lane(WorkerCode& code, const Expression& function);

  /// Begins the next element: forgets what depends on the one before.
  void begin(Load load_vector);
  /// Gives an input's value from a register.
  void provide(std::uint32_t input, Form form, Reg reg);
  /// The value of a node, in a register that must not be written.
  Reg value(std::uint32_t node, Form form);
  Reg main(std::uint32_t node) { return value(node, Form::kMain); }
  Reg arith(std::uint32_t node) { return value(node, Form::kArith); }
  Reg half(std::uint32_t node) { return value(node, Form::kHalf); }
  /// The bits of a four-byte value in either file.
  Reg any_word(std::uint32_t node) {
    ensure(node);
    return has(node, Form::kMain) ? main(node) : arith(node);
  }
  /// Computes or loads a node in whatever form is cheap.
  void ensure(std::uint32_t node);
  /// Whether a node depends on constants and scalar inputs only.
  [[nodiscard]] bool is_invariant(std::uint32_t node) const { return invariant_[node]; }
  /// Whether a float is known not to be a NaN.
  [[nodiscard]] bool is_number(std::uint32_t node) const;
  /// A constant, set in the prologue.
  Reg prologue_constant(File file, std::uint32_t value);
  /// The code of a function of the expression, which is added once.
  Label subroutine(std::uint64_t function);
  /// Whether a form exists without further code.
  [[nodiscard]] bool has(std::uint32_t node, Form form) const { return forms(node)[form].valid(); }

 private:
  struct Forms {
    Reg regs[3];
    Reg& operator[](Form form) { return regs[static_cast<std::size_t>(form)]; }
    const Reg& operator[](Form form) const { return regs[static_cast<std::size_t>(form)]; }
    [[nodiscard]] bool any() const { return regs[0].valid() || regs[1].valid() || regs[2].valid(); }
  };
  using Step = Expression::Step;

  [[nodiscard]] const Forms& forms(std::uint32_t node) const {
    return invariant_[node] ? fixed_[node] : moving_[node];
  }
  Forms& forms(std::uint32_t node) { return invariant_[node] ? fixed_[node] : moving_[node]; }
  [[nodiscard]] DType dtype(std::uint32_t node) const { return expression_.steps()[node].dtype; }

  Reg convert_form(std::uint32_t node, Form form);
  Reg constant(const Step& step, Form form);
  /// Computes a node in its natural form.
  void compute(std::uint32_t node);
  void compute_float(std::uint32_t node);
  void compute_integer(std::uint32_t node);
  /// By how much a step shifts, where that is known and within the width.
  [[nodiscard]] std::optional<std::uint32_t> shift_amount(const Step& step,
                                                          std::uint32_t width) const;
  void compute_boolean(std::uint32_t node);
  void compute_compare(std::uint32_t node);
  void compute_select(std::uint32_t node);
  void compute_convert(std::uint32_t node);
  void compute_bitcast(std::uint32_t node);
  void compute_call(std::uint32_t node);
  /// Sets a float result that still has to be rounded to its dtype.
  void set_rounded(std::uint32_t node, Reg f32);

  /// IEEE 754-2019 minimum or maximum.
  Reg extreme(bool maximum, Reg x, Reg y, bool y_is_number);
  /// The same f32, or the canonical NaN.
  Reg canonical(Reg x);
  /// Truncated and saturated, NaN gives 0; in either file.
  Reg float_to_integer(Reg x, DType to);

  WorkerCode& code_;
  const Expression& expression_;
  std::map<std::pair<File, std::uint32_t>, Reg> constants_;
  std::map<std::uint64_t, Label> subroutines_;
  Load load_scalar_, load_vector_;
  std::vector<bool> invariant_;
  std::vector<Forms> fixed_, moving_;
};

/// Loads an element; `address` gives base, delta and offset operands of the load. Forms: any of
/// `dtype` (an f16 or bf16 loads as kMain or kHalf).
[[nodiscard]] Reg load_element(WorkerCode& code, DType dtype, Form form, const Arg& base,
                               const Arg& delta, const Arg& offset);
/// Loads the element at `pointer`, which goes on by `stride` elements; into `result` when that is
/// given.
Reg load_stepping(WorkerCode& code, DType dtype, Form form, Reg pointer, Reg result = {},
                  const Arg& stride = 1);
/// The form in which an element of `dtype` is best loaded or kept when `form` is wanted.
[[nodiscard]] Form loadable(DType dtype, Form form);

/// The f32 of a short float in the form kHalf, exact.
[[nodiscard]] Reg widened(WorkerCode& code, DType dtype, Reg half);
/// The nearest short float of an f32 that is no NaN but the canonical one, ties to even: an f16 in
/// the form kHalf, a bf16 in kMain.
[[nodiscard]] Reg rounded(WorkerCode& code, DType dtype, Reg f32);

/// Drops the bits of `x` that `dtype` does not have and widens again.
[[nodiscard]] Reg normalize(WorkerCode& code, Reg x, DType dtype);

/// Quotient and remainder of integers widened to 32 bits. x / 0 gives all ones, x % 0 gives x, and
/// the most negative value / -1 wraps.
struct Division {
  Reg quotient, remainder;
};
[[nodiscard]] Division divide(WorkerCode& code, Reg numerator, Reg denominator, DType dtype);

/// C fmod of two f32, bit exact.
[[nodiscard]] Reg float_remainder(WorkerCode& code, Reg x_bits, Reg y_bits);

}  // namespace superstep::vertex
