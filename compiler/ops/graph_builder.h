#pragma once

#include <functional>
#include <initializer_list>
#include <span>
#include <vector>

#include "compiler/graph/graph.h"

namespace superstep {

class GraphBuilder;

/// A value of the graph that a builder appends to. Operators append elementwise ops; a number as
/// the second operand stands for a constant of the first one's type.
struct Tensor {
  GraphBuilder* builder;
  ValueId id;

  [[nodiscard]] TensorType type() const;
  [[nodiscard]] Shape shape() const { return type().shape; }
  [[nodiscard]] DType dtype() const { return type().dtype; }
  /// A constant of this type whose elements all have this value.
  [[nodiscard]] Tensor like(double value) const;
};

/// Appends ops to a graph by their records. Types are inferred and checked at once: what does not
/// fit throws MalformedInput or Unsupported, located at the op that is being expanded.
class GraphBuilder {
 public:
  GraphBuilder(Graph& graph, OpLocation at) : graph_(graph), at_(std::move(at)) {}

  [[nodiscard]] const Graph& graph() const { return graph_; }
  /// Of the ops that are appended.
  [[nodiscard]] const OpLocation& location() const { return at_; }
  [[nodiscard]] Tensor value(ValueId id) { return {this, id}; }
  Tensor argument(TensorType type) { return value(graph_.add_argument(std::move(type), {})); }

  /// The results of any op. `operands`, `results`, `definition` and `location` are set here.
  std::vector<Tensor> append(const OpDefinition& definition, std::span<const Tensor> operands,
                             Op rest = {});
  /// Those of an op with one result.
  Tensor apply(const OpDefinition& definition, std::initializer_list<Tensor> operands,
               Op rest = {});

  /// What a graph makes of values, which are its arguments.
  std::vector<Tensor> append_graph(const Graph& graph, std::span<const Tensor> arguments);

  Tensor constant(HostTensor value);
  /// One element, rounded or wrapped to the dtype.
  Tensor number(DType dtype, double value);
  Tensor iota(TensorType type, std::int64_t dimension);

 private:
  Graph& graph_;
  OpLocation at_;
};

Tensor operator+(Tensor a, Tensor b);
Tensor operator-(Tensor a, Tensor b);
Tensor operator*(Tensor a, Tensor b);
Tensor operator/(Tensor a, Tensor b);
Tensor operator-(Tensor a);
Tensor operator&(Tensor a, Tensor b);
Tensor operator|(Tensor a, Tensor b);
Tensor operator^(Tensor a, Tensor b);
Tensor operator<<(Tensor a, int bits);
/// Zeros follow.
Tensor operator>>(Tensor a, int bits);
inline Tensor operator+(Tensor a, double b) { return a + a.like(b); }
inline Tensor operator-(Tensor a, double b) { return a - a.like(b); }
inline Tensor operator*(Tensor a, double b) { return a * a.like(b); }
inline Tensor operator/(Tensor a, double b) { return a / a.like(b); }

Tensor abs(Tensor x);
Tensor sqrt(Tensor x);
Tensor rsqrt(Tensor x);
Tensor maximum(Tensor a, Tensor b);
Tensor minimum(Tensor a, Tensor b);

/// By the dtype's own order; `direction` is EQ, NE, LT, LE, GT or GE.
Tensor compare(const char* direction, Tensor a, Tensor b);
inline Tensor operator==(Tensor a, double b) { return compare("EQ", a, a.like(b)); }
inline Tensor operator<(Tensor a, double b) { return compare("LT", a, a.like(b)); }
inline Tensor operator>(Tensor a, double b) { return compare("GT", a, a.like(b)); }
Tensor select(Tensor condition, Tensor if_true, Tensor if_false);
/// `x` itself when it has the dtype.
Tensor convert(Tensor x, DType to);

/// The same bytes as another type.
Tensor bitcast(Tensor x, TensorType to);
/// With the imaginary part negated; `x` itself when it is real.
Tensor conjugate(Tensor x);

/// `x` itself when it has the shape.
Tensor reshape(Tensor x, Shape shape);
/// Dimension i of `x` becomes dimension `dimensions[i]`; the others repeat it.
Tensor broadcast(Tensor x, Shape shape, std::vector<std::int64_t> dimensions);
Tensor transpose(Tensor x, std::vector<std::int64_t> permutation);
Tensor reverse(Tensor x, std::vector<std::int64_t> dimensions);
/// Elements `start` to `limit` of each dimension, every `strides`-th.
Tensor slice(Tensor x, std::vector<std::int64_t> start, std::vector<std::int64_t> limit,
             std::vector<std::int64_t> strides);
/// The elements of a box of `x`; `x` itself when that is all.
Tensor window(Tensor x, const std::vector<std::int64_t>& start, const Shape& sizes);
/// A box of `x` from the start on that is made of scalars; where it would not fit, the nearest one.
Tensor dynamic_window(Tensor x, std::span<const Tensor> start, Shape sizes);
/// Element `i` of the last dimension, which the result does not have.
Tensor element_of_last(Tensor x, std::int64_t i);
Tensor concatenate(std::span<const Tensor> parts, std::int64_t dimension);
Tensor pad(Tensor x, Tensor value, std::vector<std::int64_t> low, std::vector<std::int64_t> high,
           std::vector<std::int64_t> interior);

/// `combine` of two scalars over some dimensions, from a scalar.
Tensor reduce(Tensor x, Tensor initial, std::vector<std::int64_t> dimensions,
              const std::function<Tensor(Tensor, Tensor)>& combine, Op rest = {});
/// The sum over some dimensions.
Tensor sum(Tensor x, std::vector<std::int64_t> dimensions);

/// What `step` makes of some values, as long as `goes_on`, a tensor<i1>, holds for them; both use
/// no others.
std::vector<Tensor> repeat_while(
    std::span<const Tensor> values, const std::function<Tensor(std::span<const Tensor>)>& goes_on,
    const std::function<std::vector<Tensor>(std::span<const Tensor>)>& step);
/// What `step` makes of the number of a turn, an i32 from 0, and some values, so many times.
std::vector<Tensor> repeat_counted(
    std::int64_t times, std::span<const Tensor> values,
    const std::function<std::vector<Tensor>(Tensor turn, std::span<const Tensor>)>& step);
/// What `step` makes of some values, so many times; it uses no others.
std::vector<Tensor> repeat(std::int64_t times, std::span<const Tensor> values,
                           const std::function<std::vector<Tensor>(std::span<const Tensor>)>& step);

/// The dimensions of a product.
struct ProductDimensions {
  std::vector<std::int64_t> left_batching, right_batching, left_contracting, right_contracting;
};
/// Batching dimensions, then the free ones of both, as `dtype`.
Tensor dot_general(Tensor left, Tensor right, const ProductDimensions& dimensions, DType dtype);

}  // namespace superstep
