#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "sim/exchange/port_row.h"
#include "sim/tile/memory.h"

namespace superstep {

/// The rows of a tile that are executed again, decoded once. Compared with the words in its memory
/// when decoded ones were written.
class PortRows {
 public:
  /// `memory` outlives them.
  PortRows(const MachineConfig& machine, TileMemory& memory)
      : memory_(memory), encoding_(machine.isa.encoding), item_(machine), last_(rows_.end()) {}
  PortRows(const PortRows&) = delete;
  PortRows& operator=(const PortRows&) = delete;

  /// The row at `pc`, an executable address; lives until its words change. Null the first time.
  [[nodiscard]] const PortRow* find(std::uint32_t pc);

  /// Which rows will be decoded when they are next asked for. Those that are read are decoded anew,
  /// with new ids.
  template <class Archive>
  void state(Archive& archive) {
    auto& [memory, encoding, item, asked_for, as_decoded, rows, last, version, ids] = *this;
    archive(asked_for);
    if constexpr (Archive::kReads) {
      rows.clear();
      last = rows.end();
    }
  }

 private:
  [[nodiscard]] bool is_first_time(std::uint32_t pc);
  [[nodiscard]] bool matches(std::uint32_t pc, const PortRow& row) const;
  void decode(std::uint32_t pc);

  TileMemory& memory_;
  Encoding encoding_;
  ExchangeItem item_;
  std::vector<bool> asked_for_;                      ///< by word of the memory
  std::vector<std::byte> decoded_;                   ///< memory from its base: rows as decoded
  std::map<std::uint32_t, PortRow> rows_;            ///< by address
  std::map<std::uint32_t, PortRow>::iterator last_;  ///< the one found last
  std::uint64_t code_version_ = 0;
  std::uint64_t ids_ = 0;
};

}  // namespace superstep
