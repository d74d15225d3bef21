#pragma once

#include <cstdint>
#include <vector>

#include "sim/observer.h"
#include "sim/simulation.h"

namespace superstep {

/// Cycles of each superstep.
class Lengths : public Observer {
 public:
  explicit Lengths(Simulation& simulation) { simulation.observe(*this); }

  void on_superstep(const SuperstepRecord& record) override {
    cycles.push_back((record.end - record.begin).value());
  }

  std::vector<std::uint64_t> cycles;
};

}  // namespace superstep
