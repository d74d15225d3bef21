#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "base/hash.h"
#include "sim/observer.h"
#include "sim/simulation.h"

namespace superstep {

inline std::string text_of(const InstructionCounts& counts) {
  return fmt::format("{}/{}/{}/{}/{}/{}", counts.all, counts.aux, counts.amp, counts.loads,
                     counts.stores, counts.branches);
}

/// All that a superstep's record and those of its tiles say.
inline std::string text_of(const SuperstepRecord& record) {
  std::string text = fmt::format(
      "{}: step {} {} begin {} end {} parts {} {} {} {} critical {} call {} trip {} bytes {} {} {} "
      "messages {} way {} {} zone {} issued {}",
      record.number, record.step, record.exchange_step, record.begin.value(), record.end.value(),
      record.exchange.value(), record.compute.value(), record.sync.value(), record.host.value(),
      index(record.critical), record.call, record.trip, record.exchange_bytes, record.host_bytes,
      record.h_bytes, record.messages, record.word_rows, record.word_columns, record.zone,
      text_of(record.worker_instructions));
  for (const ComputeShare& share : record.shares) {
    text += fmt::format(" share {} {} {}", share.step, share.cycles, share.runs);
  }
  for (const HostTransfer& transfer : record.transfers) {
    text += fmt::format(" transfer {} {} {} {}", transfer.stream, transfer.bytes,
                        transfer.begin.value(), transfer.end.value());
  }
  for (const TilePhase& tile : *record.tiles) {
    text += fmt::format(" tile {} {} {} {} {} {} {} {} {} {}", tile.exchange, tile.compute,
                        tile.sync, tile.exchange_idle, tile.sent_bytes, tile.received_bytes,
                        text_of(tile.instructions), tile.worker_busy, tile.word_rows,
                        tile.word_columns);
  }
  return text;
}

/// Keeps what happens: supersteps, and calls with their results.
class History : public Observer {
 public:
  explicit History(Simulation& simulation) : simulation_(simulation) { simulation.observe(*this); }

  void on_superstep(const SuperstepRecord& record) override { lines.push_back(text_of(record)); }
  void on_call(std::uint32_t calls_done) override {
    std::string text = fmt::format("call {}", calls_done);
    for (std::uint32_t r = 0; r < simulation_.image().results.size(); ++r) {
      text += fmt::format(" {}", fmt::join(numbers_of(simulation_.result(r).data), " "));
    }
    lines.push_back(text);
  }
  /// How the run ended, and what it left in the memories.
  void end(const Stop& stop) {
    lines.push_back(fmt::format("stop {} {}", static_cast<int>(stop.kind),
                                stop.trap ? stop.trap->text() : simulation_.place()));
    for (const TileEntry& entry : simulation_.image().entries) {
      const MachineConfig& machine = simulation_.image().machine;
      std::vector<std::byte> memory(machine.tile.memory_bytes);
      (void)simulation_.tile(entry.tile).read(machine.tile.memory_base, memory);
      std::uint64_t hash = kFnv1aBasis;
      for (const std::byte byte : memory) hash = fnv1a(hash, std::to_integer<std::uint8_t>(byte));
      lines.push_back(fmt::format("memory of {}: {:x}", index(entry.tile), hash));
    }
  }

  std::vector<std::string> lines;

 private:
  static std::vector<int> numbers_of(const std::vector<std::byte>& bytes) {
    std::vector<int> numbers;
    for (const std::byte byte : bytes) numbers.push_back(std::to_integer<int>(byte));
    return numbers;
  }

  Simulation& simulation_;
};

}  // namespace superstep
