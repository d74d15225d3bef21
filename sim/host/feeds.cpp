#include "sim/host/feeds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "base/error.h"
#include "sim/host/arguments.h"
#include "sim/simulation.h"

namespace superstep {
namespace {

TensorType type_of_one(TensorType stacked) {
  if (!stacked.shape.empty()) stacked.shape.erase(stacked.shape.begin());
  return stacked;
}

TensorType with_visits(TensorType type, std::int64_t visits) {
  type.shape.insert(type.shape.begin(), visits);
  return type;
}

}  // namespace

const StepInfo* step_of_visit(const ProgramImage& image, std::uint32_t pc) {
  if (image.entries.empty()) return nullptr;
  const auto mark = std::ranges::find_if(image.marks, [&](const StepMark& m) {
    return m.tile == image.entries[0].tile && m.pc == pc;
  });
  const bool is_known = mark != image.marks.end() && mark->step < image.info.steps.size();
  return is_known ? &image.info.steps[mark->step] : nullptr;
}

std::map<std::uint32_t, FeedQueue> feed_queues(const ProgramImage& image, Stream::Kind kind) {
  std::map<std::uint32_t, FeedQueue> queues;
  for (const FeedVisit& visit : image.visits) {
    const HostPhase& phase = visit.phase;
    const StepInfo* step = step_of_visit(image, visit.pc);
    for (const std::uint32_t s : kind == Stream::Kind::kInfeed ? phase.arguments : phase.results) {
      const Stream& stream = image.streams[s];
      queues.try_emplace(stream.position,
                         FeedQueue{stream.type, step != nullptr ? step->source : OpLocation{}});
    }
  }
  return queues;
}

void check_infeeds(const ProgramImage& image, const FeedTensors& infeeds) {
  std::vector<Problem> problems;
  const auto queues = feed_queues(image, Stream::Kind::kInfeed);
  for (const auto& [position, queue] : queues) {
    const auto given = infeeds.find(position);
    if (given == infeeds.end()) {
      problems.push_back({queue.source.module,
                          fmt::format("infeed{} is missing: the program takes {} there at each "
                                      "visit, so that its tensor has one axis more, of visits",
                                      position, queue.type.text())});
      continue;
    }
    const TensorType& type = given->second.type;
    if (!type.shape.empty() && type_of_one(type) == queue.type) {
      std::string wrong =
          bytes_problem(fmt::format("infeed{}", position), given->second.data.size(), type);
      if (!wrong.empty()) problems.push_back({{}, std::move(wrong)});
      continue;
    }
    problems.push_back(
        {queue.source.module,
         fmt::format("infeed{} is {}, but the program takes {} at each visit: an axis of visits, "
                     "then that",
                     position, type.text(), queue.type.text())});
  }
  for (const auto& [position, tensor] : infeeds) {
    if (queues.contains(position)) continue;
    problems.push_back({{},
                        fmt::format("infeed{} is one too many: the program has {}", position,
                                    queues.empty() ? "none" : fmt::format("{}", queues.size()))});
  }
  if (!problems.empty()) throw MalformedInput(std::move(problems));
}

FeedTable::FeedTable(Simulation& simulation, const FeedTensors& infeeds)
    : simulation_(simulation), infeeds_(infeeds) {
  const ProgramImage& image = simulation.image();
  for (const auto& [position, queue] : feed_queues(image, Stream::Kind::kInfeed)) {
    const HostTensor& tensor = infeeds.at(position);
    const auto visits = static_cast<std::uint64_t>(tensor.type.shape[0]);
    simulation.connect_infeed(position, [&tensor, visits, next = simulation.infeeds_made(position)](
                                            std::span<std::byte> value) mutable {
      if (next >= visits) return false;
      if (!value.empty()) {
        std::memcpy(value.data(), tensor.data.data() + next * value.size(), value.size());
      }
      ++next;
      return true;
    });
  }
  for (const auto& [position, queue] : feed_queues(image, Stream::Kind::kOutfeed)) {
    HostTensor& all = out_[position] = HostTensor(with_visits(queue.type, 0));
    simulation.connect_outfeed(position, [&all](std::span<const std::byte> value) {
      all.data.insert(all.data.end(), value.begin(), value.end());
      ++all.type.shape[0];
    });
  }
}

FeedTensors FeedTable::take() { return std::move(out_); }

std::map<std::uint32_t, std::uint64_t> FeedTable::left() const {
  std::map<std::uint32_t, std::uint64_t> left;
  for (const auto& [position, tensor] : infeeds_) {
    const auto visits = static_cast<std::uint64_t>(tensor.type.shape[0]);
    const std::uint64_t taken = simulation_.infeeds_taken(position);
    if (taken < visits) left[position] = visits - taken;
  }
  return left;
}

}  // namespace superstep
