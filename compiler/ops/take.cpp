#include "compiler/ops/take.h"

#include <fmt/format.h>
#include <functional>

#include "compiler/ops/elements.h"
#include "compiler/ops/scalar_region.h"
#include "compiler/ops/step_lowerings.h"
#include "compiler/ops/verify.h"

namespace superstep {
namespace {

std::int64_t window_of(const Op& op) { return attribute<std::int64_t>(op, "window"); }

Table table_of(const Op& op, const Shape& shape) {
  return {shape, dimension_list(op, "batching", shape.size()),
          dimension_list(op, "indexed", shape.size())};
}

/// Windows of a table after a check of the offsets.
Shape windows_of(const Op& op, const TensorType& table, const TensorType& offsets) {
  const Table its = table_of(op, table.shape);
  const std::int64_t window = window_of(op);
  Shape expected;
  for (const std::int64_t d : its.batching) {
    expected.push_back(table.shape[static_cast<std::size_t>(d)]);
  }
  expected.push_back(offsets.shape.empty() ? 0 : offsets.shape.back());
  if (offsets.dtype != DType::kI32 || offsets.shape != expected) {
    malformed(op, fmt::format("the offsets are {}, expected {}", offsets.text(),
                              TensorType{DType::kI32, expected}.text()));
  }
  const std::int64_t last =
      its.indexed.empty() ? 1 : its.shape[static_cast<std::size_t>(its.indexed.back())];
  if (window < 1 || window > last) {
    malformed(op, fmt::format("the window is {}, but positions are {}", window, last));
  }
  return its.windows(expected.back(), window);
}

/// Visits windows in ascending order, those of all batches together: `begin(count)`, then the
/// elements of table and windows that belong together.
class WindowElements {
 public:
  WindowElements(Table table, std::int64_t window, const HostTensor& offsets)
      : table_(std::move(table)),
        window_(window),
        offsets_(offsets),
        count_(offsets.type.shape.back()) {}

  [[nodiscard]] std::int64_t count() const { return count_; }

  void visit(std::int64_t number, const std::function<void(std::size_t, std::size_t)>& element) {
    const Indices strides = row_major_strides(table_.shape);
    const auto along = [&](const Indices& dimensions, std::int64_t n) {
      std::int64_t at = 0;
      for (auto d = dimensions.rbegin(); d != dimensions.rend(); ++d) {
        const auto i = static_cast<std::size_t>(*d);
        at += n % table_.shape[i] * strides[i];
        n /= table_.shape[i];
      }
      return at;
    };
    const Indices rest = table_.rest();
    const std::int64_t width = table_.width();
    for (std::int64_t b = 0; b < table_.batches(); ++b) {
      const std::int64_t offset = read_int(offsets_, static_cast<std::size_t>(b * count_ + number));
      if (offset < 0) continue;
      for (std::int64_t w = 0; w < window_; ++w) {
        const std::int64_t place = along(table_.batching, b) + along(table_.indexed, offset + w);
        const std::int64_t in_windows = ((b * count_ + number) * window_ + w) * width;
        for (std::int64_t r = 0; r < width; ++r) {
          element(static_cast<std::size_t>(place + along(rest, r)),
                  static_cast<std::size_t>(in_windows + r));
        }
      }
    }
  }

 private:
  Table table_;
  std::int64_t window_;
  const HostTensor& offsets_;
  std::int64_t count_;
};

std::vector<TensorType> infer_take(const Op& op, std::span<const TensorType> operands) {
  return {{operands[0].dtype, windows_of(op, operands[0], operands[1])}};
}

std::vector<HostTensor> evaluate_take(const Op& op, std::span<const HostTensor> operands) {
  const HostTensor& table = operands[0];
  HostTensor result({table.type.dtype, windows_of(op, table.type, operands[1].type)});
  WindowElements windows(table_of(op, table.type.shape), window_of(op), operands[1]);
  for (std::int64_t n = 0; n < windows.count(); ++n) {
    windows.visit(n,
                  [&](std::size_t from, std::size_t to) { copy_element(result, to, table, from); });
  }
  return {std::move(result)};
}

std::vector<TensorType> infer_put(const Op& op, std::span<const TensorType> operands) {
  if (operands.size() % 2 == 0) malformed(op, "has no windows for some of its tables");
  const std::size_t count = operands.size() / 2;
  std::vector<TensorType> results, scalars;
  for (std::size_t i = 0; i < count; ++i) {
    const TensorType expected{operands[i].dtype, windows_of(op, operands[i], operands[count])};
    const TensorType& windows = operands[count + 1 + i];
    if (windows != expected) {
      malformed(op,
                fmt::format("windows {} are {}, expected {}", i, windows.text(), expected.text()));
    }
    results.push_back(operands[i]);
    scalars.push_back({operands[i].dtype, {}});
  }
  check_scalar_region(op, scalars);
  return results;
}

std::vector<HostTensor> evaluate_put(const Op& op, std::span<const HostTensor> operands) {
  const std::size_t count = operands.size() / 2;
  std::vector<HostTensor> tables(operands.begin(),
                                 operands.begin() + static_cast<std::ptrdiff_t>(count));
  WindowElements windows(table_of(op, tables[0].type.shape), window_of(op), operands[count]);
  for (std::int64_t n = 0; n < windows.count(); ++n) {
    std::vector<std::pair<std::size_t, std::size_t>> elements;
    windows.visit(n, [&](std::size_t to, std::size_t from) { elements.emplace_back(to, from); });
    std::vector<HostTensor> arguments;
    for (std::size_t i = 0; i < 2 * count; ++i) {
      const bool is_window = i >= count;
      const HostTensor& from = is_window ? operands[i + 1] : tables[i];
      HostTensor& argument = arguments.emplace_back(
          TensorType{from.type.dtype, {static_cast<std::int64_t>(elements.size())}});
      for (std::size_t e = 0; e < elements.size(); ++e) {
        copy_element(argument, e, from, is_window ? elements[e].second : elements[e].first);
      }
    }
    const std::vector<HostTensor> combined = evaluate_scalar_region(op.regions[0], arguments);
    for (std::size_t i = 0; i < count; ++i) {
      const bool is_one = combined[i].type.shape.empty();  // does not depend on the arguments
      for (std::size_t e = 0; e < elements.size(); ++e) {
        copy_element(tables[i], elements[e].first, combined[i], is_one ? 0 : e);
      }
    }
  }
  return tables;
}

std::vector<Vote> votes_of_take(const Op& op, const Graph& graph) {
  const TableUse use = superstep::table_of(op, graph);
  return {{.value = op.operands[0], .table = use},
          {.value = op.results[0], .table = use, .is_windows = true}};
}

std::vector<Vote> votes_of_put(const Op& op, const Graph& graph) {
  const TableUse use = superstep::table_of(op, graph);
  std::vector<Vote> votes;
  for (std::size_t i = 0; i < op.results.size(); ++i) {
    votes.push_back({.value = op.operands[i], .table = use});
    votes.push_back({.value = op.results[i], .table = use});
    votes.push_back(
        {.value = op.operands[op.results.size() + 1 + i], .table = use, .is_windows = true});
  }
  return votes;
}

}  // namespace

TableUse table_of(const Op& op, const Graph& graph) {
  const std::size_t tables = op.definition->traits.updates_operands ? op.results.size() : 1;
  return table_use(op, graph.type(op.operands[0]).shape, graph.type(op.operands[tables]).shape);
}

TableUse table_use(const Op& op, const Shape& table, const Shape& offsets) {
  return {table_of(op, table), offsets.back(), window_of(op)};
}

Attributes table_attributes(const Table& table, std::int64_t window) {
  return {{"batching", table.batching}, {"indexed", table.indexed}, {"window", window}};
}

const OpDefinition kTakeOp{
    .name = "superstep.take",
    .summary = "Windows of a table at the positions that offsets name.",
    .infer = infer_take,
    .evaluate = evaluate_take,
    .lowerings = {StepLowering{lower_take, votes_of_take, divide_take}},
    .traits = {.operands = {kAnyDType, only(DType::kI32)}},
};

const OpDefinition kPutOp{
    .name = "superstep.put",
    .summary = "Tables with windows combined into them at the positions that offsets name.",
    .infer = infer_put,
    .evaluate = evaluate_put,
    .lowerings = {StepLowering{lower_put, votes_of_put, divide_put}},
    .traits = {.operands = OperandTypes::any_number_of(kAnyDType),
               .regions = 1,
               .updates_operands = true},
};

}  // namespace superstep
