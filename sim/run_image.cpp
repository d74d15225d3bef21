#include "sim/run_image.h"

#include <fmt/format.h>

#include <cstring>
#include <memory>
#include <utility>

#include "base/error.h"
#include "sim/host/arguments.h"
#include "sim/host/feeds.h"

namespace superstep {
namespace {

/// The host program of a run: gives each call its slices, or once what is not cut into slices.
class RepeatedCalls : public Observer {
 public:
  RepeatedCalls(Simulation& simulation, const std::vector<HostTensor>& arguments,
                const RunOptions& options)
      : simulation_(simulation),
        arguments_(arguments),
        options_(options),
        first_call_(simulation.calls_done()) {
    const ProgramImage& image = simulation.image();
    for (std::size_t r = 0; r < image.results.size(); ++r) {
      TensorType type = image.results[r];
      if (is_stacked(r)) type.shape.insert(type.shape.begin(), options.calls - first_call_);
      results_.emplace_back(type);
    }
    simulation.observe(*this);
    simulation.set_host_program([this](std::uint32_t call) { return begin(call); });
  }

  void on_superstep(const SuperstepRecord& record) override {
    if (options_.on_superstep) options_.on_superstep(record);
  }

  void on_call(std::uint32_t calls_done) override {
    for (std::size_t r = 0; r < results_.size(); ++r) {
      const HostTensor& result = simulation_.result(static_cast<std::uint32_t>(r));
      const std::size_t slice =
          is_stacked(r) ? (calls_done - 1 - first_call_) * result.data.size() : 0;
      if (!result.data.empty()) {
        std::memcpy(results_[r].data.data() + slice, result.data.data(), result.data.size());
      }
    }
    if (options_.on_call) options_.on_call(calls_done);
  }

  std::vector<HostTensor> take_results() { return std::move(results_); }

 private:
  /// Results of all calls, and not what the last one left.
  [[nodiscard]] bool is_stacked(std::size_t result) const {
    const auto& alias = simulation_.image().alias;
    return options_.calls > 1 && !(result < alias.size() && alias[result]);
  }

  HostTurn begin(std::uint32_t call) {
    if (call >= options_.calls) {
      throw UserError(
          ExitCode::kUsage,
          fmt::format("the checkpoint was made in a run of more than {} calls", options_.calls));
    }
    const ProgramImage& image = simulation_.image();
    for (std::uint32_t k = 0; k < arguments_.size(); ++k) {
      const std::span<const std::byte> bytes = std::as_bytes(std::span(arguments_[k].data));
      if (is_sliced(image.arguments[k], arguments_[k].type, options_.calls)) {
        const std::size_t slice = image.arguments[k].bytes();
        simulation_.send_argument(k, bytes.subspan(call * slice, slice));
      } else if (call == 0) {
        simulation_.send_argument(k, bytes);
      }
    }
    return call + 1 == options_.calls ? HostTurn::kLastCall : HostTurn::kCall;
  }

  Simulation& simulation_;
  const std::vector<HostTensor>& arguments_;
  const RunOptions& options_;
  std::uint32_t first_call_;  ///< of this run
  std::vector<HostTensor> results_;
};

/// Throws UserError when a run with these options cannot go on where a checkpoint was made.
void check_goes_on(const Simulation& simulation, const RunOptions& options) {
  const auto refuse = [](std::string message) {
    throw UserError(ExitCode::kUsage, std::move(message));
  };
  const std::uint32_t begun = simulation.calls_begun();
  const std::uint64_t supersteps = simulation.totals().supersteps;
  if (simulation.calls_done() >= options.calls) {
    refuse(fmt::format("the checkpoint was made behind {} calls, and {} are asked for",
                       simulation.calls_done(), options.calls));
  }
  const std::optional<std::uint32_t> in_all = simulation.calls_in_all();
  if (in_all ? *in_all != options.calls : begun >= options.calls) {
    refuse(fmt::format("the checkpoint was made in call {}{}, and {} are asked for",
                       in_all.value_or(begun),
                       in_all ? ", the last one" : ", which is not the last one", options.calls));
  }
  if (options.max_supersteps && supersteps >= *options.max_supersteps) {
    refuse(fmt::format("the checkpoint was made behind superstep {}, and at most {} are asked for",
                       supersteps, *options.max_supersteps));
  }
  if (options.save_checkpoint && supersteps >= options.save_checkpoint->superstep) {
    refuse(
        fmt::format("the checkpoint was made behind superstep {}: none can be saved behind "
                    "superstep {}",
                    supersteps, options.save_checkpoint->superstep));
  }
}

}  // namespace

RunResult run_image(const ProgramImage& image, const std::vector<HostTensor>& arguments,
                    const RunOptions& options) {
  return finish_run(begin_run(image, arguments, options), arguments, options);
}

Simulation begin_run(const ProgramImage& image, const std::vector<HostTensor>& arguments,
                     const RunOptions& options) {
  check_arguments(image, arguments, options.calls);
  check_infeeds(image, options.infeeds);
  // The image is the caller's, and outlives the simulation.
  const std::shared_ptr<const ProgramImage> program(std::shared_ptr<void>(), &image);
  if (!options.from_checkpoint) return Simulation(program, options);
  Simulation simulation = Simulation::load(*options.from_checkpoint, program, options,
                                           digests_of(arguments, options.infeeds));
  check_goes_on(simulation, options);
  return simulation;
}

RunResult finish_run(Simulation simulation, const std::vector<HostTensor>& arguments,
                     const RunOptions& options) {
  if (options.observer != nullptr) simulation.observe(*options.observer);
  FeedTable feeds(simulation, options.infeeds);
  RepeatedCalls calls(simulation, arguments, options);
  Stop stop;
  bool has_saved = false;
  std::optional<InputOutputError> checkpoint_error;
  if (options.save_checkpoint) {
    stop = simulation.run_until({.superstep = options.save_checkpoint->superstep});
    if (stop.kind == StopKind::kBreakpoint && simulation.calls_done() < options.calls) {
      try {
        simulation.save(options.save_checkpoint->file, digests_of(arguments, options.infeeds));
        has_saved = true;
      } catch (const InputOutputError& error) {
        checkpoint_error = error;
      }
    }
  }
  if (!options.save_checkpoint || stop.kind == StopKind::kBreakpoint) stop = simulation.run();
  return {.results = calls.take_results(),
          .outfeeds = feeds.take(),
          .infeeds_left = feeds.left(),
          .totals = simulation.totals(),
          .last_step = simulation.last_step(),
          .trap = stop.trap,
          .interrupted = stop.kind == StopKind::kInterrupted,
          .step_inside = simulation.step_inside(),
          .saved_checkpoint = has_saved,
          .checkpoint_error = checkpoint_error};
}

}  // namespace superstep
