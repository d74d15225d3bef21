#include "compiler/lower/moves/copy_elements.h"

#include <string>
#include <utility>

namespace superstep {

void convert_elements(ProgramBuilder& builder, BufferId from, DType from_dtype, BufferId to,
                      DType to_dtype, const Origin& origin, Time time) {
  if (size_of(from_dtype) > size_of(to_dtype)) {
    builder.mutable_buffer(from).read_past = vertex::kReadPast;
  }
  const std::string source(name_of(from_dtype)), result(name_of(to_dtype));
  vertex::Expression expression;
  const vertex::Node input = expression.input(0, from_dtype);
  const vertex::Node node = from_dtype == to_dtype ? input : expression.convert(input, to_dtype);
  ComputeSet set{
      .name = origin.name,
      .operation = origin.operation,
      .source = origin.source,
      .codelet = builder.add_codelet(
          from_dtype == to_dtype ? "identity " + source : "convert " + source + " " + result,
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
  builder.add_compute(time, std::move(set));
}

void copy_elements(ProgramBuilder& builder, BufferId from, BufferId to, Time time) {
  const Buffer& source = builder.buffer(from);
  const DType dtype = source.type.dtype;
  convert_elements(builder, from, dtype, to, dtype, {source.name + ".copy", "", source.source},
                   time);
}

void fill_elements(ProgramBuilder& builder, BufferId to, std::uint64_t bits, Time time) {
  const Buffer& buffer = builder.buffer(to);
  const std::string dtype(name_of(buffer.type.dtype));
  vertex::Expression expression;
  const vertex::Node node = expression.constant(buffer.type.dtype, bits);
  ComputeSet set{.name = buffer.name + ".fill",
                 .operation = "",
                 .source = buffer.source,
                 .codelet = builder.add_codelet("fill " + dtype + " " + std::to_string(bits),
                                                vertex::Elementwise{expression, {node}, {}}),
                 .launches = {},
                 .reads = {},
                 .writes = {to}};
  for (const Interval& interval : buffer.layout->intervals()) {
    const vertex::Elementwise::State state{
        .elements = interval.count, .outputs = {StateWord::address(to)}, .inputs = {}};
    for (const TileId tile : interval.tiles) set.launches.push_back({tile, state.words()});
  }
  builder.add_compute(time, std::move(set));
}

}  // namespace superstep
