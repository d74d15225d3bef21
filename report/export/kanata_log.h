#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/tile/instruction_observer.h"

namespace superstep {

/// An instruction of a context of a tile.
struct TileInstruction : IssuedInstruction {
  std::uint32_t tile = 0;
};

/// Instructions as a log in the Kanata format, version 4 (shioyadan/Konata
/// docs/kanata-log-format.md): a row for each; threads are the workers of a tile and, behind them,
/// its supervisor.
class KanataLog {
 public:
  static constexpr std::size_t kMostInstructions = 2'000'000;
  /// What the code at the pc of an instruction is called.
  using PlaceOf = std::function<std::string(const TileInstruction&)>;

  /// `workers` of a tile.
  explicit KanataLog(std::uint32_t workers) : workers_(workers) {}

  void add(const TileInstruction& instruction);
  [[nodiscard]] bool is_empty() const { return instructions_.empty(); }
  /// Instructions beyond kMostInstructions, which are not kept.
  [[nodiscard]] std::size_t left_out() const { return left_out_; }
  /// Gives the log, which begins with a cycle, to `sink`.
  void write(std::uint64_t begin, const PlaceOf& place_of,
             const std::function<void(std::string_view)>& sink) const;

 private:
  std::uint32_t workers_;
  std::vector<TileInstruction> instructions_;
  std::size_t left_out_ = 0;
};

}  // namespace superstep
