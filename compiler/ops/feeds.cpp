// What a program exchanges with the host while a call goes on. Tokens have no elements, so that the
// order of these ops is that of the text, which is one that tokens allow.

#include "compiler/ops/feeds.h"

#include <fmt/format.h>

#include <utility>

#include "compiler/ops/ops.h"
#include "compiler/ops/step_lowerings.h"
#include "compiler/ops/verify.h"

namespace superstep {
namespace {

thread_local FeedHost* reference_host = nullptr;

FeedHost& host_of(const Op& op) {
  if (reference_host == nullptr) unsupported(op, "the reference has no host");
  return *reference_host;
}

std::vector<TensorType> infer_infeed(const Op& op, std::span<const TensorType>) {
  return op.declared;
}

std::vector<TensorType> infer_outfeed(const Op&, std::span<const TensorType>) { return {}; }

/// Channels between devices have one type, those from a device to the host and back others
/// (openxla/stablehlo stablehlo/dialect/StablehloOps.td).
constexpr std::int64_t kDeviceToHost = 2, kHostToDevice = 3;

void check_channel(const Op& op, std::int64_t type) {
  static_cast<void>(attribute<std::int64_t>(op, "handle"));
  const auto found = op.attributes.find("is_host_transfer");
  const bool is_with_host = found != op.attributes.end() && attribute<bool>(op, "is_host_transfer");
  if (!is_with_host) unsupported(op, "to or from another device; programs run on one");
  if (const auto its = attribute<std::int64_t>(op, "type"); its != type) {
    malformed(op, fmt::format("a transfer {} the host has a channel of type {}, not {}",
                              type == kDeviceToHost ? "to" : "from", type, its));
  }
}

std::vector<TensorType> infer_recv(const Op& op, std::span<const TensorType>) {
  check_channel(op, kHostToDevice);
  return op.declared;
}

std::vector<TensorType> infer_send(const Op& op, std::span<const TensorType>) {
  check_channel(op, kDeviceToHost);
  return {};
}

std::vector<HostTensor> evaluate_infeed(const Op& op, std::span<const HostTensor>) {
  FeedHost& host = host_of(op);
  if (host.in.empty()) malformed(op, "the queue of the host is empty");
  std::vector<HostTensor> values = std::move(host.in.front());
  host.in.pop_front();
  if (values.size() != op.declared.size()) {
    malformed(op, fmt::format("takes {} tensors, but the host gives {}", op.declared.size(),
                              values.size()));
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].type == op.declared[i]) continue;
    malformed(op, fmt::format("takes {}, but the host gives {}", op.declared[i].text(),
                              values[i].type.text()));
  }
  return values;
}

std::vector<HostTensor> evaluate_outfeed(const Op& op, std::span<const HostTensor> operands) {
  host_of(op).out.emplace_back(operands.begin(), operands.end());
  return {};
}

std::vector<Vote> votes(const Op&, const Graph&) { return {}; }

constexpr OperandTypes kTensors = OperandTypes::any_number_of(kAnyDType);

}  // namespace

ReferenceHost::ReferenceHost(FeedHost& host) : outer_(std::exchange(reference_host, &host)) {}
ReferenceHost::~ReferenceHost() { reference_host = outer_; }

std::int64_t channel_of(const Op& op) {
  const bool has_channel = op.definition == &kSendOp || op.definition == &kRecvOp;
  return has_channel ? attribute<std::int64_t>(op, "handle") : -1;
}

const OpDefinition kInfeedOp{
    .name = "stablehlo.infeed",
    .summary = "The next tensors that the host has for the program.",
    .infer = infer_infeed,
    .evaluate = evaluate_infeed,
    .lowerings = {StepLowering{.lower = lower_infeed, .votes = votes}},
    .traits = {.operands = {}, .effect = Effect::kHost},
    .attributes = "infeed_config layout",
};

const OpDefinition kOutfeedOp{
    .name = "stablehlo.outfeed",
    .summary = "Gives the operands to the host.",
    .infer = infer_outfeed,
    .evaluate = evaluate_outfeed,
    .lowerings = {StepLowering{.lower = lower_outfeed, .votes = votes}},
    .traits = {.operands = kTensors, .effect = Effect::kHost},
    .attributes = "outfeed_config",
};

const OpDefinition kRecvOp{
    .name = "stablehlo.recv",
    .summary = "The next tensors that the host has for the channel.",
    .infer = infer_recv,
    .evaluate = evaluate_infeed,
    .lowerings = {StepLowering{.lower = lower_infeed, .votes = votes}},
    .traits = {.operands = {}, .effect = Effect::kHost},
    .attributes = "channel_handle handle type is_host_transfer source_target_pairs",
};

const OpDefinition kSendOp{
    .name = "stablehlo.send",
    .summary = "Gives the operands to the host, through a channel.",
    .infer = infer_send,
    .evaluate = evaluate_outfeed,
    .lowerings = {StepLowering{.lower = lower_outfeed, .votes = votes}},
    .traits = {.operands = kTensors, .effect = Effect::kHost},
    .attributes = "channel_handle handle type is_host_transfer source_target_pairs",
};

}  // namespace superstep
