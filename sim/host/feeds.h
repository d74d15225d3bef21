#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/dtype.h"
#include "isa/program_image.h"

namespace superstep {

class Simulation;

/// The step of the visit inside a call that begins with the sync at `pc`; null where the image does
/// not say.
[[nodiscard]] const StepInfo* step_of_visit(const ProgramImage& image, std::uint32_t pc);

/// A stream that a program uses inside its calls, at one place or several.
struct FeedQueue {
  TensorType type;
  OpLocation source;  ///< of the first op that uses it, where the image says
};

/// Those to the tiles (`kInfeed`) or to the host (`kOutfeed`), by position.
[[nodiscard]] std::map<std::uint32_t, FeedQueue> feed_queues(const ProgramImage& image,
                                                             Stream::Kind kind);

/// Tensors of feeds, by position; the first axis counts visits.
using FeedTensors = std::map<std::uint32_t, HostTensor>;

/// Throws MalformedInput with every infeed of the program that has no tensor or one of another
/// type, at the place of its op, every one with other bytes than its type, and every tensor that no
/// infeed takes.
void check_infeeds(const ProgramImage& image, const FeedTensors& infeeds);

/// The host's side of the feeds of a simulation: gives the values of tensors one after the other,
/// and keeps what comes.
class FeedTable {
 public:
  /// Connects all feeds; `infeeds` and the table outlive the simulation's run. One that goes on
  /// from a checkpoint takes the values that follow those which were taken.
  FeedTable(Simulation& simulation, const FeedTensors& infeeds);
  FeedTable(const FeedTable&) = delete;
  FeedTable& operator=(const FeedTable&) = delete;

  /// What has come.
  [[nodiscard]] FeedTensors take();
  /// Of infeeds with more visits than the program has taken, how many more, by position.
  [[nodiscard]] std::map<std::uint32_t, std::uint64_t> left() const;

 private:
  const Simulation& simulation_;
  const FeedTensors& infeeds_;
  FeedTensors out_;
};

}  // namespace superstep
