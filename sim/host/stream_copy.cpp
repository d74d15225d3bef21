#include "sim/host/stream_copy.h"

#include <cstdint>
#include <cstring>
#include <vector>

#include "base/error.h"

namespace superstep {
namespace {

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

}  // namespace

void copy_to_host(const Stream& stream, const MemoryOfTile& memory_of,
                  std::span<std::byte> tensor) {
  std::vector<std::byte> packet;
  for (const StreamPiece& piece : stream.pieces) {
    packet.resize(piece.bytes);
    const bool inside = memory_of(piece.tile).read(piece.address, std::span(packet));
    SUPERSTEP_CHECK(inside, "a piece lies outside tile memory");
    for (const StreamBox& box : piece.boxes) {
      for_each_run(box, [&](std::uint64_t from, std::uint64_t to) {
        SUPERSTEP_CHECK(from + box.bytes <= packet.size() && to + box.bytes <= tensor.size(),
                        "a piece lies past its tensor");
        std::memcpy(tensor.data() + to, packet.data() + from, box.bytes);
      });
    }
  }
}

void copy_to_tiles(const Stream& stream, const MemoryOfTile& memory_of,
                   std::span<const std::byte> tensor) {
  std::vector<std::byte> packet;
  for (const StreamPiece& piece : stream.pieces) {
    packet.assign(piece.bytes, std::byte{0});
    for (const StreamBox& box : piece.boxes) {
      for_each_run(box, [&](std::uint64_t to, std::uint64_t from) {
        SUPERSTEP_CHECK(to + box.bytes <= packet.size() && from + box.bytes <= tensor.size(),
                        "a piece lies past its tensor");
        std::memcpy(packet.data() + to, tensor.data() + from, box.bytes);
      });
    }
    const bool inside = memory_of(piece.tile).write(piece.address, packet);
    SUPERSTEP_CHECK(inside, "a piece lies outside tile memory");
  }
}

}  // namespace superstep
