#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/units.h"
#include "isa/program_image.h"
#include "sim/chip/message.h"
#include "sim/host/ring_buffer.h"
#include "sim/host/turn.h"
#include "sim/superstep_record.h"
#include "sim/tile/memory.h"

namespace superstep {

class Chip;

/// The host and its link to a chip, as a process with a clock of its own. The tiles ask for it at
/// an external sync; it comes when what it has to send is ready, and moves results and arguments,
/// or the values of feeds, along the image's stream table until it goes to the sync that closes the
/// visit. Its callbacks run one after the other and each takes the host's callback latency: ahead
/// of the tiles as far as the prefetch of the machine goes, else while they wait.
class HostLink : public MachineProcess {
 public:
  /// All that is referred to outlives the link.
  HostLink(Chip& chip, const ProgramImage& image);

  void set_program(HostProgram program) { program_ = std::move(program); }
  /// The bytes of an argument for the next call; they outlive its visit. Of those without new bytes
  /// the tiles keep what they had.
  void set_argument(std::uint32_t position, std::span<const std::byte> bytes);
  /// Another value of a stream inside the program.
  void feed(std::uint32_t queue, HostTensor value);
  /// Takes the first value that the program sent there, if there is one.
  [[nodiscard]] std::optional<HostTensor> take(std::uint32_t queue);
  void connect(Stream::Kind kind, std::uint32_t position, StreamSource source);
  void connect(Stream::Kind kind, std::uint32_t position, StreamSink sink);
  /// Index into the image's streams, if there is such a one.
  [[nodiscard]] std::optional<std::size_t> stream_of(Stream::Kind kind,
                                                     std::uint32_t position) const;

  void handle(const Message& message, MachineOutbox& out) override;

  /// The results that the last visit brought which brought some, by position.
  void copy_results(std::vector<HostTensor>& results) const;
  /// What the tiles would send if the visit that they wait for began now.
  void read_results(std::vector<HostTensor>& results) const;

  /// Visits between calls so far. Calls that are done are one less.
  [[nodiscard]] std::uint32_t visits() const { return visits_; }
  /// The call that a superstep belongs to which ends now, from 0.
  [[nodiscard]] std::uint32_t call() const;
  /// Of the visit that goes on, or the last one.
  [[nodiscard]] std::uint64_t visit_bytes() const { return visit_bytes_; }
  [[nodiscard]] const std::vector<HostTransfer>& transfers() const { return transfers_; }

  /// Why the program cannot end now; empty when it can.
  [[nodiscard]] std::string problem_of_end() const;

 private:
  /// The host's side of a stream to the tiles.
  struct Source {
    std::optional<std::span<const std::byte>> value;  ///< of an argument
    std::deque<HostTensor> fed;                       ///< of a feed
    std::optional<RingBuffer> ring;                   ///< when a callback makes the values
  };
  /// The host's side of a stream to the host.
  struct Sink {
    HostTensor value;              ///< the last one
    std::deque<HostTensor> taken;  ///< of a feed without a callback
    StreamSink callback;
  };

  [[nodiscard]] bool has_seen_last_call() const;
  [[nodiscard]] bool is_sent(std::uint32_t stream) const;
  [[nodiscard]] std::string name_of(std::uint32_t stream) const;
  [[nodiscard]] TileMemory& memory_of(TileId tile) const;
  [[nodiscard]] std::span<const std::byte> value_of(std::uint32_t stream) const;

  void come(MachineOutbox& out);
  [[nodiscard]] bool takes_turn(MachineOutbox& out);
  [[nodiscard]] bool make_ready(std::uint32_t stream, MachineOutbox& out, Cycles& ready);
  [[nodiscard]] bool call_back_for(std::uint32_t stream, MachineOutbox& out);
  [[nodiscard]] bool call_back(std::uint32_t stream, MachineOutbox& out,
                               const std::function<void()>& callback);
  void visit(MachineOutbox& out);
  [[nodiscard]] bool check_ports(MachineOutbox& out) const;
  void pop(std::uint32_t stream);
  void leave(MachineOutbox& out);
  void refuse(MachineOutbox& out, std::string cause) const;

  Chip& chip_;
  const ProgramImage& image_;
  HostProgram program_;
  std::vector<Source> sources_;  ///< by stream
  std::vector<Sink> sinks_;      ///< by stream
  std::uint32_t visits_ = 0;
  std::optional<std::uint32_t> calls_;  ///< once the last one is known
  std::optional<HostAwaited> awaited_;  ///< the tiles asked for the visit, until it is over
  const HostPhase* phase_ = nullptr;    ///< of the visit
  bool is_inside_ = false;              ///< it is inside a call
  Cycles free_;                         ///< the host's callbacks are done
  std::uint64_t visit_bytes_ = 0;
  std::vector<HostTransfer> transfers_;
};

}  // namespace superstep
