#include "compiler/vertex/copy_plan.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "base/error.h"

namespace superstep::vertex {
namespace {

using Address = std::int64_t;

/// Steps of one dimension, in bytes.
struct Dimension {
  Address count, to, from;
  bool whole = false;  ///< not cut: a word belongs to two of its steps
};

/// The greatest count of an `rpt`.
constexpr Address kMostSteps = 65535;

/// A part of a box that one kind of command can do; the last dimension is the innermost.
struct Piece {
  CopyKind kind = CopyKind::kStrided;
  Address to = 0, from = 0;
  std::vector<Dimension> dimensions;
  Address element_from = 0;  ///< kGather: from one element of a word to the next

  [[nodiscard]] const Dimension& inner() const { return dimensions.back(); }
  [[nodiscard]] Address rows() const {
    Address rows = 1;
    for (std::size_t d = 0; d + 1 < dimensions.size(); ++d) rows *= dimensions[d].count;
    return rows;
  }
};

/// Drops dimensions of one element, joins those that go on where another ends.
std::vector<Dimension> simplified(std::vector<Dimension> dimensions) {
  std::erase_if(dimensions, [](const Dimension& d) { return d.count == 1; });
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t o = 0; o < dimensions.size() && !changed; ++o) {
      for (std::size_t i = 0; i < dimensions.size() && !changed; ++i) {
        Dimension& outer = dimensions[o];
        const Dimension inner = dimensions[i];
        if (o == i || outer.to != inner.to * inner.count ||
            outer.from != inner.from * inner.count) {
          continue;
        }
        outer = {outer.count * inner.count, inner.to, inner.from};
        dimensions.erase(dimensions.begin() + static_cast<std::ptrdiff_t>(i));
        changed = true;
      }
    }
  }
  return dimensions;
}

bool all_multiples(const std::vector<Dimension>& dimensions, Address unit) {
  return std::all_of(dimensions.begin(), dimensions.end(),
                     [&](const Dimension& d) { return d.to % unit == 0 && d.from % unit == 0; });
}

std::uint64_t cost_of(const Piece& piece, std::uint32_t element_bytes) {
  const CopyCosts costs = copy_costs(piece.kind, element_bytes);
  const auto rows = static_cast<std::uint64_t>(piece.rows());
  const std::uint64_t row =
      costs.row + costs.step * static_cast<std::uint64_t>(piece.inner().count);
  if (piece.kind == CopyKind::kGather || piece.kind == CopyKind::kMerge)
    return rows * (costs.command + row);
  std::uint64_t slots = costs.command + rows * row;
  if (rows == 1) return slots;
  std::size_t d = piece.dimensions.size() - 2;
  while (piece.dimensions[d].count == 1) --d;
  const std::uint64_t planes = rows / static_cast<std::uint64_t>(piece.dimensions[d].count);
  return slots + kCopyRowsSlots + (rows - 1) * kCopyRowSlots + (planes - 1) * kCopyPlaneSlots;
}

/// Cuts boxes into pieces.
class Cutter {
 public:
  explicit Cutter(std::uint32_t element_bytes) : bytes_(element_bytes) {}

  std::vector<Piece> take() { return std::move(pieces_); }

  void box(Address to, Address from, std::vector<Dimension> dimensions) {
    if (std::any_of(dimensions.begin(), dimensions.end(),
                    [](const Dimension& d) { return d.count == 0; })) {
      return;
    }
    dimensions = simplified(std::move(dimensions));
    if (bytes_ == 4) {
      words(to, from, std::move(dimensions));
    } else {
      narrow(to, from, std::move(dimensions));
    }
  }

 private:
  // Words, with whatever dimension inside that costs least.
  void words(Address to, Address from, std::vector<Dimension> dimensions) {
    if (dimensions.empty()) dimensions.push_back({1, 4, 4});
    std::optional<std::vector<Piece>> best;
    std::uint64_t least = 0;
    for (std::size_t inner = 0; inner < dimensions.size(); ++inner) {
      std::vector<Dimension> order = dimensions;
      std::rotate(order.begin() + static_cast<std::ptrdiff_t>(inner),
                  order.begin() + static_cast<std::ptrdiff_t>(inner) + 1, order.end());
      // Of the others, the longer one is that of the rows.
      if (order.size() == 3 && order[0].count > order[1].count) std::swap(order[0], order[1]);
      std::vector<Piece> pieces = runs(to, from, order);
      std::uint64_t cost = 0;
      for (const Piece& p : pieces) cost += cost_of(p, bytes_);
      if (!best || cost < least) {
        best = std::move(pieces);
        least = cost;
      }
    }
    pieces_.insert(pieces_.end(), best->begin(), best->end());
  }

  static std::vector<Piece> runs(Address to, Address from, const std::vector<Dimension>& order) {
    const Dimension inner = order.back();
    std::vector<Dimension> outer(order.begin(), order.end() - 1);
    std::vector<Piece> pieces;
    const auto add = [&](CopyKind kind, Address first, Dimension d) {
      Piece p{kind, to + first * inner.to, from + first * inner.from, outer};
      p.dimensions.push_back(d);
      if (d.count > 0) pieces.push_back(std::move(p));
    };
    const bool fills = inner.from == 0;
    const auto in_pairs = [&](auto of) {
      return std::all_of(outer.begin(), outer.end(),
                         [&](const Dimension& d) { return of(d) % 8 == 0; });
    };
    const bool to_in_pairs = in_pairs([](const Dimension& d) { return d.to; });
    const bool from_in_pairs = in_pairs([](const Dimension& d) { return d.from; });
    const bool dense = inner.to == 4 && to_in_pairs &&
                       (fills || (inner.from == 4 && from_in_pairs && (to - from) % 8 == 0));
    const Address head = dense && to % 8 != 0 ? 1 : 0;
    const Address pairs = dense ? (inner.count - head) / 2 : 0;
    if (pairs < 2) {
      add(fills ? CopyKind::kFill : CopyKind::kStrided, 0, inner);
      return pieces;
    }
    // The odd words before and behind are alike: one command with a row of each place.
    const Address tail = inner.count - head - 2 * pairs;
    add(CopyKind::kStrided, 0, {head, 4, 4});
    add(fills ? CopyKind::kFillPairs : CopyKind::kDense, head,
        {pairs, 8, fills ? Address{0} : Address{8}});
    add(CopyKind::kStrided, inner.count - tail, {tail, 4, 4});
    return pieces;
  }

  void narrow(Address to, Address from, std::vector<Dimension> dimensions) {
    const Address size = bytes_;
    const auto dense = std::find_if(dimensions.begin(), dimensions.end(),
                                    [&](const Dimension& d) { return d.to == size; });
    if (dense == dimensions.end()) {
      merge(to, from, dimensions, !rows_are_apart(to, size, dimensions));
      return;
    }
    const Dimension inner = *dense;
    dimensions.erase(dense);
    const Address head = std::min((4 - to % 4) % 4 / size, inner.count);
    const Address in_words = (inner.count - head) * size / 4;
    const Address tail = inner.count - head - in_words * 4 / size;
    const bool apart = rows_are_apart(to, inner.count * size, dimensions);
    const auto part = [&](Address first, Address count) {
      if (count == 0) return;
      std::vector<Dimension> all = dimensions;
      for (Dimension& d : all) d.whole = !apart;
      all.push_back({count, inner.to, inner.from, true});
      merge(to + first * inner.to, from + first * inner.from, std::move(all), false);
    };
    if (!apart) return part(0, inner.count);
    part(0, head);
    part(inner.count - tail, tail);
    if (in_words == 0) return;
    const Address to_words = to + head * inner.to, from_words = from + head * inner.from;
    std::vector<Dimension> rows = dimensions;
    rows.push_back({in_words, 4, 4 / size * inner.from});
    if (inner.from == size && from_words % 4 == 0 && all_multiples(rows, 4)) {
      words(to_words, from_words, simplified(rows));
      return;
    }
    Piece p{CopyKind::kGather, to_words, from_words, rows};
    p.element_from = inner.from;
    pieces_.push_back(std::move(p));
  }

  void merge(Address to, Address from, std::vector<Dimension> dimensions, bool whole) {
    if (dimensions.empty()) dimensions.push_back({1, Address{bytes_}, Address{bytes_}});
    for (Dimension& d : dimensions) d.whole = d.whole || whole;
    std::stable_sort(dimensions.begin(), dimensions.end(),
                     [](const Dimension& a, const Dimension& b) { return a.count < b.count; });
    pieces_.push_back({CopyKind::kMerge, to, from, std::move(dimensions)});
  }

  // No word belongs to two rows.
  static bool rows_are_apart(Address to, Address bytes, std::vector<Dimension> rows) {
    Address reach = (to % 4 + bytes + 3) / 4 * 4;
    std::sort(rows.begin(), rows.end(), [](const Dimension& a, const Dimension& b) {
      return std::abs(a.to) < std::abs(b.to);
    });
    for (const Dimension& d : rows) {
      if (d.to % 4 != 0 || std::abs(d.to) < reach) return false;
      reach = std::abs(d.to) * d.count;
    }
    return true;
  }

  std::uint32_t bytes_;
  std::vector<Piece> pieces_;
};

/// The dimension along which a piece is cut, if it can be.
std::optional<std::size_t> cut_dimension(const Piece& piece, std::uint32_t workers) {
  std::optional<std::size_t> longest;
  for (std::size_t d = 0; d < piece.dimensions.size(); ++d) {
    const Dimension& dimension = piece.dimensions[d];
    if (dimension.whole || dimension.count < 2) continue;
    // Whole planes or rows where there are enough of them.
    if (d + 1 < piece.dimensions.size() && dimension.count >= 2 * Address{workers}) return d;
    if (!longest || dimension.count > piece.dimensions[*longest].count) longest = d;
  }
  return longest;
}

/// The first `count` steps of a dimension, and the rest.
std::pair<Piece, Piece> cut(const Piece& piece, std::size_t dimension, Address count) {
  std::pair<Piece, Piece> result{piece, piece};
  const Dimension d = piece.dimensions[dimension];
  result.first.dimensions[dimension].count = count;
  result.second.dimensions[dimension].count = d.count - count;
  result.second.to += d.to * count;
  result.second.from += d.from * count;
  return result;
}

/// The greatest first part of a piece within so many slots.
std::optional<std::pair<Piece, Piece>> cut_within(const Piece& piece, std::uint64_t slots,
                                                  std::uint32_t element_bytes,
                                                  std::uint32_t workers) {
  const auto d = cut_dimension(piece, workers);
  if (!d) return std::nullopt;
  Address low = 0, high = piece.dimensions[*d].count - 1;
  while (low < high) {
    const Address middle = (low + high + 1) / 2;
    if (cost_of(cut(piece, *d, middle).first, element_bytes) <= slots) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  if (low == 0) return std::nullopt;
  return cut(piece, *d, low);
}

/// Pieces in order, each worker as many as `most` slots allow; nothing when they do not suffice.
std::optional<std::vector<std::vector<Piece>>> deal(const std::vector<Piece>& pieces,
                                                    std::uint64_t most, std::uint32_t element_bytes,
                                                    std::uint32_t workers) {
  std::vector<std::vector<Piece>> result(workers);
  std::uint32_t w = 0;
  std::uint64_t used = 0;
  for (Piece piece : pieces) {
    while (true) {
      const std::uint64_t cost = cost_of(piece, element_bytes);
      if (used + cost <= most) {
        used += cost;
        result[w].push_back(std::move(piece));
        break;
      }
      if (auto parts = cut_within(piece, most - used, element_bytes, workers)) {
        result[w].push_back(std::move(parts->first));
        piece = std::move(parts->second);
      }
      used = 0;
      if (++w == workers) return std::nullopt;
    }
  }
  return result;
}

class ListWriter {
 public:
  explicit ListWriter(std::uint32_t element_bytes) : bytes_(element_bytes) {}

  std::vector<std::uint32_t> take() {
    word(0);
    return std::move(words_);
  }

  void add(const Piece& piece) {
    const Dimension inner = piece.inner();
    std::vector<Dimension> outer(piece.dimensions.begin(), piece.dimensions.end() - 1);
    std::erase_if(outer, [](const Dimension& d) { return d.count == 1; });
    if (piece.kind == CopyKind::kGather || piece.kind == CopyKind::kMerge) {
      for_each(outer, piece.to, piece.from,
               [&](Address to, Address from) { narrow_row(piece, to, from); });
      return;
    }
    word(piece.kind == CopyKind::kDense ? inner.count : -inner.count);
    word(piece.to);
    word(piece.from);
    const Dimension rows = outer.empty() ? Dimension{1, 0, 0} : outer.back();
    word(rows.count - 1);
    if (piece.kind == CopyKind::kStrided || piece.kind == CopyKind::kFill) word(inner.to / 4);
    if (piece.kind == CopyKind::kFillPairs) word(0);
    if (piece.kind == CopyKind::kStrided) word(inner.from / 4);
    if (piece.kind == CopyKind::kFill) word(0);
    if (rows.count == 1) return;
    // Addresses step along with the innermost dimension.
    const Dimension skip{0, rows.to - inner.count * inner.to, rows.from - inner.count * inner.from};
    word(skip.to);
    word(skip.from);
    outer.pop_back();
    std::vector<std::pair<Address, Address>> planes;
    for_each(outer, 0, 0, [&](Address to, Address from) { planes.emplace_back(to, from); });
    word(static_cast<Address>(planes.size()) - 1);
    for (std::size_t i = 1; i < planes.size(); ++i) {
      word(planes[i].first - planes[i - 1].first - rows.count * rows.to);
      word(planes[i].second - planes[i - 1].second - rows.count * rows.from);
    }
  }

 private:
  void word(Address value) { words_.push_back(static_cast<std::uint32_t>(value)); }

  template <class Visit>
  static void for_each(std::span<const Dimension> outer, Address to, Address from,
                       const Visit& visit) {
    if (outer.empty()) {
      visit(to, from);
      return;
    }
    for (Address i = 0; i < outer[0].count; ++i)
      for_each(outer.subspan(1), to + i * outer[0].to, from + i * outer[0].from, visit);
  }

  void narrow_row(const Piece& piece, Address to, Address from) {
    const Dimension inner = piece.inner();
    const bool merges = piece.kind == CopyKind::kMerge;
    word(-inner.count);
    word(to);
    word(from);
    word(-1);
    word(merges ? inner.to : 0);
    word((merges ? inner.from : piece.element_from) / static_cast<Address>(bytes_));
  }

  std::uint32_t bytes_;
  std::vector<std::uint32_t> words_;
};

}  // namespace

CopyCosts copy_costs(CopyKind kind, std::uint32_t element_bytes) {
  const std::uint64_t narrow = element_bytes < 4 ? 1 : 0;
  switch (kind) {
    case CopyKind::kDense:
      return {7, 1, 2};
    case CopyKind::kStrided:
      return {11 + narrow, 1, 2};
    case CopyKind::kFill:
      return {11 + narrow, 2, 1};
    case CopyKind::kFillPairs:
      return {9 + narrow, 3, 1};
    case CopyKind::kGather:
      return {11, 1, element_bytes == 1 ? 8U : 4U};
    case CopyKind::kMerge:
      break;
  }
  return {13, 0, 12};
}

CopyPlan plan_copies(std::span<const std::uint32_t> boxes, std::uint32_t element_bytes,
                     std::uint32_t workers) {
  const auto number = [](std::uint32_t word) { return Address{static_cast<std::int32_t>(word)}; };
  Cutter cutter(element_bytes);
  for (std::size_t b = 0; b < boxes.size(); b += kCopyBoxWords) {
    std::vector<Dimension> dimensions;
    for (std::size_t d = 0; d < 3; ++d) {
      dimensions.push_back(
          {number(boxes[b + 2 + d]), number(boxes[b + 5 + d]), number(boxes[b + 8 + d])});
    }
    cutter.box(number(boxes[b]), number(boxes[b + 1]), std::move(dimensions));
  }
  std::vector<Piece> pieces = cutter.take();
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (pieces[i].inner().count <= kMostSteps) continue;
    auto [first, rest] = cut(pieces[i], pieces[i].dimensions.size() - 1, kMostSteps);
    pieces[i] = std::move(first);
    pieces.push_back(std::move(rest));
  }
  std::uint64_t high = 0;
  for (const Piece& piece : pieces) high += cost_of(piece, element_bytes);
  std::uint64_t low = high / workers;
  while (low < high) {
    const std::uint64_t middle = (low + high) / 2;
    if (deal(pieces, middle, element_bytes, workers)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  const auto dealt = deal(pieces, high, element_bytes, workers);
  SUPERSTEP_CHECK(dealt.has_value(), "one worker can do all copies");
  CopyPlan plan;
  for (const std::vector<Piece>& of_worker : *dealt) {
    ListWriter writer(element_bytes);
    std::uint64_t slots = kCopyWorkerSlots;
    for (const Piece& piece : of_worker) {
      writer.add(piece);
      slots += cost_of(piece, element_bytes);
    }
    plan.lists.push_back(writer.take());
    plan.slots.push_back(slots);
  }
  return plan;
}

}  // namespace superstep::vertex
