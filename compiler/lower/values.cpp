#include "compiler/lower/values.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "compiler/ops/op.h"

namespace superstep {
namespace {

bool all_equal(const HostTensor& tensor) {
  const std::size_t size = size_of(tensor.type.dtype);
  return tensor.data.size() <= size ||
         std::memcmp(tensor.data.data(), tensor.data.data() + size, tensor.data.size() - size) == 0;
}

std::uint64_t first_bits(const HostTensor& tensor) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, tensor.data.data(), size_of(tensor.type.dtype));
  return bits;
}

std::vector<std::byte> repeated(const TensorType& type, std::uint64_t bits) {
  const std::size_t size = size_of(type.dtype);
  std::vector<std::byte> data(type.bytes());
  for (std::size_t at = 0; at < data.size(); at += size) std::memcpy(data.data() + at, &bits, size);
  return data;
}

}  // namespace

Values::Values(ProgramBuilder& builder, const Graph& graph)
    : builder_(builder), graph_(graph), entries_(graph.values().size()) {}

ValueId Values::root(ValueId v) const {
  while (entries_[index(v)].same) v = *entries_[index(v)].same;
  return v;
}

void Values::set_stored(ValueId v, BufferId buffer, Time time) {
  Entry& e = entry(v);
  e.buffer = buffer;
  e.time = time;
}

void Values::set_constant(ValueId v, HostTensor value) {
  Entry& e = entry(v);
  if (value.type.elements() > 0 && all_equal(value)) e.repeated = first_bits(value);
  e.constant = std::move(value);
}

void Values::set_repeated(ValueId v, std::uint64_t bits) { entry(v).repeated = bits; }

void Values::set_fused(ValueId v, Time time) {
  Entry& e = entry(v);
  e.fused = true;
  e.time = time;
}

void Values::set_view(ValueId v, std::vector<Piece> pieces, Time ready) {
  Entry& e = entry(v);
  e.view = std::move(pieces);
  e.time = ready;
}

void Values::set_same(ValueId v, ValueId as) { entries_[index(v)].same = root(as); }

const HostTensor* Values::constant(ValueId v) const {
  const Entry& e = entry(v);
  return e.constant ? &*e.constant : nullptr;
}

std::optional<std::uint64_t> Values::repeated_bits(ValueId v) const { return entry(v).repeated; }

BufferId Values::stored(ValueId value) {
  const ValueId v = root(value);
  Entry& e = entry(v);
  if (e.buffer) return *e.buffer;
  const Origin from = origin(v);
  const BufferId buffer = add_linear(type(v), from.name, from.source);
  if (e.constant || e.repeated) {
    Buffer& constant = builder_.mutable_buffer(buffer);
    constant.kind = Buffer::Kind::kConstant;
    constant.contents = e.constant ? e.constant->data : repeated(type(v), *e.repeated);
  } else if (!e.fused) {
    SUPERSTEP_CHECK(!e.view.empty(), "a value is used before it is lowered: " + from.name);
    e.time = move(builder_, buffer, e.view, e.time, from);
  }
  e.buffer = buffer;
  return buffer;
}

std::optional<Splat> Values::splat(ValueId v) {
  const Entry& e = entry(v);
  if (e.repeated) return Splat{.bits = e.repeated};
  if (e.constant) return std::nullopt;
  if (elements(v) == 1) {
    const BufferId buffer = stored(v);
    return Splat{.bits = std::nullopt, .buffer = buffer, .element = 0, .ready = time(v)};
  }
  if (e.buffer || e.view.size() != 1) return std::nullopt;
  const Piece& piece = e.view.front();
  const bool repeats =
      std::ranges::all_of(piece.box.axes, [](const Axis& axis) { return axis.from == 0; });
  if (!repeats || piece.box.elements() != elements(v)) return std::nullopt;
  return Splat{
      .bits = std::nullopt, .buffer = piece.source, .element = piece.box.from, .ready = e.time};
}

Reading Values::read(ValueId v, const Box& box) {
  const Entry& e = entry(v);
  if (!e.buffer && e.view.size() == 1 && e.view.front().box.elements() == elements(v)) {
    Piece piece{e.view.front().source, {}};
    if (compose(box, e.view.front().box, piece.box)) return {{std::move(piece)}, e.time};
  }
  const BufferId buffer = stored(v);
  return {{{buffer, box}}, time(v)};
}

Values::Spread Values::spread(const Splat& splat, DType dtype, const LayoutPtr& layout,
                              const Origin& origin) {
  const auto [at, is_new] =
      spreads_.try_emplace({splat.buffer, splat.element, layout.get()}, Spread{});
  if (!is_new) return at->second;
  Interval one{0, 1, {}};
  for (const Interval& interval : layout->intervals()) {
    one.tiles.insert(one.tiles.end(), interval.tiles.begin(), interval.tiles.end());
  }
  std::ranges::sort(one.tiles);
  Spread& spread = at->second;
  spread.buffer =
      add_temporary(dtype, std::make_shared<const Layout>(std::vector<Interval>{std::move(one)}),
                    builder_.buffer(splat.buffer).name + ".spread", origin.source);
  spread.time =
      move(builder_, spread.buffer, {{splat.buffer, {splat.element, 0, {}}}}, splat.ready, origin);
  return spread;
}

BufferId Values::add_linear(const TensorType& type, const std::string& name,
                            const SourceLocation& at) {
  return builder_.add_buffer({.name = name,
                              .type = type,
                              .element_bytes = static_cast<std::uint32_t>(size_of(type.dtype)),
                              .layout = builder_.linear().of(type.elements()),
                              .contents = {},
                              .source = at});
}

BufferId Values::add_temporary(DType dtype, LayoutPtr layout, const std::string& name,
                               const SourceLocation& at) {
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
  const Value& value = graph_.value(v);
  if (value.producer) return origin(graph_.ops()[*value.producer]);
  return {value.name, "", {}};
}

}  // namespace superstep
