#include "compiler/lower/moves/widen.h"

#include <algorithm>
#include <string>
#include <utility>

#include "compiler/lower/moves/copy_elements.h"

namespace superstep {
namespace {

DType bits_of(const Buffer& buffer) { return unsigned_of_size(buffer.element_bytes); }

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

Time copy_bits(ProgramBuilder& builder, BufferId from, BufferId to, Time ready,
               const Origin& origin) {
  const Time time = ready.next_round();
  convert_elements(builder, from, bits_of(builder.buffer(from)), to, bits_of(builder.buffer(to)),
                   {origin.name + ".arrange", origin.operation, origin.source}, time);
  return time;
}

}  // namespace superstep
