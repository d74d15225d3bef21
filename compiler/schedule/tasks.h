#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compiler/schedule/merge.h"
#include "isa/fabric.h"
#include "isa/machine_config.h"

namespace superstep {

/// Memory blocks as bits; blocks beyond the 64th share bits with others.
using BlockSet = std::uint64_t;

/// What one tile sends to the same tiles without a pause: one or more sends, one after the other.
struct Task {
  std::uint32_t source;
  std::uint32_t cycles;  ///< in which its words leave
  std::uint32_t collective;
  std::uint32_t order;     ///< position of its first part in the given list
  std::uint32_t earliest;  ///< start at which no port is before its release
  std::uint32_t longest_latency;
  std::uint32_t first_arrival, arrival_count;
  std::uint32_t first_send, send_count;
  std::uint32_t first_link, link_count;
  BlockSet blocks;  ///< that are read, if the phase also writes them on the tile
};

/// Where the words of a task arrive.
struct Arrival {
  std::uint32_t tile;
  std::uint32_t latency;  ///< cycles from leaving to arriving
  BlockSet blocks;        ///< that are written, if the phase also reads them on the tile
};

/// The transfers of a phase as tasks for the ports of its tiles.
struct Tasks {
  std::vector<Task> list;
  std::vector<Arrival> arrivals;
  std::vector<LinkUse> links;                ///< of a task each once
  std::uint32_t links_of_machine = 0;        ///< that words share
  std::vector<MergedTransfers::Send> sends;  ///< of one task: in the order in which they leave
  std::vector<TransferEnd> ends;
  std::uint32_t collectives = 0;                     ///< those of tasks are below
  std::uint32_t longest_path = 0;                    ///< latency between any tiles of the machine
  std::uint32_t item_cycles = 1;                     ///< pieces of a task are whole items
  std::vector<std::uint64_t> cycles_out, cycles_in;  ///< in which ports are busy, by tile
  std::vector<std::uint32_t> sends_out, sends_in;    ///< numbers of them by tile

  [[nodiscard]] std::span<const Arrival> arrivals_of(const Task& task) const {
    return std::span(arrivals).subspan(task.first_arrival, task.arrival_count);
  }
  [[nodiscard]] std::span<const MergedTransfers::Send> sends_of(const Task& task) const {
    return std::span(sends).subspan(task.first_send, task.send_count);
  }
  [[nodiscard]] std::span<const LinkUse> links_of(const Task& task) const {
    return std::span(links).subspan(task.first_link, task.link_count);
  }
  [[nodiscard]] bool has_chains() const { return sends.size() > list.size(); }
  [[nodiscard]] std::uint32_t tiles() const {
    return static_cast<std::uint32_t>(cycles_out.size());
  }
  /// Most sends and receives of a tile.
  [[nodiscard]] std::uint32_t most_uses() const;
  /// The busiest port.
  [[nodiscard]] std::uint64_t bound_cycles() const;
  /// No schedule ends before: the busiest port from its first possible word on.
  [[nodiscard]] std::uint64_t least_length() const;
};

[[nodiscard]] Tasks make_tasks(const MachineConfig& machine, MergedTransfers merged);

}  // namespace superstep
