#include "sim/trap.h"

#include <array>

#include <fmt/format.h>

namespace superstep {

namespace {

constexpr std::array<TrapKindInfo, 7> kTrapKinds{{
    {"program", "the code does what the machine does not allow, or asks for the trap"},
    {"unmodelled", "the chip has what the code uses, the simulator does not"},
    {"machine", "the machine, as it is described, lacks what the code uses"},
    {"race", "workers that run at the same time share a word that one of them writes"},
    {"deadlock", "everyone waits, and nothing will happen"},
    {"limit", "more supersteps, trips of a loop or cycles than allowed"},
    {"host", "a callback fails or has no value any more, or a feed is empty"},
}};

}  // namespace

std::span<const TrapKindInfo> trap_kinds() { return kTrapKinds; }

std::string_view name_of(TrapKind kind) { return kTrapKinds[static_cast<std::size_t>(kind)].name; }

std::string tile_text(ChipId chip, TileId tile) {
  return chip == ChipId{}
             ? fmt::format("tile {}", index(tile))
             : fmt::format("tile {}:{}", static_cast<std::uint32_t>(chip), index(tile));
}

std::string Trap::text() const {
  return fmt::format("{} trap at cycle {}, superstep {}, {}, {}, pc {:#x}: {}", name_of(kind),
                     cycle.value(), superstep, tile_text(chip, tile), context, pc, cause);
}

}  // namespace superstep
