#include "compiler/vertex/amp_product.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "compiler/vertex/number.h"
#include "compiler/vertex/worker_code.h"

namespace superstep::vertex {
namespace {

/// What the main pipe does beside one AMP phase.
struct Slot {
  std::uint32_t phase = 0;
  std::uint32_t row = 0;    ///< of two that take turns with `rows_inside`
  bool fill = false;        ///< no row yet, only sums enter
  bool drain = false;       ///< no row any more
  bool sums_enter = false;  ///< sums of the next row enter here
  bool load_row = false;    ///< inputs of the phase after the next
  bool load_sums = false;   ///< sums that enter at the phase after the next
  bool store = false;       ///< what left one phase ago
};

/// The codelet as text. A phase takes its operands from registers that were loaded two phases ago;
/// sums are stored two rows and one phase after they were loaded, 19 pairs further down, so that in
/// region 1 the two accesses fall on different elements of an interleaved pair.
class AmpProductWriter {
 public:
  AmpProductWriter(const AmpProduct& product, bool padded)
      : product_(product), padded_(padded), phases_(product.operands == DType::kF32 ? 8 : 4) {}

  /// Whether the body of the loop begins at a multiple of 8, as it must.
  [[nodiscard]] bool is_aligned() const { return loop_word_ % 2 == 0; }

  std::string text() {
    // The repeats of the loop are negative for few rows.
    if (product_.accumulates) {
      line("ld32 $m3, $mvertex_base, $mzero, 2");
    } else {
      line("{ ld32 $m3, $mvertex_base, $mzero, 2 ; setzi $a0, 8 }");
    }
    if (product_.few_rows) line("brneg $m3, few");
    load_state();
    if (product_.accumulates) fill(false);
    many_rows();
    if (!product_.few_rows) return std::move(text_);
    line("few:");
    line("add $m3, $m3, 2");
    line("brneg $m3, done");
    load_state();
    if (product_.accumulates) {
      fill(true);
    } else {
      line("brz $m3, one");
    }
    two_rows();
    one_row();
    line("done: exitz $mzero");
    return std::move(text_);
  }

 private:
  // $m0:1 rows and sums to load, $m2 strides, $m3 count, $m4:5 packed addresses, $m6 sums to store.
  // $a0:3 and $a4:7 {inputs, sums} of even and odd phases, $a10:11 results, $a12:13 not used.

  void line(std::string_view text) {
    (text_ += text) += '\n';
    words_ += text.ends_with(':') ? 0 : text.starts_with('{') ? 2 : 1;
  }

  [[nodiscard]] static std::string load_word(int reg, int word) {
    return fmt::format("ld32 $m{}, $mvertex_base, $mzero, {}", reg, word);
  }

  void load_state() {
    const auto load = [&](const std::string& main, const char* aux) {
      line(*aux == 0 ? main : "{ " + main + " ; " + aux + " }");
    };
    // The body of the loop must begin at a multiple of 8.
    const char* pad = padded_ ? "fnop" : "";
    std::vector<std::string> words{load_word(0, 1), load_word(2, 3), load_word(6, 0)};
    if (product_.accumulates) {
      load(load_word(1, 0), pad);
      while (words.size() > phases_ / 2 - 1) {
        line(words.front());
        words.erase(words.begin());
      }
      line("ld128step $a0:3, $mzero, $m1+=, 1");
      while_filling_ = std::move(words);
    } else {
      load(load_word(1, 0), "uput $FP_CLR, $a0");
      load(words[0], pad);
      load(words[1], "");
      load(words[2], "");
      // The loads of sums that go with these read the worker's own rows.
      load_raw(0, 0, true);
      load_raw(1, 0, true);
    }
  }

  /// Sums enter; they come four at a time, which leaves every other slot to words of the state.
  void fill(bool maybe_one) {
    Slot slot{.fill = true, .sums_enter = true};
    for (slot.phase = 0; slot.phase + 2 < phases_; ++slot.phase) {
      const std::uint32_t to = filling(slot.phase + 2);
      bundle(slot.phase % 2 == 0 ? fmt::format("ld128step $a{}:{}, $mzero, $m1+=, 1", to, to + 3)
                                 : while_filling_[slot.phase / 2],
             slot);
    }
    if (maybe_one) line("brz $m3, one");
    slot.load_row = slot.load_sums = true;
    for (; slot.phase < phases_; ++slot.phase) emit_raw(slot);
  }

  /// Phases of one row.
  struct Row {
    std::uint32_t row = 0;
    bool sums_enter = false;
    bool load_sums_of_next = false;
    bool load_next_row = true;
    bool store = true;
  };
  [[nodiscard]] Slot slot_of(const Row& row, std::uint32_t phase) const {
    const bool same = phase + 2 < phases_;
    return {.phase = phase,
            .row = row.row,
            .sums_enter = row.sums_enter,
            .load_row = same || row.load_next_row,
            .load_sums = same ? row.sums_enter : row.load_sums_of_next,
            .store = row.store};
  }
  void rows_raw(const Row& row, std::uint32_t first, std::uint32_t last) {
    for (std::uint32_t p = first; p < last; ++p) emit_raw(slot_of(row, p));
  }
  void rows_packed(const Row& row, std::uint32_t first, std::uint32_t last) {
    for (std::uint32_t p = first; p < last; ++p) emit_packed(slot_of(row, p));
  }

  /// Rows in the loop: one, or two that take turns.
  [[nodiscard]] std::uint32_t turns() const { return product_.rows_inside ? 2 : 1; }

  void pack() { line("tapack $m4:5, $m0, $m1, $m6"); }

  void many_rows() {
    const bool sums = product_.accumulates;
    const std::uint32_t odd = product_.rows_inside ? 1 : 0;
    const Row all{.row = 0, .sums_enter = sums, .load_sums_of_next = sums};
    Row odd_row = all, first = all;
    odd_row.row = odd;
    first.store = false;
    rows_raw(first, 0, phases_);
    Row second = odd_row;
    second.store = false;
    rows_raw(second, 0, 1);
    pack();
    const std::uint32_t bundles = phases_ * turns();
    line(fmt::format("rpt $m3, {}", bundles - 1));
    loop_word_ = words_;
    rows_packed(odd_row, 1, phases_);
    if (product_.rows_inside) {
      rows_packed(all, 0, phases_);
      rows_packed(odd_row, 0, 1);
      rows_packed(odd_row, 1, phases_);
      rows_packed(all, 0, 1);
    } else {
      rows_packed(all, 0, 1);
    }
    Row last_but_one = all;
    last_but_one.load_sums_of_next = false;
    rows_packed(last_but_one, 1, phases_);
    const Row last{.row = odd, .sums_enter = false, .load_next_row = false};
    rows_packed(last, 0, 1);
    line("last:");
    rows_packed(last, 1, phases_);
    Slot slot{.drain = true, .store = true};
    emit_packed(slot);
    line("drain:");
    for (slot.phase = 1; slot.phase < phases_; ++slot.phase) emit_packed(slot);
    line("st64pace $a10:11, $m4:5+=, $m2, 0");
    line("exitz $mzero");
  }

  void two_rows() {
    const bool sums = product_.accumulates;
    const Row first{.row = 0, .sums_enter = sums, .store = false};
    rows_raw(first, 0, phases_ - 2);
    // Loads of sums that go with those of rows read the worker's own.
    line("mov $m1, $m6");
    rows_raw(first, phases_ - 2, phases_);
    rows_raw({.row = product_.rows_inside ? 1U : 0U, .load_next_row = false, .store = false}, 0, 1);
    pack();
    line("bri last");
  }

  void one_row() {
    line("one:");
    if (product_.rows_inside) {
      // There are always two.
      line("exitz $mzero");
      return;
    }
    if (product_.accumulates) {
      line("mov $m1, $m6");
      for (std::uint32_t p = phases_ - 2; p < phases_; ++p) {
        emit_raw({.phase = p, .fill = true, .sums_enter = true, .load_row = true});
      }
    }
    rows_raw({.load_next_row = false, .store = false}, 0, phases_);
    emit_raw({.drain = true});
    pack();
    line("bri drain");
  }

  [[nodiscard]] std::uint32_t quad(std::uint32_t phase) const { return phase % 2 * 4; }
  /// The first register of the sums that enter at a phase without a row.
  [[nodiscard]] std::uint32_t filling(std::uint32_t phase) const { return phase % 4 * 2; }

  /// The inputs of a phase: how their address steps afterwards.
  [[nodiscard]] std::uint32_t row_selector(std::uint32_t phase, std::uint32_t row) const {
    const bool last = phase + 1 == phases_;
    if (product_.rows_inside) return !last ? 1 : row == 0 ? 2 : 3;
    if (product_.operands != DType::kF32) return last ? 1 : 0;
    return last ? 1 : phase % 2 == 0 ? 2 : 0;
  }

  /// Loads for `target` of a row, which is the next one's when the phase has wrapped round.
  void load_raw(std::uint32_t target, std::uint32_t row, bool sums) {
    line(raw_load(target, row, sums));
  }
  [[nodiscard]] std::string raw_load(std::uint32_t target, std::uint32_t row, bool sums) const {
    const std::uint32_t at = quad(target);
    const std::uint32_t to = sums && product_.accumulates ? at + 2 : 12;
    return fmt::format("ld2x64pace $a{}:{}, $a{}:{}, $m0:1+=, $m2, {}", at, at + 1, to, to + 1,
                       row_selector(target, row));
  }

  [[nodiscard]] std::uint32_t target(const Slot& slot) const { return (slot.phase + 2) % phases_; }
  [[nodiscard]] std::uint32_t target_row(const Slot& slot) const {
    const bool wraps = slot.phase + 2 >= phases_ && !slot.fill;
    return product_.rows_inside && wraps ? 1 - slot.row : slot.row;
  }

  void emit_raw(const Slot& slot) {
    SUPERSTEP_CHECK(!slot.store, "stores need packed addresses");
    SUPERSTEP_CHECK(slot.load_row || !slot.load_sums, "sums come with inputs");
    bundle(slot.load_row ? raw_load(target(slot), target_row(slot), slot.load_sums) : "nop", slot);
  }

  void emit_packed(const Slot& slot) {
    SUPERSTEP_CHECK(slot.store, "nothing to store");
    const std::uint32_t at = quad(target(slot));
    const std::uint32_t step = slot.load_row ? row_selector(target(slot), target_row(slot)) : 0;
    if (slot.load_sums) {
      SUPERSTEP_CHECK(slot.load_row, "sums come with inputs");
      bundle(fmt::format("ld2xst64pace $a{}:{}, $a10:11, $m4:5+=, $m2, {}", at, at + 3, step),
             slot);
    } else if (slot.load_row) {
      bundle(fmt::format("ldst64pace $a{}:{}, $a10:11, $m4:5+=, $m2, {}", at, at + 1, step), slot);
    } else {
      bundle("st64pace $a10:11, $m4:5+=, $m2, 0", slot);
    }
  }

  void bundle(const std::string& main, const Slot& slot) {
    const std::uint32_t at = quad(slot.phase);
    const bool f32 = product_.operands == DType::kF32;
    const bool is_zero = slot.fill || slot.drain || slot.phase + product_.unused_inputs >= phases_;
    std::string input = f32 ? "$azero" : "$azeros";
    if (!is_zero && f32) {
      input = fmt::format("$a{}", at + (product_.rows_inside ? slot.row : slot.phase % 2));
    } else if (!is_zero) {
      input = fmt::format("$a{}:{}", at, at + 1);
    }
    const std::uint32_t from = slot.fill ? filling(slot.phase) : at + 2;
    const std::string sums = slot.sums_enter && product_.accumulates
                                 ? fmt::format("$a{}:{}", from, from + 1)
                                 : "$azeros";
    line(fmt::format("{{ {} ; {} $a10:11, {}, {}, {} }}", main,
                     f32 ? "f32sisov2amp" : "f16v4sisoamp", input, sums, slot.phase));
  }

  const AmpProduct product_;
  bool padded_;
  std::uint32_t words_ = 0, loop_word_ = 0;
  std::uint32_t phases_;
  std::vector<std::string> while_filling_;  ///< loads of words of the state
  std::string text_;
};

std::int64_t phases_of(const AmpProduct& product) {
  return product.operands == DType::kF32 ? 8 : 4;
}

}  // namespace

std::uint32_t amp_strides(const AmpProduct& product, std::int64_t pitch) {
  SUPERSTEP_CHECK(pitch % 8 == 0 && pitch <= amp_max_pitch(product), "a pitch beyond the strides");
  const std::int64_t unit = pitch / 8, phases = phases_of(product);
  const auto field = [](std::int64_t value, int shift) {
    return (static_cast<std::uint32_t>(value) & 0x3ffU) << shift;
  };
  if (product.rows_inside) {
    return field(unit, 0) | field((1 - phases) * unit, 10) | field((1 - phases) * unit + 1, 20);
  }
  // From the last inputs of a row to the first of the next; the second selector stays in place.
  return field(unit - 3, 0);
}

std::int64_t amp_max_pitch(const AmpProduct& product) {
  return product.rows_inside ? 512 / 7 * 8 : (511 + 3) * 8;
}

Codelet amp_product(const AmpProduct& product) {
  SUPERSTEP_CHECK(product.operands == DType::kF32 || product.operands == DType::kF16,
                  "AMP products of floats");
  AmpProductWriter writer(product, false), padded(product, true);
  const std::string text = writer.text(), padded_text = padded.text();
  return assembled("amp_product", writer.is_aligned() ? text : padded_text);
}

Codelet AmpProduct::code(const MachineConfig&) const { return amp_product(*this); }

void AmpProduct::State::append_words(const AmpProduct& product,
                                     std::vector<StateWord>& words) const {
  words.push_back(sums);
  words.push_back(rows);
  words.push_back(StateWord::number(amp_repeats(product, row_count)));
  words.push_back(StateWord::number(amp_strides(product, pitch)));
}

void AmpProduct::interpret(const StateView& state, const Pointer& weights) const {
  const std::int64_t live = depth() - unused_inputs;
  const auto size = static_cast<std::int64_t>(size_of(operands));
  const std::int64_t first_stride = (state.number(3) & 0x3ff) * 8, repeats = state.number(2);
  const std::int64_t row = rows_inside ? size : first_stride + 24;
  const std::int64_t input = rows_inside ? first_stride : size;
  const std::int64_t rows = rows_inside && repeats >= 0 ? 2 * repeats + 4 : repeats + 3;
  const auto number = [&](const Pointer& at) {
    std::uint64_t bits = 0;
    at.read(&bits, static_cast<std::size_t>(size));
    return static_cast<float>(float_of(operands, bits));
  };
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < channels(); ++c) {
      const Pointer sum = state.pointer(0).plus((r * channels() + c) * 4);
      float total = accumulates ? sum.get<float>() : 0;
      const auto term = [&](std::int64_t k) {
        return number(state.pointer(1).plus(r * row + k * input)) *
               number(weights.plus(c * kAmpChannelBytes + k * size));
      };
      if (operands == DType::kF32) {
        for (std::int64_t k = 0; k < live; ++k) total += term(k);
      } else {
        for (std::int64_t k = 0; k < live; k += 4) {
          total += (term(k) + term(k + 1)) + (term(k + 2) + term(k + 3));
        }
      }
      sum.write(&total, sizeof total);
    }
  }
}

std::int64_t amp_product_slots(const AmpProduct& product, std::int64_t rows,
                               std::int64_t amp_slots) {
  if (rows == 0) return 5;
  const std::int64_t phases = phases_of(product);
  if (amp_slots > 1) {
    // Sums enter before the first row and leave behind the last one.
    const std::int64_t turns = rows + (product.accumulates ? 2 : 1);
    return amp_product_slots(product, rows) + (amp_slots - 1) * phases * turns;
  }
  // Until the first row: state and loads of two phases, or state, of which some words come while
  // sums enter and no row does.
  const std::int64_t start = product.accumulates ? 8 + phases - phases / 2 : 8, few = 3;
  const std::int64_t end = phases + 2;
  if (!product.few_rows) return start - 1 + phases * rows + 2 + end;
  if (rows == 1) return start + few + (product.accumulates ? 1 : 0) + phases + 2 + end;
  if (rows == 2) return start + few + 2 * phases + 3 + end;
  return start + phases * rows + 2 + end;
}

std::int64_t amp_repeats(const AmpProduct& product, std::int64_t rows) {
  return product.rows_inside && rows >= 4 ? (rows - 4) / 2 : rows - 3;
}

bool amp_has_few_rows(const AmpProduct& product, std::int64_t rows, std::int64_t workers) {
  // The last worker has the least.
  return amp_repeats(product, amp_rows_of_worker(product, rows, workers, workers - 1)) < 0;
}

std::int64_t amp_rows_of_worker(const AmpProduct& product, std::int64_t rows, std::int64_t workers,
                                std::int64_t worker) {
  const std::int64_t unit = product.rows_inside ? 2 : 1;
  const std::int64_t units = (rows + unit - 1) / unit;
  return (units / workers + (worker < units % workers ? 1 : 0)) * unit;
}

std::int64_t amp_launch_cycles(const MachineConfig& machine, const AmpProduct& product,
                               std::int64_t rows, std::int64_t first, std::int64_t more) {
  const std::int64_t workers = machine.tile.workers;
  const auto block = [&](bool accumulates) {
    AmpProduct of = product;
    of.accumulates = accumulates;
    of.few_rows = amp_has_few_rows(product, rows, workers);
    std::int64_t last_exit = 0;
    for (std::int64_t w = 0; w < workers; ++w) {
      const std::int64_t slots =
          amp_product_slots(of, amp_rows_of_worker(product, rows, workers, w), machine.amp_slots());
      last_exit = std::max(last_exit, w + machine.issue_period() * slots);
    }
    return 1 + amp_weight_loads(product) + machine.costs.runall + last_exit;
  };
  // The supervisor waits for the address of the weights, then at each block and at the end for the
  // workers; what else it does, it does before they begin.
  return machine.costs.result_latency + 1 + first * block(false) + more * block(true) + 1;
}

}  // namespace superstep::vertex
