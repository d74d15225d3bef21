#include "compiler/lower/control/control_word.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace superstep {

BufferId add_control_word(Values& values, ProgramBuilder& builder, const Origin& origin,
                          const std::string& suffix) {
  std::vector<TileId> tiles;
  for (std::uint32_t t = 0; t < builder.machine().tiles(); ++t) tiles.push_back(TileId{t});
  return values.add_temporary(DType::kU32, builder.layouts().with({{0, 1, std::move(tiles)}}),
                              origin.name + suffix, origin.source);
}

}  // namespace superstep
