#include "sim/tile/port_rows.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <span>

namespace superstep {

bool PortRows::matches(std::uint32_t pc, const PortRow& row) const {
  const std::uint32_t begin = pc - memory_.base();
  return std::memcmp(memory_.data() + begin, decoded_.data() + begin, row.end() - pc) == 0;
}

/// Most code runs once, or often.
bool PortRows::is_first_time(std::uint32_t pc) {
  const std::uint32_t word = (pc - memory_.base()) / 4;
  if (word >= asked_for_.size()) asked_for_.resize(std::size_t{2} * word + 1);
  const bool is_first = !asked_for_[word];
  asked_for_[word] = true;
  return is_first;
}

const PortRow* PortRows::find(std::uint32_t pc) {
  if (is_first_time(pc)) return nullptr;
  if (code_version_ != memory_.code_version()) {
    code_version_ = memory_.code_version();
    std::erase_if(rows_, [&](const auto& row) { return !matches(row.first, row.second); });
    last_ = rows_.end();
  }
  // Rows mostly follow one another.
  if (last_ != rows_.end()) ++last_;
  if (last_ == rows_.end() || last_->first != pc) last_ = rows_.find(pc);
  if (last_ == rows_.end()) decode(pc);
  return &last_->second;
}

void PortRows::decode(std::uint32_t pc) {
  const std::uint32_t begin = pc - memory_.base();
  const std::span<const std::byte> code(memory_.data() + begin, code_end_ - pc);
  last_ = rows_.try_emplace(pc, ++ids_, encoding_, item_, pc, code).first;
  const std::uint32_t bytes = last_->second.end() - pc;
  if (decoded_.size() < begin + bytes) decoded_.resize(begin + bytes);
  std::memcpy(decoded_.data() + begin, code.data(), bytes);
  memory_.mark_decoded(pc, bytes / 4);
}

}  // namespace superstep
