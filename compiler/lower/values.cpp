#include "compiler/lower/values.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <utility>

#include "compiler/ops/elements.h"
#include "compiler/ops/op.h"

namespace superstep {
namespace {

std::uint64_t first_bits(const HostTensor& tensor) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, tensor.data.data(), size_of(tensor.type.dtype));
  return bits;
}

std::vector<std::byte> repeated(std::size_t size, std::int64_t elements, std::uint64_t bits) {
  std::vector<std::byte> data(static_cast<std::size_t>(elements) * size);
  for (std::size_t at = 0; at < data.size(); at += size) std::memcpy(data.data() + at, &bits, size);
  return data;
}

/// What `box` copies of a view, straight from the sources of the view; nothing when its pieces are
/// not one behind the other.
std::optional<std::vector<Piece>> read_through(const std::vector<Piece>& view,
                                               std::int64_t elements, const Box& box) {
  std::vector<std::int64_t> ends;
  std::int64_t end = 0;
  for (const Piece& piece : view) {
    if (piece.box.to != end) return std::nullopt;
    ends.push_back(end += piece.box.elements());
  }
  if (view.empty() || end != elements) return std::nullopt;
  std::vector<Box> inner;
  for (const Piece& piece : view) {
    inner.push_back(piece.box);
    inner.back().to = 0;
    if (!is_dense(inner.back())) return std::nullopt;
  }
  std::vector<Piece> pieces;
  partition(
      box, kFromSide,
      [&](std::int64_t element) -> IntervalEnd {
        const auto at = std::ranges::upper_bound(ends, element);
        return {static_cast<std::size_t>(at - ends.begin()), *at};
      },
      [&](std::size_t i, Box part) {
        part.from -= view[i].box.to;
        compose_parts(part, inner[i], [&](const Box& one) {
          pieces.push_back({view[i].source, one});
        });
      });
  return pieces;
}

/// The elements of `tensor` as `layout` stores them.
std::vector<std::byte> in_storage(const HostTensor& tensor, const Layout& layout) {
  const std::size_t size = size_of(tensor.type.dtype);
  std::vector<std::byte> data(static_cast<std::size_t>(layout.elements()) * size);
  if (layout.is_row_major()) {
    // The last of them may be padding.
    std::ranges::copy(tensor.data, data.begin());
    return data;
  }
  for (const auto& [interval, box] : layout.parts(tensor.type.elements())) {
    for_each_index(box.axes, box.from, box.to, [&](std::int64_t from, std::int64_t to) {
      std::memcpy(data.data() + static_cast<std::size_t>(from) * size,
                  tensor.data.data() + static_cast<std::size_t>(to) * size, size);
    });
  }
  return data;
}

/// First element of a repetition and their number.
using Range = std::pair<std::int64_t, std::int64_t>;
/// Tiles that need the same elements receive them together.
using RangeUsers = std::map<Range, std::vector<TileId>>;

RangeUsers users_of(const Layout& layout, const std::function<Range(const Interval&)>& range) {
  RangeUsers users;
  for (const Interval& interval : layout.intervals()) {
    std::vector<TileId>& tiles = users[range(interval)];
    tiles.insert(tiles.end(), interval.tiles.begin(), interval.tiles.end());
  }
  return users;
}

/// Whether ports are less busy when each tile receives its own part of a period, of no more than
/// that, than when all receive the whole. Senders share what is sent.
bool is_less_than_period(const RangeUsers& parts, std::int64_t period, std::size_t senders) {
  std::int64_t most = 0, sent = 0;
  for (const auto& [range, tiles] : parts) {
    most = std::max(most, range.second);
    sent += range.second;
  }
  return most <= period && std::max(most, sent / static_cast<std::int64_t>(senders)) < period;
}

}  // namespace

Values::Values(ProgramBuilder& builder, const Graph& graph, AssignedLayouts layouts)
    : builder_(builder),
      graph_(graph),
      layouts_(std::move(layouts)),
      entries_(graph.values().size()) {}

ValueId Values::root(ValueId v) const {
  while (entries_[index(v)].same) v = *entries_[index(v)].same;
  return v;
}

void Values::set_stored(ValueId v, BufferId buffer, Time time) {
  entry(v).stored.insert(entry(v).stored.begin(), {buffer, time});
}

BufferId Values::place(ValueId v, LayoutPtr layout) {
  const BufferId buffer = add_storage(v, std::move(layout));
  builder_.mutable_buffer(buffer).kind = Buffer::Kind::kArgument;
  entry(v).is_open = false;
  set_stored(v, buffer, {});
  return buffer;
}

void Values::set_constant(ValueId v, HostTensor value) {
  Entry& e = entry(v);
  if (value.type.elements() > 0 && all_equal(value)) e.repeated = first_bits(value);
  e.constant = std::move(value);
}

void Values::set_repeated(ValueId v, std::uint64_t bits) { entry(v).repeated = bits; }

void Values::set_fused(ValueId v, Time time, LayoutPtr layout) {
  Entry& e = entry(v);
  e.fused = true;
  e.time = time;
  e.layout = std::move(layout);
}

void Values::set_view(ValueId v, std::vector<Piece> pieces, Time ready, bool is_one_copy) {
  Entry& e = entry(v);
  e.view = std::move(pieces);
  e.is_one_copy = is_one_copy;
  e.time = ready;
}

void Values::set_same(ValueId v, ValueId as) { entries_[index(v)].same = root(as); }

const HostTensor* Values::constant(ValueId v) const {
  const Entry& e = entry(v);
  return e.constant ? &*e.constant : nullptr;
}

std::optional<std::uint64_t> Values::repeated_bits(ValueId v) const { return entry(v).repeated; }

std::optional<BufferId> Values::buffer(ValueId v) const {
  const Entry& e = entry(v);
  return e.stored.empty() ? std::nullopt : std::optional(e.stored[0].buffer);
}

Time Values::time(ValueId v) const {
  const Entry& e = entry(v);
  return e.stored.empty() ? e.time : e.stored[0].time;
}

LayoutPtr Values::layout(ValueId v) const {
  const Entry& e = entry(v);
  return e.stored.empty() ? e.layout : builder_.buffer(e.stored[0].buffer).layout;
}

BufferId Values::stored(ValueId v) {
  const Entry& e = entry(v);
  if (e.is_open) return place(v, layouts_.of(v));
  if (!e.stored.empty()) return e.stored[0].buffer;
  return stored(v, e.layout ? e.layout : layouts_.of(v), origin(v)).buffer;
}

StoredValue Values::stored(ValueId value, LayoutPtr layout, const Origin& reader) {
  const ValueId v = root(value);
  Entry& e = entry(v);
  if (e.is_open) place(v, layouts_.of(v));
  for (const StoredValue& known : e.stored) {
    if (builder_.buffer(known.buffer).layout == layout) return known;
  }
  if (e.fused && e.stored.empty()) {
    e.stored.push_back({add_storage(v, e.layout), e.time});
    if (e.layout == layout) return e.stored[0];
  }
  StoredValue added{add_storage(v, std::move(layout)), {}};
  if (e.constant || e.repeated) {
    Buffer& constant = builder_.mutable_buffer(added.buffer);
    constant.kind = Buffer::Kind::kConstant;
    const Layout& there = *constant.layout;
    constant.contents = e.constant
                            ? in_storage(*e.constant, there)
                            : repeated(constant.element_bytes, there.elements(), *e.repeated);
  } else if (!e.view.empty()) {
    added.time = fill(added.buffer, e.view, e.time, origin(v));
  } else {
    SUPERSTEP_CHECK(!e.stored.empty(), "a value is used before it is lowered: " + origin(v).name);
    const StoredValue& original = e.stored[0];
    const Box all{0, 0, {{elements(v), 1, 1}}};
    std::vector<Piece> pieces;
    for (Box& box : builder_.buffer(original.buffer).layout->from_storage(simplified(all))) {
      pieces.push_back({original.buffer, std::move(box)});
    }
    added.time = fill(added.buffer, pieces, original.time, reader);
  }
  e.stored.push_back(added);
  return added;
}

Time Values::fill(BufferId buffer, const std::vector<Piece>& pieces, Time ready,
                  const Origin& origin) {
  const Layout& layout = *builder_.buffer(buffer).layout;
  if (layout.is_row_major()) return move(builder_, buffer, pieces, ready, origin);
  std::vector<Piece> stored;
  for (const Piece& piece : pieces) {
    for (Box& box : layout.to_storage(piece.box)) {
      stored.push_back({piece.source, std::move(box)});
    }
  }
  return move(builder_, buffer, stored, ready, origin);
}

std::optional<Values::Permuted> Values::permuted(ValueId v) {
  const Entry& e = entry(v);
  if (!e.stored.empty() || e.view.size() != 1) return std::nullopt;
  const auto& [source, box] = e.view.front();
  const Layout& stored = *builder_.buffer(source).layout;
  if (repeats(box) || box.elements() != elements(v) || stored.elements() != elements(v)) {
    return std::nullopt;
  }
  return Permuted{{source, e.time}, builder_.layouts().with(stored.intervals(), {reversed(box)})};
}

std::optional<Splat> Values::splat(ValueId v) {
  const Entry& e = entry(v);
  if (e.repeated) return Splat{.bits = e.repeated};
  if (e.constant) return std::nullopt;
  if (elements(v) == 1) {
    const BufferId buffer = stored(v);
    return Splat{
        .bits = std::nullopt, .buffer = buffer, .element = first_stored(buffer), .ready = time(v)};
  }
  if (!e.stored.empty() || e.view.size() != 1) return std::nullopt;
  const Piece& piece = e.view.front();
  const bool repeats =
      std::ranges::all_of(piece.box.axes, [](const Axis& axis) { return axis.from == 0; });
  if (!repeats || piece.box.elements() != elements(v)) return std::nullopt;
  return Splat{
      .bits = std::nullopt, .buffer = piece.source, .element = piece.box.from, .ready = e.time};
}

std::optional<Values::Repetition> Values::repetition(ValueId v, std::int64_t elements) {
  if (elements == 1) return std::nullopt;
  if (this->elements(v) == 1) {
    const BufferId buffer = stored(v);
    return Repetition{
        .source = buffer, .ready = time(v), .first = first_stored(buffer), .period = elements};
  }
  const Entry& e = entry(v);
  if (e.view.size() != 1) return std::nullopt;
  const auto& [source, box] = e.view.front();
  if (box.to != 0 || box.elements() != elements) return std::nullopt;
  Repetition r{.source = source, .ready = e.time, .first = box.from};
  const Axes& axes = box.axes;
  if (axes.size() == 1 && axes[0].from == 0) {
    r.period = elements;
  } else if (axes.size() == 2 && axes[0].from == 0) {
    r.is_cyclic = true;
    r.period = axes[1].size;
    r.stride = axes[1].from;
  } else if (axes.size() == 2 && axes[1].from == 0) {
    r.period = axes[1].size;
    r.stride = axes[0].from;
  } else {
    return std::nullopt;
  }
  return r;
}

std::optional<Broadcast> Values::broadcast(ValueId v, std::int64_t elements,
                                           const LayoutPtr& layout, const Origin& origin) {
  if (this->elements(v) == 1 && this->layout(v) == builder_.layouts().everywhere()) {
    return Broadcast{{stored(v), time(v)}, vertex::Access::kScalar, layout->elements()};
  }
  std::optional<Repetition> r = repetition(v, elements);
  if (!r) return std::nullopt;
  if (!layout->is_row_major() || layout->elements() != elements) {
    // Only one element repeats in any order and in padding.
    if (r->is_cyclic || r->period != elements) return std::nullopt;
    r->period = layout->elements();
  }
  if (!r->is_cyclic && r->first == 0 && r->stride == 1 &&
      builder_.layouts().divided(layout, r->period) == builder_.buffer(r->source).layout) {
    const bool in_rows = lies_in_rows(*layout, r->period);
    return Broadcast{{r->source, r->ready},
                     in_rows ? vertex::Access::kScalar : vertex::Access::kStretched,
                     r->period};
  }
  return gather(*r, layout, origin);
}

Broadcast Values::gather(const Repetition& r, const LayoutPtr& layout, const Origin& origin) {
  const auto [at, is_new] = gathered_.try_emplace({r, layout.get()}, Broadcast{});
  Broadcast& result = at->second;
  if (!is_new) return result;
  if (builder_.buffer(r.source).layout == builder_.layouts().everywhere()) {
    return result = {{r.source, r.ready}, vertex::Access::kScalar, r.period};
  }
  const bool in_rows = lies_in_rows(*layout, r.period);
  result.period = r.period;
  RangeUsers users;
  if (!r.is_cyclic) {
    result.access = in_rows ? vertex::Access::kScalar : vertex::Access::kStretched;
    users = users_of(*layout, [&](const Interval& interval) {
      const std::int64_t first = interval.begin / r.period;
      return Range{first, (interval.end() - 1) / r.period + 1 - first};
    });
  } else {
    result.access = vertex::Access::kVector;
    users = users_of(*layout, [&](const Interval& interval) {
      return Range{interval.begin % r.period, interval.count};
    });
    const std::size_t senders = builder_.buffer(r.source).layout->intervals().size();
    if (!in_rows && !is_less_than_period(users, r.period, senders)) {
      result.access = vertex::Access::kCyclic;
      users = users_of(*layout, [&](const Interval&) { return Range{0, r.period}; });
    }
  }
  std::vector<Interval> intervals;
  std::vector<Piece> pieces;
  std::int64_t begin = 0;
  for (auto& [range, tiles] : users) {
    const auto [first, count] = range;
    std::ranges::sort(tiles);
    // A part of a period may go over its end.
    const std::int64_t head = r.is_cyclic ? std::min(count, r.period - first) : count;
    const auto add_piece = [&](std::int64_t from, std::int64_t to, std::int64_t size) {
      pieces.push_back(
          {r.source, simplified({r.first + from * r.stride, to, {{size, r.stride, 1}}})});
    };
    add_piece(first, begin, head);
    if (head < count) add_piece(0, begin + head, count - head);
    intervals.push_back({begin, count, std::move(tiles)});
    begin += count;
  }
  const Buffer& source = builder_.buffer(r.source);
  result.source.buffer =
      add_temporary(source.type.dtype, std::make_shared<const Layout>(std::move(intervals)),
                    source.name + ".spread", origin.source);
  result.source.time = move(builder_, result.source.buffer, pieces, r.ready, origin);
  return result;
}

StoredValue Values::spread(const Splat& splat, const LayoutPtr& layout, const Origin& origin) {
  const Repetition r{.source = splat.buffer,
                     .ready = splat.ready,
                     .first = splat.element,
                     .period = layout->elements()};
  return gather(r, layout, origin).source;
}

Reading Values::read(ValueId v, const Box& box) {
  const Entry& e = entry(v);
  if (e.stored.empty() && e.view.size() == 1 && e.view.front().box.elements() == elements(v)) {
    Piece piece{e.view.front().source, {}};
    if (compose(box, e.view.front().box, piece.box)) return {{std::move(piece)}, e.time};
  }
  return e.is_one_copy && e.view.size() > 1 ? read_side_by_side(v, box) : read_stored(v, box);
}

Reading Values::read_stored(ValueId v, const Box& box) {
  const BufferId buffer = stored(v);
  Reading reading{{}, time(v)};
  for (Box& part : builder_.buffer(buffer).layout->from_storage(box)) {
    reading.pieces.push_back({buffer, std::move(part)});
  }
  return reading;
}

Reading Values::read_side_by_side(ValueId v, const Box& box) {
  const Entry& e = entry(v);
  if (e.view.size() <= 1) return read(v, box);
  if (e.stored.empty()) {
    if (auto pieces = read_through(e.view, elements(v), box)) return {*std::move(pieces), e.time};
  }
  return read_stored(v, box);
}

std::int64_t Values::first_stored(BufferId buffer) const {
  return builder_.buffer(buffer).layout->from_storage({}).front().from;
}

BufferId Values::add_storage(ValueId v, LayoutPtr layout) {
  const Origin from = origin(root(v));
  return builder_.add_buffer({.name = from.name,
                              .type = type(v),
                              .element_bytes = static_cast<std::uint32_t>(size_of(type(v).dtype)),
                              .layout = std::move(layout),
                              .contents = {},
                              .source = from.source});
}

BufferId Values::add_temporary(DType dtype, LayoutPtr layout, const std::string& name,
                               const OpLocation& at) {
  const std::int64_t elements = layout->elements();
  return builder_.add_buffer({.name = name,
                              .type = {dtype, {elements}},
                              .element_bytes = static_cast<std::uint32_t>(size_of(dtype)),
                              .layout = std::move(layout),
                              .contents = {},
                              .source = at});
}

Origin Values::origin(const Op& op) const {
  const std::string operation(op.definition->name);
  const std::size_t dot = operation.find('.');
  const std::string short_name = dot == std::string::npos ? operation : operation.substr(dot + 1);
  const std::string number =
      op.results.empty() ? std::string() : "." + std::to_string(index(op.results[0]));
  return {short_name + number, operation, op.location};
}

Origin Values::origin(ValueId v) const {
  if (const Op* producer = graph_.producer_of(v)) return origin(*producer);
  return {graph_.value(v).name, "", {}};
}

}  // namespace superstep
