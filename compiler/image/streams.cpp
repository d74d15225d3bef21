#include "compiler/image/streams.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "compiler/program/blocks.h"

namespace superstep {
namespace {

/// `box`, which copies a part of an interval to row-major elements, in bytes.
StreamBox stream_box(const Box& box, const Interval& interval, std::uint32_t element_bytes) {
  const std::int64_t size = element_bytes;
  StreamBox out{.piece_offset = static_cast<std::uint32_t>((box.from - interval.begin) * size),
                .host_offset = static_cast<std::uint64_t>(box.to * size),
                .bytes = element_bytes};
  Axes axes = box.axes;
  std::ranges::stable_sort(axes, std::ranges::greater{}, &Axis::from);
  while (!axes.empty() && axes.back().from * size == out.bytes &&
         axes.back().to * size == out.bytes) {
    out.bytes *= static_cast<std::uint32_t>(axes.back().size);
    axes.pop_back();
  }
  for (const Axis& axis : axes) {
    out.axes.push_back({static_cast<std::uint32_t>(axis.size), axis.from * size, axis.to * size});
  }
  return out;
}

Stream stream_of(Stream::Kind kind, std::uint32_t position, const TensorType& type,
                 std::optional<BufferId> buffer, const LoweredProgram& program,
                 const Storage& storage) {
  Stream stream{.kind = kind, .position = position, .type = type, .pieces = {}};
  if (!buffer) return stream;
  const Buffer& b = program.buffers[index(*buffer)];
  const std::vector<Interval>& intervals = b.layout->intervals();
  std::vector<std::vector<StreamBox>> boxes(intervals.size());
  for (const auto& [i, box] : b.layout->parts(type.elements())) {
    boxes[i].push_back(stream_box(box, intervals[i], b.element_bytes));
  }
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    const auto bytes = static_cast<std::uint32_t>(intervals[i].count * b.element_bytes);
    for (const TileId tile : intervals[i].tiles) {
      stream.pieces.push_back({tile, storage.address(*buffer, tile), align_up(bytes, 4), boxes[i]});
    }
  }
  return stream;
}

/// Nothing where the program names none.
std::string label_of(const std::vector<std::string>& labels, std::uint32_t position) {
  return position < labels.size() ? labels[position] : std::string();
}

}  // namespace

std::vector<std::optional<std::uint32_t>> alias_by_result(const Module& module) {
  std::vector<std::optional<std::uint32_t>> alias(module.main.results().size());
  for (std::uint32_t a = 0; a < module.argument_alias.size(); ++a) {
    if (module.argument_alias[a]) alias[*module.argument_alias[a]] = a;
  }
  return alias;
}

void add_streams(const Module& module, const LoweredProgram& program, const Storage& storage,
                 ProgramImage& image) {
  image.streams.clear();
  image.first = image.next = image.last = {};
  const Graph& graph = module.main;
  const std::vector<std::optional<std::uint32_t>> alias = alias_by_result(module);
  const auto add = [&](Stream::Kind kind, std::uint32_t position, const TensorType& type,
                       std::optional<BufferId> buffer, std::string label = {}) {
    image.streams.push_back(stream_of(kind, position, type, buffer, program, storage));
    image.streams.back().label = std::move(label);
    return static_cast<std::uint32_t>(image.streams.size() - 1);
  };
  if (program.goes_on) {
    const std::uint32_t stream = add(Stream::Kind::kGoesOn, 0, {DType::kU32, {}}, program.goes_on);
    image.first.arguments.push_back(stream);
    image.next.arguments.push_back(stream);
  }
  for (std::uint32_t a = 0; a < graph.arguments().size(); ++a) {
    const std::uint32_t stream = add(Stream::Kind::kArgument, a, graph.type(graph.arguments()[a]),
                                     program.arguments[a], label_of(module.argument_labels, a));
    image.first.arguments.push_back(stream);
    const bool is_state = std::ranges::find(alias, std::optional(a)) != alias.end();
    if (!is_state) image.next.arguments.push_back(stream);
  }
  for (std::uint32_t r = 0; r < graph.results().size(); ++r) {
    const std::uint32_t stream = add(Stream::Kind::kResult, r, graph.type(graph.results()[r]),
                                     program.results[r], label_of(module.result_labels, r));
    image.last.results.push_back(stream);
    if (!alias[r]) image.next.results.push_back(stream);
  }
}

std::map<std::uint32_t, HostPhase> add_feeds(const LoweredProgram& program, const Storage& storage,
                                             ProgramImage& image) {
  std::map<std::uint32_t, HostPhase> visits;
  const std::vector<const Superstep*> supersteps = supersteps_of(program);
  for (std::uint32_t s = 0; s < supersteps.size(); ++s) {
    for (const Feed& feed : supersteps[s]->feeds) {
      const TensorType none{DType::kU8, {0}};
      const TensorType& type = feed.buffer ? program.buffers[index(*feed.buffer)].type : none;
      const auto number = static_cast<std::uint32_t>(image.streams.size());
      image.streams.push_back(stream_of(feed.is_in ? Stream::Kind::kInfeed : Stream::Kind::kOutfeed,
                                        feed.stream, type, feed.buffer, program, storage));
      HostPhase& phase = visits[s];
      (feed.is_in ? phase.arguments : phase.results).push_back(number);
    }
  }
  return visits;
}

}  // namespace superstep
