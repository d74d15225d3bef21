#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/dtype.h"
#include "isa/program_image.h"
#include "sim/host/link.h"
#include "sim/host/turn.h"
#include "sim/state_archive.h"

namespace superstep {

/// The host of a simulation as its user has it: arguments and results of calls, streams, and who
/// decides on calls. `Simulation` says what each does and throws.
class Calls {
 public:
  /// Both outlive it.
  Calls(const ProgramImage& image, HostLink& host);

  void set_argument(std::uint32_t position, HostTensor value);
  void set_arguments(std::vector<HostTensor> values);
  void send_argument(std::uint32_t position, std::span<const std::byte> bytes);
  [[nodiscard]] const HostTensor& result(std::uint32_t position) const;
  [[nodiscard]] const std::vector<HostTensor>& results() const { return results_; }

  void set_program(HostProgram program);
  [[nodiscard]] bool has_program() const { return has_program_; }

  void connect_argument(std::uint32_t position, StreamSource source);
  void connect_result(std::uint32_t position, StreamSink sink);
  void feed(std::uint32_t queue, HostTensor value);
  void connect_infeed(std::uint32_t queue, StreamSource source);
  [[nodiscard]] std::optional<HostTensor> take(std::uint32_t queue);
  void connect_outfeed(std::uint32_t queue, StreamSink sink);

  /// The link has the arguments that are set, and is to send them. Throws UserError when a call is
  /// going on, the program decides, or the first call lacks arguments.
  void begin(bool is_last);
  [[nodiscard]] std::uint32_t done() const { return done_; }
  [[nodiscard]] std::uint32_t begun() const;
  /// A visit of the host is over; whether a call ended in it, whose results are there now.
  [[nodiscard]] bool end_by_visit();
  /// The tiles wait for the host; the same of the call before.
  [[nodiscard]] bool end_before_visit();

  /// A state was read: what had callbacks in it must have them again.
  void lack_program() { lacks_program_ = has_program_; }
  /// Throws UserError (usage) when one is missing.
  void check_connected() const;

  /// All but callbacks.
  template <class Archive>
  void state(Archive& archive) {
    auto& [image, host, arguments, sent, connected, results, calls, turn, program, lacks] = *this;
    state_of_same_size(archive, arguments, connected, results);
    archive(calls, turn, program);
  }

 private:
  void check_takes(std::uint32_t position) const;
  const Stream& check_stream(Stream::Kind kind, std::uint32_t position) const;

  const ProgramImage& image_;
  HostLink& host_;
  std::vector<std::optional<HostTensor>> arguments_, sent_;  ///< for the next call; of this one
  std::vector<bool> connected_;  ///< by argument: a callback gives its values
  std::vector<HostTensor> results_;
  std::uint32_t done_ = 0;
  HostTurn turn_ = HostTurn::kWaits;  ///< of the next call
  bool has_program_ = false;          ///< of its user
  bool lacks_program_ = false;        ///< since a checkpoint was loaded
};

}  // namespace superstep
