#include "sim/host/link.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "base/error.h"
#include "isa/timing.h"
#include "sim/chip/chip.h"
#include "sim/host/feeds.h"
#include "sim/host/stream_copy.h"

namespace superstep {
namespace {

/// From the release of a tile until the instruction behind its sync, which selects the host, has
/// acted.
constexpr Cycles kListening(2);

/// Up to which a visit may last. Behind it there is room in 64 bits for what comes before the next
/// visit is checked.
constexpr Cycles kLastOfVisit(std::uint64_t{1} << 63);

}  // namespace

HostLink::HostLink(Chip& chip, const ProgramImage& image)
    : MachineProcess(process_place(chip.id(), Rank::kHost)),
      chip_(chip),
      image_(image),
      sources_(image.streams.size()) {
  for (const Stream& stream : image.streams) {
    queue_.push_back(stream_of(stream.kind, stream.position).value());
    sinks_.push_back({HostTensor(stream.type), {}, {}});
  }
  for (const TileEntry& entry : image.entries) {
    last_listening_ =
        std::max(last_listening_, release_skew(image.machine, entry.tile) + kListening);
  }
}

bool HostLink::is_connected(Stream::Kind kind, std::uint32_t position) const {
  const std::optional<std::size_t> stream = stream_of(kind, position);
  return stream && sources_[*stream].ring;
}

std::uint64_t HostLink::made(std::uint32_t queue) const {
  const std::optional<std::size_t> stream = stream_of(Stream::Kind::kInfeed, queue);
  return stream && sources_[*stream].ring ? sources_[*stream].ring->made() : 0;
}

std::uint64_t HostLink::taken(std::uint32_t queue) const {
  const std::optional<std::size_t> stream = stream_of(Stream::Kind::kInfeed, queue);
  return stream && sources_[*stream].ring ? sources_[*stream].ring->taken() : 0;
}

bool HostLink::is_given(Stream::Kind kind, std::uint32_t position) const {
  const std::optional<std::size_t> stream = stream_of(kind, position);
  return stream && (sources_[*stream].value || !sources_[*stream].fed.empty());
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
    std::optional<RingBuffer>& ring = sources_[*stream].ring;
    if (ring) return ring->connect(std::move(source));
    ring.emplace(std::move(source), image_.streams[*stream].type.bytes());
  }
}

void HostLink::connect(Stream::Kind kind, std::uint32_t position, StreamSink sink) {
  sinks_[stream_of(kind, position).value()].callback = std::move(sink);
}

std::vector<const HostPhase*> HostLink::phases() const {
  std::vector<const HostPhase*> all = {nullptr, &image_.first, &image_.next, &image_.last};
  for (const FeedVisit& visit : image_.visits) all.push_back(&visit.phase);
  return all;
}

std::string HostLink::unconnected() const {
  std::string names;
  for (std::uint32_t s = 0; s < sources_.size(); ++s) {
    const bool lacks_source = sources_[s].ring && !sources_[s].ring->is_connected();
    const bool lacks_sink = sinks_[s].was_connected && sinks_[s].callback == nullptr;
    if (lacks_source || lacks_sink) names += (names.empty() ? "" : ", ") + name_of(s);
  }
  return names;
}

std::uint32_t HostLink::call() const {
  const std::uint32_t begun = std::max(1U, visits_) - 1;
  return calls_ ? std::min(begun, *calls_ - 1) : begun;
}

bool HostLink::has_seen_last_call() const { return calls_ && visits_ >= *calls_; }

/// Whether no visit between calls is left; a program without arguments and results has none.
bool HostLink::is_done() const {
  const bool has_calls = !image_.first.arguments.empty() || !image_.next.results.empty() ||
                         !image_.next.arguments.empty() || !image_.last.results.empty();
  return !has_calls || (calls_ && visits_ > *calls_);
}

std::size_t HostLink::entry_of(TileId tile) const {
  const std::optional<std::size_t> entry = chip_.tiles().entry_of(tile);
  SUPERSTEP_CHECK(entry.has_value(), "a stream has a piece on a tile without a program");
  return *entry;
}

TileMemory& HostLink::memory_of(TileId tile) const {
  return chip_.tiles().tile(entry_of(tile)).memory();
}

void HostLink::read_tiles(std::uint32_t stream, HostTensor& tensor) const {
  copy_to_host(
      image_.streams[stream], [&](TileId tile) -> TileMemory& { return memory_of(tile); },
      std::as_writable_bytes(std::span(tensor.data)));
}

std::string HostLink::name_of(std::uint32_t stream) const {
  return stream_name(image_.streams[stream].kind, image_.streams[stream].position);
}

void HostLink::handle(const Message& message, MachineOutbox& out) {
  if (const auto* awaited = std::get_if<HostAwaited>(&message)) {
    awaited_ = *awaited;
    come(out);
  } else if (std::holds_alternative<HostCall>(message)) {
    if (awaited_ && !is_coming_) come(out);
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
                        .cause = std::move(cause),
                        .kind = TrapKind::kHost});
}

/// Asks the program what to do at the boundary of a call; whether there is something.
bool HostLink::takes_turn() {
  if (has_seen_last_call()) return true;
  const HostTurn turn = program_ ? program_(visits_) : HostTurn::kWaits;
  if (turn == HostTurn::kLastCall) calls_ = visits_ + 1;
  return turn != HostTurn::kWaits;
}

/// Goes to the sync at which the tiles wait, when there is something to do there and it is ready;
/// after its last visit it ends the program instead.
void HostLink::come(MachineOutbox& out) {
  const auto inside = std::ranges::find(image_.visits, awaited_->first.pc, &FeedVisit::pc);
  is_inside_ = inside != image_.visits.end();
  callback_wait_ = {};
  if (!is_inside_ && is_done()) {
    chip_.end_superstep(awaited_->last, awaited_->last.cycle);
    return chip_.end();
  }
  if (!is_inside_ && !takes_turn()) return;
  phase_ = is_inside_             ? &inside->phase
           : visits_ == 0         ? &image_.first
           : has_seen_last_call() ? &image_.last
                                  : &image_.next;
  Cycles ready = out.now();
  for (const std::uint32_t s : phase_->arguments) {
    if (!make_ready(s, out, ready)) return;
  }
  callback_wait_ = ready - out.now();
  is_coming_ = true;
  out.send({.time = ready, .to = chip_.barrier(kZoneExternal), .message = HostArrival{}});
}

/// The op that the tiles wait at inside a call.
std::string HostLink::place_of_visit() const {
  const StepInfo* step = is_inside_ ? step_of_visit(image_, awaited_->first.pc) : nullptr;
  if (step == nullptr || step->source.module.file.empty()) return {};
  return fmt::format(" ({} at {})", step->name, step->source.text());
}

/// Whether a stream has a value to send, or needs none; `ready` becomes later when it is made
/// later. Else there is a trap.
bool HostLink::make_ready(std::uint32_t stream, MachineOutbox& out, Cycles& ready) {
  const Source& source = source_of(stream);
  if (!source.ring) {
    const Stream::Kind kind = image_.streams[stream].kind;
    if (kind == Stream::Kind::kArgument && visits_ == 0 && !source.value) {
      refuse(out,
             fmt::format("{} was not sent: the first call needs all arguments", name_of(stream)));
      return false;
    }
    if (kind != Stream::Kind::kInfeed || !source.fed.empty()) return true;
    refuse(out, fmt::format("{} is empty: the program asks for a value that was not fed{}",
                            name_of(stream), place_of_visit()));
    return false;
  }
  if (source.ring->size() == 0 && !call_back_for(stream, out)) return false;
  if (source.ring->size() == 0) {
    refuse(out, fmt::format("{} runs dry: its callback has no value any more{}", name_of(stream),
                            place_of_visit()));
    return false;
  }
  ready = std::max(ready, source.ring->ready());
  return true;
}

/// For another value of a stream to the tiles; false after a trap.
bool HostLink::call_back_for(std::uint32_t stream, MachineOutbox& out) {
  return call_back(stream, out, [&] { source_of(stream).ring->fill(free_); });
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
    refuse(out, fmt::format("the callback of {} fails: {}{}", name_of(stream), error.what(),
                            place_of_visit()));
  } catch (...) {
    refuse(out,
           fmt::format("the callback of {} throws what is no std::exception", name_of(stream)));
  }
  return false;
}

bool HostLink::is_sent(std::uint32_t stream) const {
  switch (image_.streams[stream].kind) {
    case Stream::Kind::kGoesOn:
      return calls_ && visits_ + 1 == *calls_;
    case Stream::Kind::kArgument:
      return source_of(stream).value || source_of(stream).ring;
    default:
      return true;
  }
}

std::span<const std::byte> HostLink::value_of(std::uint32_t stream) const {
  const Source& source = source_of(stream);
  if (source.ring) return source.ring->value();
  if (source.value) return *source.value;
  // Of the word that calls go on by the tensor stays 0.
  const HostTensor& tensor = source.fed.empty() ? sinks_[stream].value : source.fed.front();
  return std::as_bytes(std::span(tensor.data));
}

void HostLink::pop(std::uint32_t stream) {
  Source& source = source_of(stream);
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
  // Those in the place of an argument stay on the tiles between calls.
  for (const HostPhase* phase : {&image_.next, &image_.last}) {
    for (const std::uint32_t s : phase->results) {
      read_tiles(s, results[image_.streams[s].position]);
    }
  }
}

void HostLink::send_trap(MachineOutbox& out, std::size_t entry, PortFault fault) const {
  chip_.send_trap(out, {.cycle = Cycles(fault.cycle),
                        .tile = chip_.tiles().id(entry),
                        .context = "host link",
                        .pc = fault.pc,
                        .cause = std::move(fault.cause)});
}

/// What the ports of all tiles were told in this visit, which is to send what the stream table
/// says; else there are traps, and no ports.
std::vector<VisitPorts> HostLink::checked_ports(MachineOutbox& out) const {
  TileArray& tiles = chip_.tiles();
  std::vector<std::vector<SentRange>> sends(tiles.size());
  for (const std::uint32_t s : phase_->results) {
    for (const StreamPiece& piece : image_.streams[s].pieces) {
      add_sent(sends[entry_of(piece.tile)], piece.address, piece.bytes);
    }
  }
  const ExchangeItem item(chip_.machine());
  std::vector<VisitPorts> ports;
  ports.reserve(tiles.size());
  bool agree = true;
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    ports.emplace_back(item, tiles.tile(i).port_events(), out.now().value());
    auto fault = ports.back().check_sends(sends[i]);
    if (!fault) continue;
    agree = false;
    send_trap(out, i, *std::move(fault));
  }
  if (!agree) ports.clear();
  return ports;
}

/// Cuts the pieces of a stream into packets of at most so many bytes.
void HostLink::add_packets(std::uint32_t stream, std::uint32_t most,
                           std::vector<HostPacket>& packets) {
  HostPacket packet{.transfer = static_cast<std::uint32_t>(transfers_.size())};
  transfers_.push_back({.stream = stream});
  for (const StreamPiece& piece : image_.streams[stream].pieces) {
    packet.entry = entry_of(piece.tile);
    packet.address = piece.address;
    for (std::uint32_t left = piece.bytes; left > 0; left -= packet.bytes) {
      packet.bytes = std::min(left, most);
      packets.push_back(packet);
      packet.address += packet.bytes;
    }
  }
}

/// Whether the visit ends in a cycle that a run can count to; else there is a trap.
bool HostLink::check_end(MachineOutbox& out) const {
  if (out.now() <= kLastOfVisit && data_end_ <= kLastOfVisit - out.now()) return true;
  refuse(out, fmt::format("the packets of this visit end behind cycle {}, up to which a run goes: "
                          "try a shorter host.packet_overhead, larger packets, a lower tile.clock "
                          "or fewer calls{}",
                          kLastOfVisit.value(), place_of_visit()));
  return false;
}

/// Whether the tiles can take the packets when they arrive; else there is a trap for the first one.
bool HostLink::check_arrivals(const std::vector<HostPacket>& packets, Cycles opening,
                              const std::vector<VisitPorts>& ports, MachineOutbox& out) const {
  std::optional<PortFault> first;
  std::size_t blamed = 0;
  for (const HostPacket& packet : packets) {
    const std::uint64_t cycle = (opening + packet.end).value();
    if (first && std::pair(cycle, packet.entry) >= std::pair(first->cycle, blamed)) continue;
    auto fault = ports[packet.entry].check_arrival(cycle);
    if (!fault) continue;
    fault->cause =
        fmt::format("a packet of {} {}", name_of(transfers_[packet.transfer].stream), fault->cause);
    first = std::move(fault);
    blamed = packet.entry;
  }
  if (!first) return true;
  send_trap(out, blamed, *std::move(first));
  return false;
}

/// Adds packets that have passed to the transfers that they are of, and to the visit.
void HostLink::note(const std::vector<HostPacket>& packets) {
  for (const HostPacket& packet : packets) {
    HostTransfer& transfer = transfers_[packet.transfer];
    if (transfer.packets++ == 0) transfer.begin = packet.begin;
    transfer.begin = std::min(transfer.begin, packet.begin);
    transfer.end = std::max(transfer.end, packet.end);
    transfer.bytes += packet.bytes;
    visit_bytes_ += packet.bytes;
    data_end_ = std::max(data_end_, packet.end);
  }
}

/// Moves the data of a visit: out of tile memory, and into it once the tiles have left the sync and
/// sent what it overwrites. The link has two directions, and the host goes to the sync that closes
/// the visit when both are done.
void HostLink::visit(MachineOutbox& out) {
  is_coming_ = false;
  if (chip_.tiles().is_interrupted()) return;
  std::vector<VisitPorts> ports = checked_ports(out);
  if (ports.empty()) return;
  const MachineConfig& machine = chip_.machine();
  transfers_.clear();
  visit_bytes_ = 0;
  data_end_ = cycles_of_ns(machine, machine.host.phase_latency_ns);
  std::vector<HostPacket> to_host, to_tiles;
  for (const std::uint32_t s : phase_->results) {
    add_packets(s, machine.host.to_host_packet_bytes, to_host);
    read_tiles(s, sinks_[s].value);
  }
  for (HostPacket& packet : to_host) {
    packet.ready = Cycles(ports[packet.entry].take(packet.bytes)) - out.now();
  }
  for (const std::uint32_t s : phase_->arguments) {
    if (is_sent(s)) add_packets(s, machine.host.to_tile_packet_bytes, to_tiles);
  }
  for (HostPacket& packet : to_tiles) {
    const Cycles sent(ports[packet.entry].sent_by(packet.address, packet.bytes));
    packet.ready = std::max(out.now() + last_listening_, sent) - out.now();
  }
  for (std::vector<HostPacket>* packets : {&to_host, &to_tiles}) {
    time_packets(machine, *packets);
    note(*packets);
  }
  if (!check_end(out) || !check_arrivals(to_tiles, out.now(), ports, out)) return;
  for (const std::uint32_t s : phase_->arguments) {
    if (!is_sent(s)) continue;
    copy_to_tiles(
        image_.streams[s], [&](TileId tile) -> TileMemory& { return memory_of(tile); },
        value_of(s));
    pop(s);
  }
  if (!is_inside_) ++visits_;
  data_end_ += out.now();
  out.send({.time = data_end_, .to = chip_.barrier(kZoneExternal), .message = HostArrival{}});
}

/// The visit is over: calls back for what it brought, and makes ahead what later ones will need.
void HostLink::leave(MachineOutbox& out) {
  for (const std::uint32_t s : phase_->results) {
    const HostTensor& value = sinks_[s].value;
    Sink& sink = sinks_[queue_[s]];
    if (sink.callback) {
      const auto give = [&] { sink.callback(std::as_bytes(std::span(value.data))); };
      if (!call_back(s, out, give)) return;
    } else if (image_.streams[s].kind == Stream::Kind::kOutfeed) {
      sink.taken.push_back(value);
    }
  }
  for (std::uint32_t s = 0; s < sources_.size(); ++s) {
    if (has_seen_last_call() && image_.streams[s].kind == Stream::Kind::kArgument) continue;
    std::optional<RingBuffer>& ring = sources_[s].ring;  // of the first stream of a queue
    while (ring && !ring->is_dry() && ring->size() < chip_.machine().host.prefetch) {
      if (!call_back_for(s, out)) return;
    }
  }
  awaited_.reset();
}

}  // namespace superstep
