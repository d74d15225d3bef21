#pragma once

#include <cstdint>
#include <vector>

#include "base/units.h"
#include "sim/instruction_counts.h"

namespace superstep {

/// One tile's share of a superstep. A superstep may be longer than 2^32 cycles.
struct TilePhase {
  std::uint64_t exchange = 0, compute = 0, sync = 0;  ///< cycles
  std::uint64_t exchange_idle = 0;  ///< of the exchange cycles: no word leaves or arrives
  std::uint64_t sent_bytes = 0, received_bytes = 0;
  InstructionCounts instructions = {};  ///< of the workers
  std::uint64_t worker_busy = 0;        ///< cycles from first issue to exit, added up over workers
  std::uint64_t word_rows = 0, word_columns = 0;  ///< received words, times the way of each
};

/// Compute cycles of a superstep's critical tile from a step's launches to those of other steps.
struct ComputeShare {
  std::uint32_t step = 0;
  std::uint64_t cycles = 0;
  std::uint64_t runs = 0;  ///< in loops a step may run several times between two barriers; 0 of one
                           ///< that no tile launched, since the loop around it was left
};

/// One stream as it crossed the host link.
struct HostTransfer {
  std::uint32_t stream = 0;  ///< index into ProgramImage::streams
  std::uint64_t bytes = 0, packets = 0;
  Cycles begin = {}, end = {};  ///< of its packets on the links, from the start of its host phase
};

/// The numbers of a finished superstep, from one barrier opening to the next. The parts are those
/// of its critical tile and sum to its length.
struct SuperstepCounts {
  std::uint64_t number = 0;
  std::uint32_t step = 0;  ///< index into ProgramInfo::steps; their number for code between steps
  std::uint32_t exchange_step = 0;  ///< the same for the exchange cycles: the step of the sync
  Cycles begin;
  Cycles exchange, compute, sync, host;
  // Of a visit to the host, as of a stream copy: it begins in the superstep before.
  Cycles visit_begin;      ///< of `sync`: all where the host comes to the sync
  Cycles visit_callbacks;  ///< of `visit_begin`: until the host's callbacks are done
  Cycles visit_end;        ///< of `host`: from the last packet to the opening
  TileId critical{};
  std::uint32_t call = 0;  ///< of the program; a host phase between two belongs to the later one
  std::uint64_t trip = 0;  ///< of the innermost loop around `exchange_step`, from 0
  std::uint64_t exchange_bytes = 0, host_bytes = 0;
  std::uint64_t h_bytes = 0;  ///< the most that any tile sends or receives
  std::uint32_t messages = 0;
  std::uint64_t word_rows = 0,
                word_columns = 0;  ///< words times the rows and columns between tiles
  InstructionCounts worker_instructions;
};

/// A finished superstep.
struct SuperstepRecord : SuperstepCounts {
  Cycles end;
  std::uint32_t zone = 0;            ///< of the sync that ends it
  std::vector<ComputeShare> shares;  ///< of `compute`, which they sum to, in order
  std::vector<HostTransfer> transfers;
  const std::vector<TilePhase>* tiles =
      nullptr;  ///< by entry of the image; valid during the call of the observer
};

}  // namespace superstep
