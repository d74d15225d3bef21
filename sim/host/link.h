#pragma once

#include <algorithm>
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
#include "sim/host/packets.h"
#include "sim/host/ring_buffer.h"
#include "sim/host/turn.h"
#include "sim/host/visit_ports.h"
#include "sim/state_archive.h"
#include "sim/superstep_record.h"
#include "sim/tile/memory.h"

namespace superstep {

class Chip;

/// The host and its link to a chip, as a process with a clock of its own. The tiles ask for it at
/// an external sync; it comes when what it has to send is ready, and moves results and arguments,
/// or the values of feeds, in packets along the image's stream table until it goes to the sync that
/// closes the visit; where they ask after its last visit, the program ends. Results are the words
/// that the tiles send; a packet at whose end the mux of its tile does not select the host is a
/// trap. Its callbacks run one after the other and each takes the host's callback latency: ahead of
/// the tiles as far as the prefetch of the machine goes, else while they wait.
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
  /// Whether a callback makes the values of a stream to the tiles.
  [[nodiscard]] bool is_connected(Stream::Kind kind, std::uint32_t position) const;
  /// Values that the callback of a feed has made, and those of them that visits took.
  [[nodiscard]] std::uint64_t made(std::uint32_t queue) const;
  [[nodiscard]] std::uint64_t taken(std::uint32_t queue) const;
  /// Whether values of a stream to the tiles wait that were given.
  [[nodiscard]] bool is_given(Stream::Kind kind, std::uint32_t position) const;
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
  /// Calls in all, once the last one has begun.
  [[nodiscard]] const std::optional<std::uint32_t>& calls() const { return calls_; }
  /// The call that a superstep belongs to which ends now, from 0.
  [[nodiscard]] std::uint32_t call() const;
  /// It is on its way to the sync at which the tiles wait.
  [[nodiscard]] bool is_coming() const { return is_coming_; }
  /// The visit that goes on or comes, or the last one, is inside a call: for feeds.
  [[nodiscard]] bool is_inside_call() const { return is_inside_; }
  /// Of the visit that goes on, or the last one.
  [[nodiscard]] std::uint64_t visit_bytes() const { return visit_bytes_; }
  [[nodiscard]] const std::vector<HostTransfer>& transfers() const { return transfers_; }
  /// How long the tiles waited, behind their arrival, for callbacks of the visit.
  [[nodiscard]] Cycles callback_wait() const { return callback_wait_; }
  /// When its last packet arrived.
  [[nodiscard]] Cycles data_end() const { return data_end_; }

  /// All but the callbacks and the program. The values of arguments are the link's own then.
  template <class Archive>
  void state(Archive& archive);
  /// The streams whose callbacks are missing since a state was read: `arg0, result1`.
  [[nodiscard]] std::string unconnected() const;

 private:
  /// The host's side of a stream to the tiles.
  struct Source {
    std::optional<std::span<const std::byte>> value;  ///< of an argument
    std::vector<std::byte> own;                       ///< what `value` is of, if a state was read
    std::deque<HostTensor> fed;                       ///< of a feed
    std::optional<RingBuffer> ring;                   ///< when a callback makes the values
  };
  /// The host's side of a stream to the host.
  struct Sink {
    HostTensor value;              ///< the last one
    std::deque<HostTensor> taken;  ///< of a feed without a callback
    StreamSink callback;
    bool was_connected = false;  ///< in the state that was read
  };

  template <class Archive>
  void state_of_source(Archive& archive, Source& source, std::size_t value_bytes);
  /// The phases of the image by number; 0 is none.
  [[nodiscard]] std::vector<const HostPhase*> phases() const;
  [[nodiscard]] bool has_seen_last_call() const;
  [[nodiscard]] bool is_done() const;
  [[nodiscard]] bool is_sent(std::uint32_t stream) const;
  [[nodiscard]] std::string name_of(std::uint32_t stream) const;
  [[nodiscard]] std::string place_of_visit() const;
  [[nodiscard]] std::size_t entry_of(TileId tile) const;
  [[nodiscard]] TileMemory& memory_of(TileId tile) const;
  void read_tiles(std::uint32_t stream, HostTensor& tensor) const;
  [[nodiscard]] std::span<const std::byte> value_of(std::uint32_t stream) const;
  /// Feeds at several places of a program may have one queue.
  [[nodiscard]] const Source& source_of(std::uint32_t stream) const {
    return sources_[queue_[stream]];
  }
  [[nodiscard]] Source& source_of(std::uint32_t stream) { return sources_[queue_[stream]]; }

  void come(MachineOutbox& out);
  [[nodiscard]] bool takes_turn();
  [[nodiscard]] bool make_ready(std::uint32_t stream, MachineOutbox& out, Cycles& ready);
  [[nodiscard]] bool call_back_for(std::uint32_t stream, MachineOutbox& out);
  [[nodiscard]] bool call_back(std::uint32_t stream, MachineOutbox& out,
                               const std::function<void()>& callback);
  void visit(MachineOutbox& out);
  [[nodiscard]] std::vector<VisitPorts> checked_ports(MachineOutbox& out) const;
  void add_packets(std::uint32_t stream, std::uint32_t most, std::vector<HostPacket>& packets);
  [[nodiscard]] bool check_end(MachineOutbox& out) const;
  [[nodiscard]] bool check_arrivals(const std::vector<HostPacket>& packets, Cycles opening,
                                    const std::vector<VisitPorts>& ports, MachineOutbox& out) const;
  void send_trap(MachineOutbox& out, std::size_t entry, PortFault fault) const;
  void note(const std::vector<HostPacket>& packets);
  void pop(std::uint32_t stream);
  void leave(MachineOutbox& out);
  void refuse(MachineOutbox& out, std::string cause) const;

  Chip& chip_;
  const ProgramImage& image_;
  Cycles last_listening_;  ///< from an opening: all tiles can have selected the host
  HostProgram program_;
  std::vector<Source> sources_;     ///< by stream
  std::vector<Sink> sinks_;         ///< by stream
  std::vector<std::size_t> queue_;  ///< by stream: the first with its kind and position
  std::uint32_t visits_ = 0;
  std::optional<std::uint32_t> calls_;  ///< once the last one is known
  std::optional<HostAwaited> awaited_;  ///< the tiles asked for the visit, until it is over
  const HostPhase* phase_ = nullptr;    ///< of the visit
  bool is_inside_ = false;              ///< it is inside a call
  bool is_coming_ = false;              ///< it arrives at the sync that begins it
  Cycles free_;                         ///< the host's callbacks are done
  Cycles callback_wait_;
  std::uint64_t visit_bytes_ = 0;
  std::vector<HostTransfer> transfers_;
  Cycles data_end_;
};

template <class Archive>
void HostLink::state_of_source(Archive& archive, Source& source, std::size_t value_bytes) {
  bool has_value = source.value.has_value(), has_ring = source.ring.has_value();
  if (!Archive::kReads && has_value && source.value->data() != source.own.data()) {
    source.own.assign(source.value->begin(), source.value->end());
  }
  archive(has_value, has_ring, source.fed);
  if (has_value) archive(source.own);
  if (Archive::kReads) {
    source.value.reset();
    source.ring.reset();
    if (has_value) source.value = source.own;
    if (has_ring) source.ring.emplace(nullptr, value_bytes);
  }
  if (has_ring) archive(*source.ring);
}

template <class Archive>
void HostLink::state(Archive& archive) {
  for (std::size_t s = 0; s < sources_.size(); ++s) {
    state_of_source(archive, sources_[s], image_.streams[s].type.bytes());
  }
  for (Sink& sink : sinks_) {
    bool is_connected = sink.callback != nullptr;
    archive(sink.value, sink.taken, is_connected);
    if (Archive::kReads) sink.was_connected = is_connected;
  }
  const std::vector<const HostPhase*> all = phases();
  auto phase = static_cast<std::uint32_t>(std::ranges::find(all, phase_) - all.begin());
  archive(visits_, calls_, awaited_, phase, is_inside_, is_coming_, free_, callback_wait_,
          visit_bytes_, transfers_, data_end_);
  if (Archive::kReads) phase_ = phase < all.size() ? all[phase] : nullptr;
}

}  // namespace superstep
