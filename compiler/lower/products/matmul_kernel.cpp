#include "compiler/lower/products/matmul_kernel.h"

namespace superstep {

MatmulKernel MatmulKernel::of(DType input, DType result) { return {{input, result}}; }

std::int64_t MatmulKernel::cycles(const MachineConfig& machine, std::int64_t rows,
                                  std::int64_t columns, std::int64_t depth) const {
  const std::int64_t workers = machine.tile.workers;
  const std::int64_t turns = (rows * columns + workers - 1) / workers;
  // Two loads for each product, f16 is converted besides; each output starts and ends with some
  // twelve instructions.
  const std::int64_t slots = kind.input == DType::kF16 ? 4 : 2;
  return 70 + turns * workers * (slots * depth + 12);
}

std::string MatmulKernel::key() const {
  return "matmul " + std::string(name_of(kind.input)) + ' ' + std::string(name_of(kind.output));
}

}  // namespace superstep
