#include "compiler/vertex/output_block.h"

namespace superstep::vertex {

OutputBlock::OutputBlock(WorkerCode& code, Reg total, std::uint32_t lanes, Label done)
    : code_(code) {
  const std::uint32_t workers = code.machine().tile.workers;
  const std::uint32_t turn = workers * lanes;
  const Reg up = code.m("add", {total, turn - 1});
  const Reg share =
      code.m("mul", {divide_small(code, up, code.constant(File::kM, turn)).quotient, lanes});
  element_ = code.m("mul", {code.worker_id(), share});
  code.branch("brz", {code.m("cmpult", {element_, total})}, done);
  end_ = code.m("min", {code.m("add", {element_, share}), total});
}

void OutputBlock::next(Label loop) {
  code_.emit("add", {def(element_), element_, 1});
  code_.branch("brnz", {code_.m("cmpult", {element_, end_})}, loop);
}

Reg OutputBlock::is_last() { return code_.m("cmpeq", {code_.m("add", {element_, 1}), end_}); }

OutputCursor::OutputCursor(WorkerCode& code, DType dtype, Reg address, const OutputBlock& block)
    : code_(code), bits_(8 * static_cast<std::uint32_t>(size_of(dtype))) {
  address_ = code.m("add", {address, code.m("mul", {block.element(), bits_ / 8})});
  if (bits_ < 32) {
    word_ = code.constant(File::kM, 0);
    filled_ = code.constant(File::kM, 0);
  }
}

// A word fills up from above, so what is left of the word before falls out below.
void OutputCursor::put(Reg value, OutputBlock& block) {
  if (bits_ == 32) {
    code_.emit("st32", {value, address_, "$mzero", 0});
    code_.emit("add", {def(address_), address_, 4});
    return;
  }
  const Label not_yet = code_.label();
  const Reg top = code_.m("shl", {value, 32 - bits_});
  code_.emit("shr", {def(word_), word_, bits_});
  code_.emit("or", {def(word_), word_, top});
  code_.emit("add", {def(filled_), filled_, bits_});
  const Reg missing = code_.m("sub", {32, filled_});
  const Reg full = code_.m("cmpeq", {missing, 0});
  code_.branch("brz", {code_.m("or", {full, block.is_last()})}, not_yet);
  code_.emit("st32", {code_.m("shr", {word_, missing}), address_, "$mzero", 0});
  code_.emit("add", {def(address_), address_, 4});
  code_.set_constant(filled_, 0);
  code_.place(not_yet);
}

}  // namespace superstep::vertex
