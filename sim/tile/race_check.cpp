#include "sim/tile/race_check.h"

#include <fmt/format.h>

#include <algorithm>

namespace superstep {

void RaceCheck::begin(std::uint32_t worker, std::uint64_t issue) {
  if (std::all_of(runs_.begin(), runs_.end(), [&](const Run& run) { return run.end <= issue; })) {
    runs_.clear();
    words_.clear();
  }
  runs_.push_back({worker});
  issue_ = issue;
}

const char* RaceCheck::access(std::uint32_t pc, std::uint32_t address, std::uint32_t bytes,
                              bool writes) {
  const Access present{static_cast<std::uint32_t>(runs_.size() - 1), pc};
  for (std::uint32_t word = address & ~3U; word < address + bytes; word += 4) {
    Word& known = words_[word];
    if (races(known.writer)) return explain(known.writer, true, word, writes);
    if (writes) {
      for (const Access& reader : known.readers) {
        if (races(reader)) return explain(reader, false, word, true);
      }
      known.writer = present;
      continue;
    }
    if (std::any_of(known.readers.begin(), known.readers.end(),
                    [&](const Access& reader) { return reader.run == present.run; })) {
      continue;
    }
    // What the present run comes after, later runs come after too.
    const auto free = std::find_if(known.readers.begin(), known.readers.end(),
                                   [&](const Access& reader) { return !races(reader); });
    if (free != known.readers.end()) *free = present;
  }
  return nullptr;
}

bool RaceCheck::races(const Access& access) const {
  return access.run != kNone && access.run != runs_.size() - 1 && runs_[access.run].end > issue_;
}

const char* RaceCheck::explain(const Access& other, bool other_wrote, std::uint32_t word,
                               bool writes) {
  message_ = fmt::format(
      "a race: {} the word at {:#x}, which worker {} {} at pc {:#x} in the same "
      "launch; workers that run at the same time may not share words that one "
      "of them writes",
      writes ? "writes" : "reads", word, runs_[other.run].worker, other_wrote ? "writes" : "reads",
      other.pc);
  return message_.c_str();
}

}  // namespace superstep
