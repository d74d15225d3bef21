#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/vertex/codelet.h"
#include "compiler/vertex/instruction.h"

namespace superstep::vertex {

/// General registers of each file that the allocator hands out, and how many of them carry values
/// from and to the stack when some live there.
inline constexpr std::int32_t kMRegisters = 12, kMRegistersOfCallers = 10, kARegisters = 14,
                              kSpillRegisters = 3;

/// A name for a codelet that is equal for equal words.
[[nodiscard]] std::string content_name(const std::string& prefix,
                                       const std::vector<std::uint32_t>& words);
/// The codelet of hand-written assembly.
[[nodiscard]] Codelet assembled(const std::string& name, const std::string& text);

struct Assignment;

/// Builds the code of one worker codelet from instructions over virtual registers.
class WorkerCode {
 public:
  /// A step of the code: what is emitted, or a mark between.
  struct Item {
    enum class Kind : std::uint8_t { kCode, kLabel, kRepeat, kEndRepeat };
    Kind kind = Kind::kCode;
    std::vector<Instruction> parts;  ///< one, or main and aux
    std::uint32_t label = ~0U;       ///< placed

    /// Whether the next item is not the only one that may follow.
    [[nodiscard]] bool ends_block() const {
      return kind == Kind::kCode && (parts[0].is_branch() || parts[0].never_falls_through());
    }
    /// Where it branches to.
    [[nodiscard]] std::optional<std::uint32_t> target() const;
  };

  explicit WorkerCode(MachineConfig machine) : machine_(std::move(machine)) {}

  [[nodiscard]] const MachineConfig& machine() const { return machine_; }
  [[nodiscard]] Reg fresh(File file);

  void emit(std::string_view mnemonic, std::initializer_list<Arg> args);
  void emit(Instruction instruction);
  /// One slot: a main and an aux instruction.
  void bundle(Instruction main, Instruction aux);
  /// Emits `mnemonic result, args...` and gives the new result register.
  Reg m(std::string_view mnemonic, std::initializer_list<Arg> args) {
    return result(File::kM, mnemonic, args);
  }
  Reg a(std::string_view mnemonic, std::initializer_list<Arg> args) {
    return result(File::kA, mnemonic, args);
  }
  /// A register with this constant.
  Reg constant(File file, std::uint32_t value);
  void set_constant(Reg r, std::uint32_t value);
  /// `to = from` in one register file.
  void move(Reg to, Reg from);
  /// Lets the last instruction write `to` if it writes `from` now.
  [[nodiscard]] bool retarget(Reg from, Reg to);
  /// Bits from the main register file to the arithmetic one: through the worker's stack, there is
  /// no instruction.
  Reg to_a(Reg m);
  Reg to_m(Reg a) { return m("atom", {a}); }

  [[nodiscard]] Label label() { return {labels_++}; }
  void place(Label label);
  /// `mnemonic args..., label`.
  void branch(std::string_view mnemonic, std::initializer_list<Arg> args, Label target);
  /// Repeats what is emitted until `end_repeat` `count` times (0..65535).
  /// Single instructions become bundles; a body of more than 256 does not finish.
  void begin_repeat(Reg count);
  void end_repeat();
  /// Repeats `body` as often as `count` says, whose upper 16 bits are in `upper`; it emits the same
  /// each time.
  template <class Body>
  void repeat_long(Reg count, Reg upper, const Body& body) {
    const Label done = label(), again = label();
    const auto repeat = [&](Reg turns) {
      begin_repeat(turns);
      body();
      end_repeat();
    };
    repeat(count);
    branch("brz", {upper}, done);
    const Reg chunks = m("add", {upper, -1});
    place(again);
    repeat(constant(File::kM, 65535));
    repeat(constant(File::kM, 1));
    branch("brnzdec", {both(chunks)}, again);
    place(done);
  }

  /// Makes code that `call` enters, with its argument in the first word of the stack, where it
  /// leaves its result. All other registers and words are as before.
  Label subroutine(WorkerCode code);
  void call(Label subroutine) { branch("call", {"$mlink"}, subroutine); }

  /// Later instructions go to the prologue, in front of everything else, until `end_prologue`;
  /// calls nest.
  void begin_prologue() { ++prologue_depth_; }
  void end_prologue() { --prologue_depth_; }

  /// Ends the worker.
  void exit() { emit("exitz", {"$mzero"}); }

  /// Allocates registers and assembles; nothing when pinned values (those of `rpt` bodies and
  /// counters) do not fit.
  [[nodiscard]] std::optional<Codelet> try_finish(const std::string& prefix);
  [[nodiscard]] Codelet finish(const std::string& prefix);

 private:
  struct Line;
  class Carriers;

  /// Main registers that the allocator hands out; calls take one more and the stack pointer is
  /// above it.
  [[nodiscard]] std::int32_t m_registers() const {
    return is_called_ || !subroutines_.empty() ? kMRegistersOfCallers : kMRegisters;
  }
  Reg result(File file, std::string_view mnemonic, std::initializer_list<Arg> args);
  std::vector<Item>& items() { return prologue_depth_ > 0 ? prologue_ : body_; }
  [[nodiscard]] std::uint32_t slots_of(const Item& item) const;
  /// Straight-line code in a new order, with bundles; the last item may be a branch.
  [[nodiscard]] std::vector<Item> list_scheduled(std::vector<Item> block) const;
  /// Straight-line code as it is, with bundles of neighbours.
  [[nodiscard]] static std::vector<Item> paired(std::vector<Item> block);
  /// Everything with bundles: those of repeat bodies, and with `reorder` wherever two pipes have
  /// work at a time.
  [[nodiscard]] std::vector<Item> bundled(const std::vector<Item>& items, bool reorder) const;
  [[nodiscard]] static std::size_t longest_repeat(const std::vector<Item>& items);
  /// Registers for everything, in an order that needs no more than there are.
  [[nodiscard]] std::pair<std::vector<Item>, Assignment> allocated() const;
  /// Machine code, with values on the stack from a word on.
  [[nodiscard]] std::vector<Line> encoded(const std::vector<Item>& items,
                                          const Assignment& assignment,
                                          std::uint32_t first_word) const;
  [[nodiscard]] static Codelet linked(const std::vector<Line>& lines, std::uint32_t labels);
  /// Adds a subroutine that saves what registers it writes from a word of the stack on. The next
  /// free word.
  [[nodiscard]] std::uint32_t append(const WorkerCode& subroutine, std::uint32_t first_word,
                                     std::uint32_t first_label, std::vector<Line>& lines) const;

  MachineConfig machine_;
  std::uint32_t registers_ = 0;
  std::vector<Item> prologue_, body_;
  std::uint32_t labels_ = 0;
  int prologue_depth_ = 0;
  std::vector<WorkerCode> subroutines_;
  std::vector<Label> entries_;  ///< of subroutines
  bool is_called_ = false;
};

}  // namespace superstep::vertex
