#include "sim/tile/port_rows.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <span>

namespace superstep {

bool PortRows::matches(std::uint32_t pc, const PortRow& row) const {
  return std::memcmp(memory_.data() + (pc - memory_.base()), row.words().data(),
                     row.words().size_bytes()) == 0;
}

const PortRow& PortRows::at(std::uint32_t pc) {
  if (code_version_ != memory_.code_version()) {
    code_version_ = memory_.code_version();
    std::erase_if(rows_, [&](const auto& row) { return !matches(row.first, row.second); });
    last_ = rows_.end();
  }
  // Rows mostly follow one another.
  if (last_ != rows_.end()) ++last_;
  if (last_ == rows_.end() || last_->first != pc) last_ = rows_.find(pc);
  if (last_ != rows_.end()) return last_->second;
  const std::span<const std::byte> code(memory_.data() + (pc - memory_.base()), code_end_ - pc);
  last_ = rows_.try_emplace(pc, ++ids_, pc, code).first;
  for (std::uint32_t word = pc; word < last_->second.end(); word += 4) memory_.mark_decoded(word);
  return last_->second;
}

}  // namespace superstep
