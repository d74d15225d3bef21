#pragma once

#include "compiler/vertex/lane.h"

namespace superstep::vertex {

/// A worker's contiguous share of the elements of row-major outputs, cut at whole words, and where
/// it stands in it.
class OutputBlock {
 public:
  /// `lanes`: elements of a word of the narrowest output. Branches to `done` when the worker has no
  /// element.
  OutputBlock(WorkerCode& code, Reg total, std::uint32_t lanes, Label done);

  [[nodiscard]] Reg element() const { return element_; }
  /// Moves to the next element and branches to `loop` if there is one.
  void next(Label loop);
  /// 1 in the last element.
  [[nodiscard]] Reg is_last();

 private:
  WorkerCode& code_;
  Reg element_, end_;
};

/// Writes one output of an `OutputBlock`, element after element, as whole words.
class OutputCursor {
 public:
  OutputCursor(WorkerCode& code, DType dtype, Reg address, const OutputBlock& block);

  /// Address of the next element, for four-byte dtypes.
  [[nodiscard]] Reg address() const { return address_; }
  /// Writes the next element: an integer or f16 bits in the main file, any word in either.
  void put(Reg value, OutputBlock& block);

 private:
  WorkerCode& code_;
  std::uint32_t bits_;
  Reg address_, word_, filled_;
};

/// `count` times `body` in `rpt` loops, at most `greatest` times. `body` emits bundles only;
/// `count` is used up.
template <class Body>
void repeat(WorkerCode& code, Reg count, Body&& body, std::uint64_t greatest = ~std::uint64_t{0}) {
  if (greatest <= 65535) {
    code.begin_repeat(count);
    body();
    code.end_repeat();
    return;
  }
  const Label again = code.label();
  const Reg most = code.constant(File::kM, 65535);
  code.place(again);
  const Reg less = code.m("cmpult", {count, most});
  const Reg turns = code.fresh(File::kM);
  code.move(turns, count);
  code.emit("movz", {both(turns), less, most});
  code.begin_repeat(turns);
  body();
  code.end_repeat();
  code.emit("sub", {def(count), count, turns});
  code.branch("brnz", {count}, again);
}

}  // namespace superstep::vertex
