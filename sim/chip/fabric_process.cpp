#include "sim/chip/fabric_process.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "sim/chip/chip.h"
#include "sim/exchange/phase.h"

namespace superstep {
namespace {

std::uint64_t done_cycle(std::uint64_t last_event) { return last_event == 0 ? 0 : last_event + 1; }

}  // namespace

FabricProcess::FabricProcess(Chip& chip, std::unique_ptr<FabricModel> fabric, TaskArena& arena)
    : MachineProcess(process_place(chip.id(), Rank::kFabric)),
      chip_(chip),
      fabric_(std::move(fabric)),
      arena_(arena),
      done_(chip.tiles().size()) {}

void FabricProcess::open() {
  ++superstep_;
  entries_.clear();
  bytes_ = last_done_ = 0;
}

void FabricProcess::handle(const Message&, MachineOutbox& out) {
  move_words(out);
  out.send({.time = out.now(), .to = &chip_.tiles(), .is_definite = true, .message = WordsMoved{}});
}

/// Resolves the exchange of this superstep for all tiles at once.
void FabricProcess::move_words(MachineOutbox& out) {
  TileArray& tiles = chip_.tiles();
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    if (tiles.told_ports(i)) entries_.push_back(i);
  }
  ports_.resize(entries_.size());
  arena_.each_of_parts(entries_.size(), kPortsARange, [&](std::size_t first, std::size_t end) {
    for (std::size_t p = first; p != end; ++p) {
      ports_[p] = tiles.port(entries_[p], tiles.tile(entries_[p]).port_log());
    }
  });
  const FabricResult* moved = nullptr;
  arena_.run([&] { moved = &fabric_->resolve(ports_); });
  bytes_ = moved->bytes;
  if (moved->fault) {
    chip_.send_trap(out, {.cycle = Cycles(moved->fault->cycle),
                          .tile = moved->fault->tile,
                          .context = "exchange",
                          .pc = moved->fault->pc,
                          .cause = moved->fault->cause,
                          .kind = moved->fault->kind});
  }
  const auto is_late = [&](std::size_t p) {
    const TileStop& stop = tiles.stop(entries_[p]);
    return stop.kind == TileStop::Kind::kExchangeDone && moved->ports[p].last_event > stop.cycle;
  };
  bool has_late = false;
  std::mutex adding;
  arena_.each_of_parts(ports_.size(), kPortsARange, [&](std::size_t first, std::size_t end) {
    bool has_late_of_range = false;
    std::uint64_t last_done_of_range = 0;
    for (std::size_t p = first; p != end; ++p) {
      const std::size_t i = entries_[p];
      const PortResult& port = moved->ports[p];
      TileMemory& memory = tiles.tile(i).memory();
      if (port.lowest_write < memory.first_free_of_code()) memory.touched();
      done_[i] = {superstep_, done_cycle(port.last_event), port.traffic,
                  !moved->has_all_words(p, tiles.stop(i).cycle)};
      last_done_of_range = std::max(last_done_of_range, done_[i].cycle);
      has_late_of_range |= is_late(p);
    }
    const std::scoped_lock lock(adding);
    has_late |= has_late_of_range;
    last_done_ = std::max(last_done_, last_done_of_range);
  });
  for (std::size_t p = 0; has_late && p < ports_.size(); ++p) {
    if (!is_late(p)) continue;
    const TileStop& stop = tiles.stop(entries_[p]);
    chip_.send_trap(
        out, {.cycle = Cycles(moved->ports[p].last_event),
              .tile = tiles.id(entries_[p]),
              .context = "exchange",
              .pc = stop.pc,
              .cause = fmt::format("the exchange ends at cycle {}, after the tile went on with its "
                                   "program at cycle {}",
                                   moved->ports[p].last_event, stop.cycle)});
  }
}

bool FabricProcess::has_words_after(Cycles opening, MachineOutbox& out) const {
  if (last_done_ <= opening.value()) return false;
  bool found = false;
  for (const std::size_t i : entries_) {
    if (done_[i].cycle <= opening.value()) continue;
    found = true;
    chip_.send_trap(
        out, {.cycle = Cycles(done_[i].cycle - 1),
              .tile = chip_.tiles().id(i),
              .context = "exchange",
              .pc = chip_.tiles().stop(i).pc,
              .cause = fmt::format("a word is on its way when the next barrier opens at cycle {}",
                                   opening.value())});
  }
  return found;
}

}  // namespace superstep
