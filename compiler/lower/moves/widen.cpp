#include "compiler/lower/moves/widen.h"

#include <algorithm>
#include <string>
#include <utility>

namespace superstep {
namespace {

DType bits_of(const Buffer& buffer) {
  if (buffer.element_bytes == 4) return DType::kU32;
  return buffer.element_bytes == 2 ? DType::kU16 : DType::kU8;
}

}  // namespace

BufferId add_words(ProgramBuilder& builder, LayoutPtr layout, const Origin& origin) {
  const std::int64_t elements = layout->elements();
  return builder.add_buffer({.name = origin.name + ".words",
                             .type = {DType::kU32, {elements}},
                             .element_bytes = 4,
                             .layout = std::move(layout),
                             .contents = {},
                             .source = origin.source});
}

Time copy_elements(ProgramBuilder& builder, BufferId from, BufferId to, Time ready,
                   const Origin& origin) {
  const DType source = bits_of(builder.buffer(from)), result = bits_of(builder.buffer(to));
  if (size_of(source) > size_of(result)) builder.mutable_buffer(from).read_past = vertex::kReadPast;
  vertex::Expression expression;
  const vertex::Node node = expression.convert(expression.input(0, source), result);
  ComputeSet set{.name = origin.name + ".arrange",
                 .operation = origin.operation,
                 .source = origin.source,
                 .codelet = builder.add_codelet(
                     "convert " + std::string(name_of(source)) + " " + std::string(name_of(result)),
                     vertex::Elementwise{expression, {node}, {vertex::Access::kVector}}),
                 .launches = {},
                 .reads = {from},
                 .writes = {to}};
  for (const Interval& interval : builder.buffer(to).layout->intervals()) {
    for (const TileId tile : interval.tiles) {
      set.launches.push_back({tile, vertex::unary_state(interval.count, StateWord::address(to),
                                                        StateWord::address(from))});
    }
  }
  const Time time = ready.next_round();
  builder.add_compute(time, std::move(set));
  return time;
}

}  // namespace superstep
