#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "compiler/graph/graph.h"
#include "compiler/ops/dtype_set.h"
#include "tests/generated/bounded.h"
#include "tests/generated/random.h"

namespace superstep {

/// What operands are to be, so that there is a bound for what an op makes of them.
enum class Wants : std::uint8_t {
  kAnything,
  kExact,     ///< without an error
  kModerate,  ///< that, and numbers of ordinary size
};

/// A program while it grows: each value is evaluated as soon as it is there.
class RandomProgram {
 public:
  explicit RandomProgram(std::uint64_t seed) : random(seed) {}

  Random random;

  /// Of what `any` and `of_type` choose from now on.
  void want(Wants wants) { wants_ = wants; }
  /// An argument that is what is given.
  ValueId argument(TensorType type, Bounded value);
  /// An argument, a constant, an iota or a scalar broadcast.
  ValueId leaf(TensorType type);
  /// A value that is there and satisfies `fits`, else a leaf of a type that does; `dtypes` are the
  /// element types that may fit.
  ValueId any(DTypeSet dtypes, const std::function<bool(const TensorType&)>& fits = {});
  /// A value or a leaf of this type.
  ValueId of_type(TensorType type);
  /// Adds an op unless its results would be too large or without a bound; false then.
  bool add(std::string_view name, std::vector<ValueId> operands, Attributes attributes = {},
           std::vector<Graph> regions = {}, std::vector<TensorType> declared = {});

  [[nodiscard]] const TensorType& type(ValueId value) const { return graph_.type(value); }
  /// The newest value.
  [[nodiscard]] ValueId last() const {
    return ValueId{static_cast<std::uint32_t>(values_.size() - 1)};
  }
  [[nodiscard]] const Graph& graph() const { return graph_; }
  [[nodiscard]] const std::vector<HostTensor>& arguments() const { return arguments_; }
  [[nodiscard]] const std::vector<Bounded>& values() const { return values_; }

 private:
  [[nodiscard]] bool suits(ValueId value) const;
  void note(Bounded value);

  Graph graph_;
  std::vector<HostTensor> arguments_;
  std::vector<Bounded> values_;  ///< by value of the graph
  std::vector<Wants> kinds_;     ///< by value: the most that it satisfies
  Wants wants_ = Wants::kAnything;
};

}  // namespace superstep
