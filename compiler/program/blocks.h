#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "compiler/program/program.h"

namespace superstep {

/// The supersteps of a program, each once: those of its procedures, then those of `main`, in order;
/// of a loop those of its condition, then those of its body, of a branch those of each arm.
[[nodiscard]] std::vector<Superstep*> supersteps_of(LoweredProgram& program);
[[nodiscard]] std::vector<const Superstep*> supersteps_of(const LoweredProgram& program);

/// Those of a block, as `supersteps_of` has them.
[[nodiscard]] std::uint32_t count_supersteps(const Block& block);
[[nodiscard]] std::uint32_t count_loops(const Block& block);

/// Whether a step, or one that it executes, visits the host.
[[nodiscard]] bool has_feeds(const Step& step);

/// The buffers that an exchange, or a visit to the host, reads and writes, ascending, each once.
struct MovedBuffers {
  std::vector<BufferId> read, written;
};
[[nodiscard]] MovedBuffers moved_buffers(const Superstep& superstep);

/// The buffers that a step uses.
struct UsedBuffers {
  std::set<BufferId> read, written;
};
[[nodiscard]] UsedBuffers buffers_of(const Superstep& superstep);
[[nodiscard]] UsedBuffers buffers_of(const Loop& loop);
[[nodiscard]] UsedBuffers buffers_of(const Branch& branch);
/// Of a step that calls nothing.
[[nodiscard]] UsedBuffers buffers_of(const Step& step);

/// How a report names the steps of a superstep.
[[nodiscard]] SuperstepOrigins origins_of(const Superstep& superstep);
/// Appends those of a step to those of a call: of supersteps as `supersteps_of` orders them.
void add_origins(const Step& step, Call& call);

/// The calls of procedures, in order.
[[nodiscard]] std::vector<const Call*> calls_of(const LoweredProgram& program);

/// One execution of a superstep in a call of the program.
struct Execution {
  const Superstep* superstep = nullptr;
  std::uint32_t number = 0;    ///< in `supersteps_of`
  std::uint32_t point = 0;     ///< of its exchange; its compute sets follow
  const Call* call = nullptr;  ///< null: a step of `main`
  std::uint32_t place = 0;     ///< among the supersteps of the procedure

  /// The buffer that takes the place of one that the superstep names.
  [[nodiscard]] BufferId actual(BufferId buffer) const;
  [[nodiscard]] SuperstepOrigins origins() const {
    return call != nullptr ? call->origins[place] : origins_of(*superstep);
  }
};

/// What a call of the program may execute, in order; what loops execute, once.
[[nodiscard]] std::vector<Execution> executions_of(const LoweredProgram& program);

/// The points of a program, in order, at which a buffer is first and last used. Points of time are
/// 0, then one for the exchange of each execution (also where nothing moves) and for each of its
/// compute sets, one in front of each loop and branch and one behind each loop, then one for the
/// host.
struct Lifetime {
  std::uint32_t first = UINT32_MAX, last = 0;
  bool is_received = false;  ///< an exchange writes the buffer

  void use(std::uint32_t point) {
    if (point < first) first = point;
    if (point > last) last = point;
  }
  [[nodiscard]] bool is_used() const { return first <= last; }
};

/// By buffer. What keeps its value from call to call lives at all points, what a loop finds or
/// leaves at all points of the loop.
[[nodiscard]] std::vector<Lifetime> lifetimes_of(const LoweredProgram& program);
/// The point of the host.
[[nodiscard]] std::uint32_t last_point_of(const LoweredProgram& program);

}  // namespace superstep
