#include "sim/run_image.h"

#include <cstring>
#include <memory>
#include <utility>

#include "base/error.h"
#include "sim/host/arguments.h"

namespace superstep {
namespace {

/// The host program of a run: gives each call its slices, or once what is not cut into slices.
class RepeatedCalls : public Observer {
 public:
  RepeatedCalls(Simulation& simulation, const std::vector<HostTensor>& arguments,
                const RunOptions& options)
      : simulation_(simulation), arguments_(arguments), options_(options) {
    const ProgramImage& image = simulation.image();
    for (std::size_t r = 0; r < image.results.size(); ++r) {
      TensorType type = image.results[r];
      if (is_stacked(r)) type.shape.insert(type.shape.begin(), options.calls);
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
      const std::size_t slice = is_stacked(r) ? (calls_done - 1) * result.data.size() : 0;
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
  std::vector<HostTensor> results_;
};

}  // namespace

RunResult run_image(const ProgramImage& image, const std::vector<HostTensor>& arguments,
                    const RunOptions& options) {
  check_arguments(image, arguments, options.calls);
  // The image is the caller's, and outlives the simulation.
  Simulation simulation(std::shared_ptr<const ProgramImage>(std::shared_ptr<void>(), &image),
                        {.threads = options.threads,
                         .max_supersteps = options.max_supersteps,
                         .check_races = options.check_races,
                         .check_repeats = options.check_repeats,
                         .interrupted = options.interrupted});
  RepeatedCalls calls(simulation, arguments, options);
  const Stop stop = simulation.run();
  return {.results = calls.take_results(),
          .totals = simulation.totals(),
          .last_step = simulation.last_step(),
          .trap = stop.trap,
          .interrupted = stop.kind == StopKind::kInterrupted,
          .place = simulation.place()};
}

}  // namespace superstep
