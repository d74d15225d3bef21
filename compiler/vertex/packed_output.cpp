#include "compiler/vertex/packed_output.h"

#include "compiler/vertex/lane.h"

namespace superstep::vertex {

PackedOutput::PackedOutput(WorkerCode& code, DType dtype, Reg address, Reg missing)
    : code_(code), dtype_(dtype), address_(address), missing_(missing) {
  if (!is_narrow()) return;
  word_ = code.constant(File::kM, 0);
  left_ = code.constant(File::kM, 4 / static_cast<std::uint32_t>(size_of(dtype)) - 1);
}

// A word fills up from above, so what is left of the word before falls out below.
void PackedOutput::put(Reg value) {
  if (!is_narrow()) {
    code_.emit("st32step", {value, "$mzero", step(address_), 1});
    return;
  }
  if (is_short_float(dtype_)) value = rounded(code_, dtype_, value);
  if (value.file != File::kM) value = code_.to_m(value);
  const auto bits = 8 * static_cast<std::uint32_t>(size_of(dtype_));
  const Label not_yet = code_.label();
  code_.emit(bits == 8 ? "roll8r" : "roll16", {def(word_), word_, value});
  code_.branch("brnzdec", {both(left_)}, not_yet);
  code_.emit("st32step", {word_, "$mzero", step(address_), 1});
  code_.set_constant(left_, 32 / bits - 1);
  code_.place(not_yet);
}

void PackedOutput::finish() {
  if (!is_narrow()) return;
  const Label full = code_.label();
  code_.branch("brz", {missing_}, full);
  code_.emit("st32", {code_.m("shr", {word_, missing_}), address_, "$mzero", 0});
  code_.place(full);
}

std::uint32_t PackedOutput::missing_bits(DType dtype, std::uint64_t elements) {
  return static_cast<std::uint32_t>((4 - elements * size_of(dtype) % 4) % 4 * 8);
}

}  // namespace superstep::vertex
