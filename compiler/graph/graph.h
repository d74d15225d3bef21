#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/dtype.h"
#include "isa/op_location.h"

namespace superstep {

struct OpDefinition;

enum class ValueId : std::uint32_t {};
constexpr std::uint32_t index(ValueId v) { return static_cast<std::uint32_t>(v); }

/// A tensor that copies of an op have in common.
class SharedTensor {
 public:
  SharedTensor(HostTensor tensor)
      : tensor_(std::make_shared<const HostTensor>(std::move(tensor))) {}
  [[nodiscard]] const HostTensor& get() const { return *tensor_; }

 private:
  std::shared_ptr<const HostTensor> tensor_;
};

/// An attribute as the module wrote it; each op's `infer` checks the ones it knows.
using Attribute = std::variant<bool, std::int64_t, double, std::string, std::vector<std::int64_t>,
                               std::vector<std::string>, SharedTensor>;
using Attributes = std::map<std::string, Attribute, std::less<>>;

class Graph;

/// One op. Operands and results are values of the graph that holds the op.
struct Op {
  const OpDefinition* definition = nullptr;
  std::vector<ValueId> operands;
  std::vector<ValueId> results;
  Attributes attributes;
  std::vector<Graph> regions;
  OpLocation location;
  /// The types that the module gives the results; empty when it gives none. Ops whose results do
  /// not follow from their operands need them.
  std::vector<TensorType> declared;
};

/// A tensor of a graph: the result of an op, or an argument.
struct Value {
  TensorType type;
  std::string name;                       ///< as the module wrote it, without %
  std::optional<std::uint32_t> producer;  ///< index into ops(); empty for arguments
};

/// Ops in an order in which each follows what it uses. Regions are graphs whose ops see only their
/// own values.
class Graph {
 public:
  ValueId add_argument(TensorType type, std::string name);
  /// Appends an op; its results get the types that `infer_types` finds. Throws MalformedInput
  /// or Unsupported located at the op.
  const Op& add_op(Op op, const std::vector<std::string>& result_names = {});
  void set_results(std::vector<ValueId> results) { results_ = std::move(results); }

  [[nodiscard]] const Value& value(ValueId v) const { return values_[index(v)]; }
  [[nodiscard]] const TensorType& type(ValueId v) const { return value(v).type; }
  /// The op that makes a value, until one is added; null for an argument.
  [[nodiscard]] const Op* producer_of(ValueId v) const {
    const std::optional<std::uint32_t>& producer = value(v).producer;
    return producer ? &ops_[*producer] : nullptr;
  }
  [[nodiscard]] const std::vector<Value>& values() const { return values_; }
  [[nodiscard]] const std::vector<Op>& ops() const { return ops_; }
  [[nodiscard]] const std::vector<ValueId>& arguments() const { return arguments_; }
  [[nodiscard]] const std::vector<ValueId>& results() const { return results_; }

 private:
  std::vector<Value> values_;
  std::vector<Op> ops_;
  std::vector<ValueId> arguments_, results_;
};

/// A module after import: calls of private functions are inlined into `main`.
struct Module {
  std::string name;
  Graph main;
  std::vector<std::optional<std::uint32_t>>
      argument_alias;  ///< by argument: the result that takes its storage
  /// As the program names them (JAX: `params['w1']`), or empty; none where it names nothing.
  std::vector<std::string> argument_labels = {}, result_labels = {};
};

}  // namespace superstep
