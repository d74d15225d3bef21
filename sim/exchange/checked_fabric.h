#pragma once

#include <fmt/format.h>

#include <memory>
#include <span>
#include <utility>

#include "base/error.h"
#include "sim/exchange/fabric.h"

namespace superstep {

/// A fabric that somebody else made: what it gives has a result of each port, or it throws
/// UserError.
class CheckedFabric : public FabricModel {
 public:
  explicit CheckedFabric(std::unique_ptr<FabricModel> fabric) : fabric_(std::move(fabric)) {
    if (fabric_ == nullptr) throw UserError(ExitCode::kUsage, "make_fabric gives no fabric");
  }

  const FabricResult& resolve(std::span<const FabricPort> ports) override {
    const FabricResult& result = fabric_->resolve(ports);
    if (result.ports.size() == ports.size()) return result;
    throw UserError(ExitCode::kUsage, fmt::format("the fabric gives results of {} ports, not {}",
                                                  result.ports.size(), ports.size()));
  }

 private:
  std::unique_ptr<FabricModel> fabric_;
};

}  // namespace superstep
