#include <fmt/format.h>

#include <cmath>

#include "compiler/ops/elements.h"
#include "compiler/ops/graph_builder.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/verify.h"

namespace superstep {
namespace {

double epsilon_of(const Op& op) { return attribute<double>(op, "epsilon"); }

/// The type of a value of each feature, after a check that these operands have it.
TensorType check_features(const Op& op, std::span<const TensorType> operands,
                          std::initializer_list<std::size_t> of_features) {
  const TensorType& x = operands[0];
  const std::size_t feature = dimension(op, "feature_index", x.shape.size());
  TensorType features{x.dtype, {x.shape[feature]}};
  for (const std::size_t i : of_features) {
    if (operands[i] == features) continue;
    malformed(op,
              fmt::format("operand {} is {}, expected {}", i, operands[i].text(), features.text()));
  }
  epsilon_of(op);
  return features;
}

std::vector<TensorType> infer_inference(const Op& op, std::span<const TensorType> operands) {
  check_features(op, operands, {1, 2, 3, 4});
  return {operands[0]};
}

std::vector<TensorType> infer_training(const Op& op, std::span<const TensorType> operands) {
  const TensorType features = check_features(op, operands, {1, 2});
  return {operands[0], features, features};
}

std::vector<TensorType> infer_grad(const Op& op, std::span<const TensorType> operands) {
  const TensorType features = check_features(op, operands, {1, 2, 3});
  if (operands[4] != operands[0]) {
    malformed(
        op, fmt::format("the gradient is {}, expected {}", operands[4].text(), operands[0].text()));
  }
  return {operands[0], features, features};
}

/// The feature of each element of a tensor.
std::vector<std::size_t> features_of(const Op& op, const Shape& shape) {
  const std::size_t feature = dimension(op, "feature_index", shape.size());
  const std::int64_t stride = row_major_strides(shape)[feature];
  std::vector<std::size_t> features(static_cast<std::size_t>(TensorType{{}, shape}.elements()));
  for (std::size_t i = 0; i < features.size(); ++i) {
    features[i] = static_cast<std::size_t>(static_cast<std::int64_t>(i) / stride % shape[feature]);
  }
  return features;
}

using Numbers = std::vector<double>;

Numbers read_all(const HostTensor& tensor) {
  Numbers numbers(static_cast<std::size_t>(tensor.type.elements()));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = read_float(tensor, i);
  return numbers;
}

HostTensor written(const TensorType& type, const Numbers& numbers) {
  HostTensor tensor(type);
  for (std::size_t i = 0; i < numbers.size(); ++i) write_float(tensor, i, numbers[i]);
  return tensor;
}

Numbers normalized(const Op& op, const HostTensor& x, const HostTensor& scale,
                   const HostTensor& offset, const Numbers& mean, const Numbers& variance) {
  const std::vector<std::size_t> features = features_of(op, x.type.shape);
  Numbers result(features.size());
  for (std::size_t i = 0; i < result.size(); ++i) {
    const std::size_t f = features[i];
    result[i] = (read_float(x, i) - mean[f]) / std::sqrt(variance[f] + epsilon_of(op)) *
                    read_float(scale, f) +
                read_float(offset, f);
  }
  return result;
}

std::vector<HostTensor> evaluate_inference(const Op& op, std::span<const HostTensor> operands) {
  const HostTensor& x = operands[0];
  return {written(x.type, normalized(op, x, operands[1], operands[2], read_all(operands[3]),
                                     read_all(operands[4])))};
}

std::vector<HostTensor> evaluate_training(const Op& op, std::span<const HostTensor> operands) {
  const HostTensor& x = operands[0];
  const std::vector<std::size_t> features = features_of(op, x.type.shape);
  const TensorType& type = operands[1].type;
  const auto count = static_cast<std::size_t>(type.elements());
  const double members = static_cast<double>(features.size()) / static_cast<double>(count);
  Numbers mean(count), variance(count);
  for (std::size_t i = 0; i < features.size(); ++i) {
    mean[features[i]] += read_float(x, i) / members;
  }
  for (std::size_t i = 0; i < features.size(); ++i) {
    const double off = read_float(x, i) - mean[features[i]];
    variance[features[i]] += off * off / members;
  }
  return {written(x.type, normalized(op, x, operands[1], operands[2], mean, variance)),
          written(type, mean), written(type, variance)};
}

std::vector<HostTensor> evaluate_grad(const Op& op, std::span<const HostTensor> operands) {
  const HostTensor& x = operands[0];
  const HostTensor& grad = operands[4];
  const Numbers scale = read_all(operands[1]), mean = read_all(operands[2]);
  const Numbers variance = read_all(operands[3]);
  const std::vector<std::size_t> features = features_of(op, x.type.shape);
  const double members = static_cast<double>(features.size()) / static_cast<double>(scale.size());
  Numbers sums(scale.size()), products(scale.size()), grad_scale(scale.size()),
      grad_x(features.size());
  for (std::size_t i = 0; i < features.size(); ++i) {
    sums[features[i]] += read_float(grad, i);
    products[features[i]] += read_float(grad, i) * (read_float(x, i) - mean[features[i]]);
  }
  for (std::size_t i = 0; i < features.size(); ++i) {
    const std::size_t f = features[i];
    const double spread = variance[f] + epsilon_of(op);
    const double along = (read_float(x, i) - mean[f]) * products[f] / spread;
    grad_x[i] = scale[f] / std::sqrt(spread) * (read_float(grad, i) - (sums[f] + along) / members);
  }
  for (std::size_t f = 0; f < scale.size(); ++f) {
    grad_scale[f] = products[f] / std::sqrt(variance[f] + epsilon_of(op));
  }
  const TensorType& type = operands[1].type;
  return {written(x.type, grad_x), written(type, grad_scale), written(type, sums)};
}

/// What expansions compute with: everything in f32 at least.
class Normalization {
 public:
  Normalization(const Op& op, Tensor x)
      : epsilon_(epsilon_of(op)),
        dtype_(x.dtype()),
        feature_(attribute<std::int64_t>(op, "feature_index")),
        shape_(x.shape()) {
    for (std::int64_t d = 0; d < static_cast<std::int64_t>(shape_.size()); ++d) {
      if (d == feature_) continue;
      others_.push_back(d);
      members_ *= static_cast<double>(shape_[static_cast<std::size_t>(d)]);
    }
  }

  [[nodiscard]] static Tensor wide(Tensor x) {
    return x.dtype() == DType::kF64 ? x : convert(x, DType::kF32);
  }
  [[nodiscard]] Tensor narrow(Tensor x) const { return convert(x, dtype_); }
  /// A value of each feature for each of its elements.
  [[nodiscard]] Tensor spread(Tensor values) const { return broadcast(values, shape_, {feature_}); }
  /// The sum of each feature's elements.
  [[nodiscard]] Tensor total(Tensor x) const { return sum(x, others_); }
  [[nodiscard]] double members() const { return members_; }
  [[nodiscard]] Tensor deviation(Tensor variance) const { return sqrt(variance + epsilon_); }
  [[nodiscard]] Tensor apply(Tensor x, Tensor scale, Tensor offset, Tensor mean,
                             Tensor variance) const {
    return (x - spread(mean)) * spread(scale / deviation(variance)) + spread(offset);
  }

 private:
  double epsilon_;
  DType dtype_;
  std::int64_t feature_;
  Shape shape_;
  std::vector<std::int64_t> others_;
  double members_ = 1;
};

std::vector<Tensor> widened(std::span<const Tensor> operands) {
  std::vector<Tensor> wide;
  for (const Tensor& operand : operands) wide.push_back(Normalization::wide(operand));
  return wide;
}

std::vector<Tensor> expand_inference(GraphBuilder&, const Op& op,
                                     std::span<const Tensor> operands) {
  const Normalization norm(op, operands[0]);
  const std::vector<Tensor> in = widened(operands);
  return {norm.narrow(norm.apply(in[0], in[1], in[2], in[3], in[4]))};
}

std::vector<Tensor> expand_training(GraphBuilder&, const Op& op, std::span<const Tensor> operands) {
  const Normalization norm(op, operands[0]);
  const std::vector<Tensor> in = widened(operands);
  const Tensor mean = norm.total(in[0]) / norm.members();
  const Tensor centred = in[0] - norm.spread(mean);
  const Tensor variance = norm.total(centred * centred) / norm.members();
  return {norm.narrow(norm.apply(in[0], in[1], in[2], mean, variance)), norm.narrow(mean),
          norm.narrow(variance)};
}

std::vector<Tensor> expand_grad(GraphBuilder&, const Op& op, std::span<const Tensor> operands) {
  const Normalization norm(op, operands[0]);
  const std::vector<Tensor> in = widened(operands);
  const Tensor scale = in[1], grad = in[4];
  const Tensor deviation = norm.deviation(in[3]);
  const Tensor standard = (in[0] - norm.spread(in[2])) / norm.spread(deviation);
  const Tensor grad_offset = norm.total(grad);
  const Tensor grad_scale = norm.total(grad * standard);
  const Tensor common = norm.spread(grad_offset) + standard * norm.spread(grad_scale);
  const Tensor grad_x = norm.spread(scale / deviation) * (grad - common / norm.members());
  return {norm.narrow(grad_x), norm.narrow(grad_scale), norm.narrow(grad_offset)};
}

}  // namespace

const OpDefinition kBatchNormInferenceOp{
    .name = "stablehlo.batch_norm_inference",
    .summary = "Elements normalised by a mean and a variance of each feature, scaled and shifted.",
    .infer = infer_inference,
    .evaluate = evaluate_inference,
    .lowerings = {ExpandLowering{expand_inference}},
    .traits = {.operands = {kFloats, kFloats, kFloats, kFloats, kFloats}},
    .attributes = "epsilon feature_index",
};
const OpDefinition kBatchNormTrainingOp{
    .name = "stablehlo.batch_norm_training",
    .summary = "Elements normalised by their features' mean and variance, which are results too.",
    .infer = infer_training,
    .evaluate = evaluate_training,
    .lowerings = {ExpandLowering{expand_training}},
    .traits = {.operands = {kFloats, kFloats, kFloats}},
    .attributes = "epsilon feature_index",
};
const OpDefinition kBatchNormGradOp{
    .name = "stablehlo.batch_norm_grad",
    .summary = "Gradients of batch_norm_training for elements, scales and offsets.",
    .infer = infer_grad,
    .evaluate = evaluate_grad,
    .lowerings = {ExpandLowering{expand_grad}},
    .traits = {.operands = {kFloats, kFloats, kFloats, kFloats, kFloats}},
    .attributes = "epsilon feature_index",
};

}  // namespace superstep
