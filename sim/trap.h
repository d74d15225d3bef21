#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/units.h"

namespace superstep {

/// What is at fault, in one word (docs/report.md).
enum class TrapKind : std::uint8_t {
  kProgram,
  kUnmodelled,
  kMachine,
  kRace,
  kDeadlock,
  kLimit,
  kHost,
};

struct TrapKindInfo {
  std::string_view name, summary;
};
/// By number.
[[nodiscard]] std::span<const TrapKindInfo> trap_kinds();
[[nodiscard]] std::string_view name_of(TrapKind kind);

/// `tile 17`, of another chip than the first `tile 1:17`.
[[nodiscard]] std::string tile_text(ChipId chip, TileId tile);

/// Why a tile stopped: names cycle, superstep, chip, tile, context and pc.
struct Trap {
  Cycles cycle;
  std::uint64_t superstep = 0;
  ChipId chip{};
  TileId tile{};
  std::string context;  ///< `supervisor`, `worker 2`, `exchange`, `host link` (its packets), `host`
                        ///< (callbacks, feeds)
  std::uint32_t pc = 0;
  std::string cause;
  TrapKind kind = TrapKind::kProgram;

  [[nodiscard]] std::string text() const;
};

}  // namespace superstep
