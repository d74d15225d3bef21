#include "sim/host/link.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "isa/exchange_ports.h"
#include "sim/host/arguments.h"

namespace superstep {
namespace {

/// Bytes and packets of one direction.
struct Traffic {
  std::uint64_t bytes = 0;
  std::uint64_t packets = 0;

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

/// A run of bytes of tile memory.
struct Extent {
  std::uint32_t address = 0;
  std::uint64_t bytes = 0;
  bool operator==(const Extent&) const = default;
};

/// Adds bytes in the order in which they go; neighbours become one, so that how a row is cut into
/// sends does not matter.
void add_extent(std::vector<Extent>& extents, std::uint32_t address, std::uint64_t bytes) {
  if (bytes == 0) return;
  if (!extents.empty() && extents.back().address + extents.back().bytes == address) {
    extents.back().bytes += bytes;
  } else {
    extents.push_back({address, bytes});
  }
}

std::string text_of(const std::vector<Extent>& extents) {
  std::string text;
  for (const Extent& extent : extents) {
    if (!text.empty()) text += ", ";
    text += fmt::format("{} B at {:#x}", extent.bytes, extent.address);
  }
  return text.empty() ? "nothing" : text;
}

std::size_t port_of(std::span<const HostPort> ports, TileId tile) {
  const auto port = std::lower_bound(ports.begin(), ports.end(), tile,
                                     [](const HostPort& p, TileId t) { return p.tile < t; });
  SUPERSTEP_CHECK(
      port != ports.end() && port->tile == tile,
      fmt::format("a stream has a piece on tile {}, which has no program", index(tile)));
  return static_cast<std::size_t>(port - ports.begin());
}

/// Calls `visit` with the offsets in the piece and in the tensor of every run of `box`.
void for_each_run(const StreamBox& box, const auto& visit) {
  const auto go = [&](const auto& self, std::size_t axis, std::int64_t piece,
                      std::int64_t host) -> void {
    if (axis == box.axes.size()) {
      visit(static_cast<std::uint64_t>(piece), static_cast<std::uint64_t>(host));
      return;
    }
    const StreamBox::Axis& a = box.axes[axis];
    for (std::uint32_t i = 0; i < a.count; ++i) {
      self(self, axis + 1, piece + i * a.piece_stride, host + i * a.host_stride);
    }
  };
  go(go, 0, box.piece_offset, static_cast<std::int64_t>(box.host_offset));
}

/// Compares what a tile's ports did with what the stream table expects of it.
std::optional<HostFault> check_port(const HostPort& port, const std::vector<Extent>& expected,
                                    bool receives) {
  std::vector<Extent> sent;
  bool selected = false;
  bool ever_selected = false;
  for (const PortEvent& event : *port.events) {
    if (event.kind == PortEvent::Kind::kMux) {
      selected = event.value == kMuxHost;
      ever_selected = ever_selected || selected;
    } else if (event.kind == PortEvent::Kind::kSend &&
               (event.direction & kSendBothWays) != kSendNowhere) {
      if (!selected) {
        return HostFault{event.cycle, port.tile, event.pc,
                         "a send in a host phase while the input mux does not select the host"};
      }
      add_extent(sent, event.value, std::uint64_t{event.words} * 4);
    }
  }
  const std::uint64_t cycle = port.events->empty() ? 0 : port.events->back().cycle;
  const std::uint32_t pc = port.events->empty() ? 0 : port.events->back().pc;
  if (sent != expected) {
    return HostFault{cycle, port.tile, pc,
                     fmt::format("the tile sends {} to the host, but the stream table expects {}",
                                 text_of(sent), text_of(expected))};
  }
  if (receives && !ever_selected) {
    return HostFault{cycle, port.tile, pc,
                     "arguments arrive but the input mux never selects the host in this phase"};
  }
  return std::nullopt;
}

}  // namespace

HostLink::HostLink(const ProgramImage& image, const std::vector<HostTensor>& arguments,
                   std::uint32_t calls)
    : image_(image), arguments_(arguments), calls_(calls) {
  for (std::size_t r = 0; r < image.results.size(); ++r) {
    TensorType type = image.results[r];
    const bool aliased = r < image.alias.size() && image.alias[r].has_value();
    if (calls > 1 && !aliased) type.shape.insert(type.shape.begin(), calls);
    results_.emplace_back(type);
  }
}

const HostPhase& HostLink::phase() const {
  if (visits_ == 0) return image_.first;
  return visits_ == calls_ ? image_.last : image_.next;
}

bool HostLink::is_sent(const Stream& stream) const {
  if (stream.kind == Stream::Kind::kGoesOn) return visits_ + 1 == calls_;
  if (visits_ == 0) return true;
  // What is not cut into slices was sent in the first phase and stays.
  return is_sliced(stream.type, arguments_[stream.position].type, calls_);
}

void HostLink::receive(const Stream& stream, std::span<const HostPort> ports) {
  HostTensor& result = results_[stream.position];
  const bool aliased =
      stream.position < image_.alias.size() && image_.alias[stream.position].has_value();
  const std::uint64_t slice =
      calls_ > 1 && !aliased && visits_ > 0 ? (visits_ - 1) * stream.type.bytes() : 0;
  std::vector<std::byte> packet;
  for (const StreamPiece& piece : stream.pieces) {
    packet.resize(piece.bytes);
    const bool inside =
        ports[port_of(ports, piece.tile)].memory->read(piece.address, std::span(packet));
    SUPERSTEP_CHECK(inside, "a piece lies outside tile memory");
    for (const StreamBox& box : piece.boxes) {
      for_each_run(box, [&](std::uint64_t from, std::uint64_t to) {
        SUPERSTEP_CHECK(
            from + box.bytes <= packet.size() && slice + to + box.bytes <= result.data.size(),
            "a piece lies past its result");
        std::memcpy(result.data.data() + slice + to, packet.data() + from, box.bytes);
      });
    }
  }
}

void HostLink::send(const Stream& stream, std::span<const HostPort> ports) {
  std::vector<std::byte> packet;
  for (const StreamPiece& piece : stream.pieces) {
    packet.assign(piece.bytes, std::byte{0});
    if (stream.kind != Stream::Kind::kGoesOn) {
      const HostTensor& argument = arguments_[stream.position];
      const bool sliced = is_sliced(stream.type, argument.type, calls_);
      const std::uint64_t slice = sliced ? visits_ * stream.type.bytes() : 0;
      for (const StreamBox& box : piece.boxes) {
        for_each_run(box, [&](std::uint64_t to, std::uint64_t from) {
          SUPERSTEP_CHECK(
              to + box.bytes <= packet.size() && slice + from + box.bytes <= argument.data.size(),
              "a piece lies past its argument");
          std::memcpy(packet.data() + to, argument.data.data() + slice + from, box.bytes);
        });
      }
    }
    const bool inside = ports[port_of(ports, piece.tile)].memory->write(piece.address, packet);
    SUPERSTEP_CHECK(inside, "a piece lies outside tile memory");
  }
}

FinishedPhase HostLink::visit(std::span<const HostPort> ports) {
  SUPERSTEP_CHECK(!done(), "a host phase after the last");
  const MachineConfig& machine = image_.machine;
  Traffic to_host;
  Traffic to_tiles;
  FinishedPhase out;
  // Those of one direction follow each other; the first has the latency of the phase.
  const auto add_transfer = [&](std::uint32_t stream, std::uint64_t bytes_before, Cycles begin,
                                const Traffic& traffic) {
    const Cycles end = duration_of(machine, traffic);
    out.transfers.push_back({stream, traffic.bytes - bytes_before, begin, end});
    return end;
  };
  std::vector<std::vector<Extent>> expected(ports.size());
  std::vector<bool> receives(ports.size(), false);
  Cycles at;
  for (const std::uint32_t s : phase().results) {
    const std::uint64_t before = to_host.bytes;
    for (const StreamPiece& piece : image_.streams[s].pieces) {
      to_host.add(piece, machine.host.to_host_packet_bytes);
      add_extent(expected[port_of(ports, piece.tile)], piece.address, piece.bytes);
    }
    at = add_transfer(s, before, at, to_host);
  }
  at = {};
  for (const std::uint32_t s : phase().arguments) {
    if (!is_sent(image_.streams[s])) continue;
    const std::uint64_t before = to_tiles.bytes;
    for (const StreamPiece& piece : image_.streams[s].pieces) {
      to_tiles.add(piece, machine.host.to_tile_packet_bytes);
      receives[port_of(ports, piece.tile)] = true;
    }
    at = add_transfer(s, before, at, to_tiles);
  }
  for (std::size_t p = 0; p < ports.size(); ++p) {
    const auto fault = check_port(ports[p], expected[p], receives[p]);
    if (fault && (!out.fault || fault->cycle < out.fault->cycle)) out.fault = fault;
  }
  if (out.fault) return out;
  for (const std::uint32_t s : phase().results) receive(image_.streams[s], ports);
  for (const std::uint32_t s : phase().arguments) {
    if (is_sent(image_.streams[s])) send(image_.streams[s], ports);
  }
  out.bytes = to_host.bytes + to_tiles.bytes;
  out.duration = std::max(duration_of(machine, to_host), duration_of(machine, to_tiles));
  ++visits_;
  return out;
}

}  // namespace superstep
