#include "compiler/lower/moves/pack.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

namespace superstep {
namespace {

/// A part of a piece that one source interval holds, its axes in the order of the destination.
struct PiecePart {
  std::size_t piece;
  Box box;
};

/// `box` without gaps on its destination side, from element `begin` on.
Box dense(Box box, std::int64_t begin) {
  box.to = begin;
  std::int64_t unit = 1;
  for (auto axis = box.axes.rbegin(); axis != box.axes.rend(); ++axis) {
    axis->to = unit;
    unit *= axis->size;
  }
  return box;
}

/// Packs what comes from `source`; what goes to the destination is added by number of its piece.
Packing::Filled pack_source(ProgramBuilder& builder, BufferId source,
                            const std::vector<Piece>& pieces, const Origin& origin,
                            std::vector<std::vector<Piece>>& sent) {
  const Buffer& from = builder.buffer(source);
  const DType dtype = from.type.dtype;
  const std::int64_t alignment = kPackedAlignment / from.element_bytes;
  std::vector<std::vector<PiecePart>> parts(from.layout->intervals().size());
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    if (pieces[p].source != source) continue;
    partition(
        pieces[p].box, kFromSide, [&](std::int64_t e) { return from.layout->interval_at(e); },
        [&](std::size_t number, const Box& box) {
          parts[number].push_back({p, simplified(box)});
        });
  }
  Packing::Filled filled;
  std::vector<Interval> intervals;
  std::vector<std::pair<std::size_t, Piece>> outgoing;
  std::int64_t at = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::int64_t begin = at;
    for (const PiecePart& part : parts[i]) {
      const Box packing = dense(part.box, at);
      Box sending{at, part.box.to, part.box.axes};
      for (std::size_t d = 0; d < sending.axes.size(); ++d) {
        sending.axes[d].from = packing.axes[d].to;
      }
      filled.pieces.push_back({source, packing});
      outgoing.emplace_back(part.piece, Piece{{}, std::move(sending)});
      at = (at + part.box.elements() + alignment - 1) / alignment * alignment;
    }
    if (at > begin)
      intervals.push_back({begin, at - begin, {from.layout->intervals()[i].tiles[0]}});
  }
  filled.buffer =
      builder.add_buffer({.name = origin.name + ".packed",
                          .type = {dtype, {at}},
                          .element_bytes = from.element_bytes,
                          .layout = std::make_shared<const Layout>(std::move(intervals)),
                          .contents = {},
                          .source = origin.source});
  for (auto& [piece, sending] : outgoing) {
    sending.source = filled.buffer;
    sent[piece].push_back(std::move(sending));
  }
  return filled;
}

}  // namespace

bool can_pack(const std::vector<Piece>& pieces) {
  return std::ranges::all_of(pieces, [](const Piece& piece) {
    return std::ranges::none_of(piece.box.axes,
                                [](const Axis& axis) { return axis.from == 0 && axis.size > 1; });
  });
}

Packing pack(ProgramBuilder& builder, const std::vector<Piece>& pieces, const Origin& origin) {
  Packing packing;
  std::vector<std::vector<Piece>> sent(pieces.size());  // in the order of the pieces
  std::map<BufferId, bool> done;
  for (const Piece& piece : pieces) {
    if (std::exchange(done[piece.source], true)) continue;
    packing.filled.push_back(pack_source(builder, piece.source, pieces, origin, sent));
  }
  for (std::vector<Piece>& of_piece : sent) {
    std::ranges::move(of_piece, std::back_inserter(packing.pieces));
  }
  return packing;
}

}  // namespace superstep
