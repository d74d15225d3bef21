#include "sim/trap.h"

#include <fmt/format.h>

namespace superstep {

std::string Trap::text() const {
  return fmt::format("trap at cycle {}, superstep {}, tile {}, {}, pc {:#x}: {}", cycle.value(),
                     superstep, index(tile), context, pc, cause);
}

}  // namespace superstep
