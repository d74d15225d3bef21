#include "sim/host/link.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "base/error.h"
#include "sim/chip/chip.h"
#include "sim/host/port_check.h"
#include "sim/host/stream_copy.h"

namespace superstep {
namespace {

/// Bytes and packets of one direction.
struct Traffic {
  std::uint64_t bytes = 0;
  std::uint64_t packets = 0;
  Cycles end = {};  ///< of what is counted, from the start of the visit

  void add(const StreamPiece& piece, std::uint32_t packet_bytes) {
    bytes += piece.bytes;
    packets += (piece.bytes + packet_bytes - 1) / packet_bytes;
  }
};

/// Cycles for latency + packets * overhead + bytes / bandwidth, rounded up once.
Cycles duration_of(const MachineConfig& machine, const Traffic& traffic) {
  using Wide = unsigned __int128;
  constexpr Wide kPerSecond = 1'000'000'000;
  const Wide clock = machine.tile.clock_hz;
  const Wide rate = machine.host.bytes_per_second;
  const Wide nanoseconds =
      machine.host.phase_latency_ns + Wide{traffic.packets} * machine.host.packet_overhead_ns;
  const Wide scaled = clock * (nanoseconds * rate + Wide{traffic.bytes} * kPerSecond);
  const Wide unit = kPerSecond * rate;
  return Cycles(static_cast<std::uint64_t>((scaled + unit - 1) / unit));
}

}  // namespace

HostLink::HostLink(Chip& chip, const ProgramImage& image)
    : MachineProcess(place_of(chip.id(), Rank::kHost)),
      chip_(chip),
      image_(image),
      sources_(image.streams.size()) {
  for (const Stream& stream : image.streams) sinks_.push_back({HostTensor(stream.type), {}, {}});
}

std::optional<std::size_t> HostLink::stream_of(Stream::Kind kind, std::uint32_t position) const {
  for (std::size_t s = 0; s < image_.streams.size(); ++s) {
    const Stream& stream = image_.streams[s];
    if (stream.kind == kind && stream.position == position) return s;
  }
  return std::nullopt;
}

void HostLink::set_argument(std::uint32_t position, std::span<const std::byte> bytes) {
  if (const auto stream = stream_of(Stream::Kind::kArgument, position)) {
    sources_[*stream].value = bytes;
  }
}

void HostLink::feed(std::uint32_t queue, HostTensor value) {
  sources_[stream_of(Stream::Kind::kInfeed, queue).value()].fed.push_back(std::move(value));
}

std::optional<HostTensor> HostLink::take(std::uint32_t queue) {
  Sink& sink = sinks_[stream_of(Stream::Kind::kOutfeed, queue).value()];
  if (sink.taken.empty()) return std::nullopt;
  HostTensor value = std::move(sink.taken.front());
  sink.taken.pop_front();
  return value;
}

void HostLink::connect(Stream::Kind kind, std::uint32_t position, StreamSource source) {
  // An argument that the program does not read has no stream.
  if (const auto stream = stream_of(kind, position)) {
    sources_[*stream].ring.emplace(std::move(source), image_.streams[*stream].type.bytes());
  }
}

void HostLink::connect(Stream::Kind kind, std::uint32_t position, StreamSink sink) {
  sinks_[stream_of(kind, position).value()].callback = std::move(sink);
}

std::uint32_t HostLink::call() const {
  const std::uint32_t begun = std::max(1U, visits_) - 1;
  return calls_ ? std::min(begun, *calls_ - 1) : begun;
}

bool HostLink::has_seen_last_call() const { return calls_ && visits_ >= *calls_; }

std::string HostLink::problem_of_end() const {
  const bool has_calls = !image_.first.arguments.empty() || !image_.next.results.empty() ||
                         !image_.next.arguments.empty() || !image_.last.results.empty();
  if (!has_calls || (calls_ && visits_ > *calls_)) return {};
  if (!calls_) {
    return fmt::format("the program ends after {} host phases, before the host's last call",
                       visits_);
  }
  return fmt::format("the program ends after {} of {} host phases", visits_, *calls_ + 1);
}

TileMemory& HostLink::memory_of(TileId tile) const {
  const std::optional<std::size_t> entry = chip_.tiles().entry_of(tile);
  SUPERSTEP_CHECK(entry.has_value(), "a stream has a piece on a tile without a program");
  return chip_.tiles().tile(*entry).memory();
}

std::string HostLink::name_of(std::uint32_t stream) const {
  const Stream& of = image_.streams[stream];
  switch (of.kind) {
    case Stream::Kind::kArgument:
      return fmt::format("arg{}", of.position);
    case Stream::Kind::kResult:
      return fmt::format("result{}", of.position);
    case Stream::Kind::kInfeed:
      return fmt::format("infeed {}", of.position);
    case Stream::Kind::kOutfeed:
      return fmt::format("outfeed {}", of.position);
    case Stream::Kind::kGoesOn:
      break;
  }
  return "the stream of whether calls go on";
}

void HostLink::handle(const Message& message, MachineOutbox& out) {
  if (const auto* awaited = std::get_if<HostAwaited>(&message)) {
    awaited_ = *awaited;
    come(out);
  } else if (std::holds_alternative<HostCall>(message)) {
    if (awaited_) come(out);
  } else if (std::get<Opening>(message).begins_visit) {
    visit(out);
  } else {
    leave(out);
  }
}

/// Blames the tile that came last.
void HostLink::refuse(MachineOutbox& out, std::string cause) const {
  const WaitingTile& last = awaited_->last;
  chip_.send_trap(out, {.cycle = out.now(),
                        .tile = last.tile,
                        .context = "host",
                        .pc = last.pc,
                        .cause = std::move(cause)});
}

/// Asks the program what to do at the boundary of a call; whether there is something.
bool HostLink::takes_turn(MachineOutbox& out) {
  if (calls_ && visits_ > *calls_) {
    refuse(out,
           fmt::format("the program asks for a host phase after its last ({} calls)", *calls_));
    return false;
  }
  if (has_seen_last_call()) return true;
  const HostTurn turn = program_ ? program_(visits_) : HostTurn::kWaits;
  if (turn == HostTurn::kLastCall) calls_ = visits_ + 1;
  return turn != HostTurn::kWaits;
}

/// Goes to the sync at which the tiles wait, when there is something to do there and it is ready.
void HostLink::come(MachineOutbox& out) {
  const auto inside = std::ranges::find(image_.visits, awaited_->first.pc, &FeedVisit::pc);
  is_inside_ = inside != image_.visits.end();
  if (!is_inside_ && !takes_turn(out)) return;
  phase_ = is_inside_             ? &inside->phase
           : visits_ == 0         ? &image_.first
           : has_seen_last_call() ? &image_.last
                                  : &image_.next;
  Cycles ready = out.now();
  for (const std::uint32_t s : phase_->arguments) {
    if (!make_ready(s, out, ready)) return;
  }
  out.send({.time = ready, .to = chip_.barrier(kZoneExternal), .message = HostArrival{}});
}

/// Whether a stream has a value to send, or needs none; `ready` becomes later when it is made
/// later. Else there is a trap.
bool HostLink::make_ready(std::uint32_t stream, MachineOutbox& out, Cycles& ready) {
  Source& source = sources_[stream];
  if (!source.ring) {
    if (image_.streams[stream].kind != Stream::Kind::kInfeed || !source.fed.empty()) return true;
    refuse(out, fmt::format("{} is empty: the program asks for a value that was not fed",
                            name_of(stream)));
    return false;
  }
  if (source.ring->size() == 0 && !call_back_for(stream, out)) return false;
  if (source.ring->size() == 0) {
    refuse(out, fmt::format("{} runs dry: its callback has no value any more", name_of(stream)));
    return false;
  }
  ready = std::max(ready, source.ring->ready());
  return true;
}

/// For another value of a stream to the tiles; false after a trap.
bool HostLink::call_back_for(std::uint32_t stream, MachineOutbox& out) {
  return call_back(stream, out, [&] { sources_[stream].ring->fill(free_); });
}

/// Runs a callback of a stream, when those before it are done; false after a trap.
bool HostLink::call_back(std::uint32_t stream, MachineOutbox& out,
                         const std::function<void()>& callback) {
  const MachineConfig& machine = chip_.machine();
  free_ = std::max(out.now(), free_) + cycles_of_ns(machine, machine.host.callback_latency_ns);
  try {
    callback();
    return true;
  } catch (const std::exception& error) {
    refuse(out, fmt::format("the callback of {} fails: {}", name_of(stream), error.what()));
    return false;
  }
}

bool HostLink::is_sent(std::uint32_t stream) const {
  switch (image_.streams[stream].kind) {
    case Stream::Kind::kGoesOn:
      return calls_ && visits_ + 1 == *calls_;
    case Stream::Kind::kArgument:
      return sources_[stream].value || sources_[stream].ring;
    default:
      return true;
  }
}

std::span<const std::byte> HostLink::value_of(std::uint32_t stream) const {
  const Source& source = sources_[stream];
  if (source.ring) return source.ring->value();
  if (source.value) return *source.value;
  // Of the word that calls go on by the tensor stays 0.
  const HostTensor& tensor = source.fed.empty() ? sinks_[stream].value : source.fed.front();
  return std::as_bytes(std::span(tensor.data));
}

void HostLink::pop(std::uint32_t stream) {
  Source& source = sources_[stream];
  source.value.reset();
  if (source.ring) {
    source.ring->pop();
  } else if (!source.fed.empty()) {
    source.fed.pop_front();
  }
}

void HostLink::copy_results(std::vector<HostTensor>& results) const {
  for (std::size_t s = 0; s < sinks_.size(); ++s) {
    if (image_.streams[s].kind != Stream::Kind::kResult) continue;
    results[image_.streams[s].position] = sinks_[s].value;
  }
}

void HostLink::read_results(std::vector<HostTensor>& results) const {
  for (const std::uint32_t s : (has_seen_last_call() ? image_.last : image_.next).results) {
    copy_to_host(
        image_.streams[s], [&](TileId tile) -> TileMemory& { return memory_of(tile); },
        std::as_writable_bytes(std::span(results[image_.streams[s].position].data)));
  }
}

/// Whether the tiles sent what the stream table says; else there are traps.
bool HostLink::check_ports(MachineOutbox& out) const {
  TileArray& tiles = chip_.tiles();
  std::vector<std::vector<SentRange>> sends(tiles.size());
  std::vector<bool> receives(tiles.size(), false);
  for (const std::uint32_t s : phase_->results) {
    for (const StreamPiece& piece : image_.streams[s].pieces) {
      add_sent(sends[tiles.entry_of(piece.tile).value()], piece.address, piece.bytes);
    }
  }
  for (const std::uint32_t s : phase_->arguments) {
    if (!is_sent(s)) continue;
    for (const StreamPiece& piece : image_.streams[s].pieces) {
      receives[tiles.entry_of(piece.tile).value()] = true;
    }
  }
  bool agree = true;
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    const auto fault = check_port(tiles.tile(i).port_events(), sends[i], receives[i]);
    if (!fault) continue;
    agree = false;
    chip_.send_trap(out, {.cycle = Cycles(fault->cycle),
                          .tile = tiles.id(i),
                          .context = "host link",
                          .pc = fault->pc,
                          .cause = fault->cause});
  }
  return agree;
}

/// Moves the data of a visit: out of tile memory, then into it. The link has two directions, and
/// the host goes to the sync that closes the visit when both are done.
void HostLink::visit(MachineOutbox& out) {
  if (!check_ports(out)) return;
  const MachineConfig& machine = chip_.machine();
  const MemoryOfTile memory = [&](TileId tile) -> TileMemory& { return memory_of(tile); };
  transfers_.clear();
  // Those of one direction follow each other; the first has the latency of the phase.
  const auto add = [&](std::uint32_t stream, std::uint32_t packet_bytes, Traffic& traffic) {
    HostTransfer transfer{.stream = stream, .begin = traffic.end, .end = {}};
    for (const StreamPiece& piece : image_.streams[stream].pieces) {
      transfer.bytes += piece.bytes;
      traffic.add(piece, packet_bytes);
    }
    transfer.end = traffic.end = duration_of(machine, traffic);
    transfers_.push_back(transfer);
  };
  Traffic to_host, to_tiles;
  for (const std::uint32_t s : phase_->results) {
    add(s, machine.host.to_host_packet_bytes, to_host);
    copy_to_host(image_.streams[s], memory,
                 std::as_writable_bytes(std::span(sinks_[s].value.data)));
  }
  for (const std::uint32_t s : phase_->arguments) {
    if (!is_sent(s)) continue;
    add(s, machine.host.to_tile_packet_bytes, to_tiles);
    copy_to_tiles(image_.streams[s], memory, value_of(s));
    pop(s);
  }
  if (!is_inside_) ++visits_;
  visit_bytes_ = to_host.bytes + to_tiles.bytes;
  const Cycles duration = std::max(duration_of(machine, to_host), duration_of(machine, to_tiles));
  out.send(
      {.time = out.now() + duration, .to = chip_.barrier(kZoneExternal), .message = HostArrival{}});
}

/// The visit is over: calls back for what it brought, and makes ahead what later ones will need.
void HostLink::leave(MachineOutbox& out) {
  for (const std::uint32_t s : phase_->results) {
    Sink& sink = sinks_[s];
    const std::span<const std::byte> value = std::as_bytes(std::span(sink.value.data));
    if (sink.callback) {
      if (!call_back(s, out, [&] { sink.callback(value); })) return;
    } else if (image_.streams[s].kind == Stream::Kind::kOutfeed) {
      sink.taken.push_back(sink.value);
    }
  }
  for (std::uint32_t s = 0; s < sources_.size() && !has_seen_last_call(); ++s) {
    std::optional<RingBuffer>& ring = sources_[s].ring;
    while (ring && !ring->is_dry() && ring->size() < chip_.machine().host.prefetch) {
      if (!call_back_for(s, out)) return;
    }
  }
  awaited_.reset();
}

}  // namespace superstep
