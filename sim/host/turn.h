#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace superstep {

/// What the host does when the tiles ask for a call of the program.
enum class HostTurn : std::uint8_t {
  kWaits,     ///< nothing until it is called
  kCall,      ///< sends the arguments of a call
  kLastCall,  ///< likewise, and that no other follows
};

/// Says what the host does about call 0, 1, …; it sets arguments before it answers. Asked again at
/// each call of the simulation while it waits.
using HostProgram = std::function<HostTurn(std::uint32_t call)>;

/// Fills in the next value of a stream to the tiles; false when there is none any more. What it
/// throws ends the run.
using StreamSource = std::function<bool(std::span<std::byte> value)>;

/// Takes the next value of a stream from the tiles. What it throws ends the run.
using StreamSink = std::function<void(std::span<const std::byte> value)>;

}  // namespace superstep
