#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace superstep {

/// Finds words of a tile that workers share without order. A worker comes after another when it is
/// launched after that one has left; otherwise neither may write a word that the other touches.
class RaceCheck {
 public:
  /// A worker is launched at cycle `issue`; the accesses that follow are its own.
  void begin(std::uint32_t worker, std::uint64_t issue);
  /// It has left at `cycle`.
  void end(std::uint64_t cycle) { runs_.back().end = cycle; }

  /// Notes an access; null, or what is wrong with it, valid until the next call.
  [[nodiscard]] const char* access(std::uint32_t pc, std::uint32_t address, std::uint32_t bytes,
                                   bool writes);

 private:
  struct Run {
    std::uint32_t worker = 0;
    std::uint64_t end = ~std::uint64_t{0};
  };
  /// By `run`, a number into `runs_`; kNone when there was none.
  struct Access {
    std::uint32_t run = kNone;
    std::uint32_t pc = 0;
  };
  struct Word {
    Access writer;
    std::array<Access, 2> readers;  ///< of different runs: enough to name one beside any writer
  };
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  /// Whether it was made by another run that the present one does not come after.
  [[nodiscard]] bool races(const Access& access) const;
  const char* explain(const Access& other, bool other_wrote, std::uint32_t word, bool writes);

  std::vector<Run> runs_;  ///< since no worker was running; the last is the present one
  std::uint64_t issue_ = 0;
  std::unordered_map<std::uint32_t, Word> words_;  ///< by address
  std::string message_;
};

}  // namespace superstep
