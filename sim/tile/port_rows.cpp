#include "sim/tile/port_rows.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <span>

namespace superstep {
namespace {

/// In bytes: where less is known of what follows a row, the row may go on there.
constexpr std::size_t kLongestInstruction = 8;

}  // namespace

bool PortRows::matches(std::uint32_t pc, const PortRow& row) const {
  const std::uint32_t begin = pc - memory_.base();
  return std::memcmp(memory_.data() + begin, decoded_.data() + begin, row.end() - pc) == 0;
}

/// Whether nobody has asked for a row there: most code runs once, or often, and is decoded the
/// second time.
bool PortRows::is_first_time(std::uint32_t pc) {
  const std::uint32_t word = (pc - memory_.base()) / 4;
  if (word >= asked_for_.size()) asked_for_.resize(std::size_t{2} * word + 1);
  const bool is_first = !asked_for_[word];
  asked_for_[word] = true;
  return is_first;
}

const PortRow* PortRows::find(std::uint32_t pc) {
  if (code_version_ != memory_.code_version()) {
    code_version_ = memory_.code_version();
    std::erase_if(rows_, [&](const auto& row) { return !matches(row.first, row.second); });
    last_ = rows_.end();
  }
  // Rows mostly follow one another.
  if (last_ != rows_.end()) ++last_;
  if (last_ == rows_.end() || last_->first != pc) last_ = rows_.find(pc);
  if (last_ == rows_.end()) {
    if (is_first_time(pc)) return nullptr;
    decode(pc);
  }
  return &last_->second;
}

void PortRows::decode(std::uint32_t pc) {
  if (!memory_.has_code(pc)) memory_.open_code(pc);
  ++ids_;
  const auto row_at_pc = [&] { return PortRow(ids_, encoding_, item_, pc, memory_.code_from(pc)); };
  PortRow row = row_at_pc();
  if (memory_.code_from(row.end()).size() < kLongestInstruction) {
    memory_.open_all_code();
    row = row_at_pc();
  }
  last_ = rows_.emplace(pc, row).first;
  const std::uint32_t begin = pc - memory_.base(), bytes = row.end() - pc;
  if (decoded_.size() < begin + bytes) decoded_.resize(begin + bytes);
  std::memcpy(decoded_.data() + begin, memory_.code_from(pc).data(), bytes);
  memory_.mark_decoded(pc, bytes / 4);
}

}  // namespace superstep
