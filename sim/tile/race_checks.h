#pragma once

#include <cstdint>

namespace superstep {

/// Which launches are checked for races.
enum class RaceChecks : std::uint8_t {
  kNever,
  kFirst,  ///< the first time that a tile launches some code at some pc; later ones are not looked
           ///< at, nor what others beside them share with them
  kAlways,
};

}  // namespace superstep
