#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "compiler/compile.h"
#include "compiler/lower/lower.h"
#include "compiler/ops/elements.h"
#include "compiler/passes/passes.h"
#include "tests/gc200.h"
#include "tests/program/plan_interpreter.h"

namespace superstep {

inline MachineConfig grid_machine(std::uint32_t rows, std::uint32_t columns) {
  MachineConfig machine = gc200();
  machine.name = "test";
  machine.grid = {rows, columns, 4};
  machine.sync.column_skew.assign(columns, 0);
  return machine;
}

/// Small whole numbers, exact in every dtype and in any order of summation.
inline HostTensor random_tensor(const TensorType& type, std::uint32_t seed) {
  std::mt19937 random(seed);
  HostTensor tensor(type);
  for (std::size_t i = 0; i < static_cast<std::size_t>(type.elements()); ++i) {
    const auto value = static_cast<std::int64_t>(random() % 7);
    if (is_float(type.dtype)) {
      write_float(tensor, i, static_cast<double>(value - 3));
    } else {
      write_int(tensor, i, type.dtype == DType::kI1 ? value % 2 : value);
    }
  }
  return tensor;
}

inline void expect_equal(const HostTensor& found, const HostTensor& expected, double tolerance) {
  ASSERT_EQ(found.type, expected.type);
  for (std::size_t i = 0; i < static_cast<std::size_t>(found.type.elements()); ++i) {
    if (is_float(found.type.dtype)) {
      const double f = read_float(found, i), e = read_float(expected, i);
      ASSERT_NEAR(f, e, tolerance * std::max(1.0, std::abs(e))) << "element " << i;
    } else {
      ASSERT_EQ(read_int(found, i), read_int(expected, i)) << "element " << i;
    }
  }
}

inline Module simplified_module(Module module) {
  module.main = fold_constants(expand_ops(std::move(module.main)));
  module.main = compare_extremes(merge_equal_ops(std::move(module.main)));
  module.main = remove_unused_ops(module.main);
  return module;
}

inline void expect_plan_computes(const std::string& text, const MachineConfig& machine,
                                 double tolerance = 0) {
  const Module module = import_stablehlo(text, "test.mlir");
  std::vector<HostTensor> arguments;
  for (const ValueId a : module.main.arguments()) {
    arguments.push_back(
        random_tensor(module.main.type(a), static_cast<std::uint32_t>(arguments.size() + 1)));
  }
  std::vector<TensorType> types;
  for (const ValueId r : module.main.results()) types.push_back(module.main.type(r));
  const std::vector<HostTensor> expected = evaluate(module.main, arguments);
  const LoweredProgram program = lower(simplified_module(module), machine);
  const std::vector<HostTensor> found = PlanInterpreter(program).run(arguments, types);
  for (std::size_t r = 0; r < types.size(); ++r) {
    SCOPED_TRACE("result " + std::to_string(r));
    expect_equal(found[r], expected[r], tolerance);
  }
}

}  // namespace superstep
