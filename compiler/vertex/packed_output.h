#pragma once

#include "base/dtype.h"
#include "compiler/vertex/worker_code.h"

namespace superstep::vertex {

/// Writes a worker's results of one dtype one after the other, as whole words: there are no
/// narrower stores.
class PackedOutput {
 public:
  /// `missing`: how many bits the last word lacks, 0 for a worker without results; only for dtypes
  /// narrower than a word.
  PackedOutput(WorkerCode& code, DType dtype, Reg address, Reg missing = {});

  /// Writes the next element: f32 in either file, short floats as f32, all others in the main file.
  void put(Reg value);
  /// Writes what is left of the last word.
  void finish();

  [[nodiscard]] Reg address() const { return address_; }

  /// The `missing` bits of `elements` results.
  [[nodiscard]] static std::uint32_t missing_bits(DType dtype, std::uint64_t elements);

 private:
  [[nodiscard]] bool is_narrow() const { return size_of(dtype_) < 4; }

  WorkerCode& code_;
  DType dtype_;
  Reg address_, missing_;
  Reg word_,
      left_;  ///< the word that fills up, and how many elements it still gets behind the next
};

}  // namespace superstep::vertex
