#include "report/export/program_track.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/shares.h"
#include "sim/trace/schema.h"

namespace superstep {

void ProgramTrack::add(const SuperstepInFile& superstep) {
  const SuperstepRow& row = superstep.row;
  std::uint64_t at = row.begin.value();
  const auto add_behind = [&](std::uint32_t step, std::uint64_t cycles,
                              std::optional<std::uint64_t> runs) {
    add_leaf(row, {tree_.number(step), at, cycles, runs});
    at += cycles;
  };
  if (row.host.value() != 0) return add_behind(row.step, row.host.value(), std::nullopt);
  const std::uint32_t moved = tree_.number(row.exchange_step);
  begin_superstep(moved, row.trip, at);
  if (row.exchange.value() != 0) add_behind(moved, row.exchange.value(), std::nullopt);
  for (const LaunchRow& launch : superstep.launches) {
    if (launch.cycles != 0) add_behind(launch.step, launch.cycles, launch.runs);
  }
}

void ProgramTrack::begin_superstep(std::uint32_t step, std::uint64_t trip, std::uint64_t at) {
  const auto loop = tree_.loop_around(step);
  if (before_ && step < *before_ && common_loop(*before_, step) != loop) go_to(step);
  before_ = step;
  if (!loop) return;
  const auto known = trips_.find(*loop);
  if (known != trips_.end() && trip < known->second) {
    // It was left and entered again, by the next trip of the loop around it.
    const auto outer = tree_.loop_around(*loop);
    if (const auto found = outer ? trips_.find(*outer) : trips_.end(); found != trips_.end()) {
      ++found->second;
    }
    const auto slice = std::ranges::find(open_, Level{Level::Kind::kControl, *loop});
    close(static_cast<std::size_t>(slice - open_.begin()), at);
  }
  trips_[*loop] = trip;
}

void ProgramTrack::add_leaf(const SuperstepRow& row, const Leaf& leaf) {
  go_to(leaf.step);
  const std::vector<Level> path = path_to(row, leaf.step);
  const auto [mine, theirs] = std::ranges::mismatch(open_, path);
  close(static_cast<std::size_t>(mine - open_.begin()), leaf.at);
  std::erase_if(trips_, [&](const auto& known) {
    return std::ranges::find(path, Level{Level::Kind::kControl, known.first}) == path.end();
  });
  for (auto level = theirs; level != path.end(); ++level) open(*level, leaf.step, leaf.at);
  const StepRow& step = tree_.step(leaf.step);
  std::vector<PerfettoArgument> arguments{{"step", std::uint64_t{leaf.step}}};
  if (step.kind_number < std::size(kStepKinds)) {
    arguments.push_back({"kind", kStepKinds[step.kind_number]});
  }
  if (leaf.runs) arguments.push_back({"runs", *leaf.runs});
  const std::string operations = shares_text(step.fused);
  if (!operations.empty()) arguments.push_back({"operations", operations});
  writer_.begin(track_, leaf.at, step.name, arguments);
  writer_.end(track_, leaf.at + leaf.cycles);
}

void ProgramTrack::go_to(std::uint32_t step) {
  if (before_ && step < *before_) {
    const auto loop = common_loop(*before_, step);
    const auto trip = loop ? trips_.find(*loop) : trips_.end();
    if (trip != trips_.end()) ++trip->second;
  }
  before_ = step;
}

std::optional<std::uint32_t> ProgramTrack::common_loop(std::uint32_t a, std::uint32_t b) const {
  const std::vector<std::uint32_t> of_b = tree_.ancestors(b);
  for (auto loop = tree_.loop_around(a); loop; loop = tree_.loop_around(*loop)) {
    if (std::ranges::find(of_b, *loop) != of_b.end()) return loop;
  }
  return std::nullopt;
}

std::vector<ProgramTrack::Level> ProgramTrack::path_to(const SuperstepRow& row,
                                                       std::uint32_t step) const {
  std::vector<Level> path{{Level::Kind::kCall, row.call}};
  for (const std::uint32_t above : tree_.ancestors(step)) {
    path.push_back({Level::Kind::kControl, above});
    if (const auto trip = trips_.find(above); trip != trips_.end()) {
      path.push_back({Level::Kind::kTrip, trip->second});
    }
  }
  path.push_back({Level::Kind::kOperation, tree_.step(step).operation_number});
  return path;
}

void ProgramTrack::open(const Level& level, std::uint32_t step, std::uint64_t at) {
  switch (level.kind) {
    case Level::Kind::kCall:
      writer_.begin(track_, at, fmt::format("call {}", level.number));
      break;
    case Level::Kind::kControl:
      writer_.begin(track_, at, tree_.label(static_cast<std::uint32_t>(level.number)));
      break;
    case Level::Kind::kTrip:
      writer_.begin(track_, at, fmt::format("trip {}", level.number));
      break;
    case Level::Kind::kOperation: {
      const OperationRow& operation = tree_.operation(step);
      const std::string source = operation.source.module.text();
      const std::string python = operation.source.python.text();
      std::vector<PerfettoArgument> arguments;
      if (!operation.opcode.empty()) arguments.push_back({"opcode", operation.opcode});
      if (!source.empty()) arguments.push_back({"source", source});
      if (!python.empty()) arguments.push_back({"python", python});
      writer_.begin(track_, at, operation.name, arguments);
      break;
    }
  }
  open_.push_back(level);
}

void ProgramTrack::close(std::size_t depth, std::uint64_t at) {
  for (; open_.size() > depth; open_.pop_back()) writer_.end(track_, at);
}

void ProgramTrack::finish(std::uint64_t at) { close(0, at); }

}  // namespace superstep
