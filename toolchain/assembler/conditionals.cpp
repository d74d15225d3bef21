#include "toolchain/assembler/conditionals.h"

namespace superstep::assembler {

void Conditionals::open(bool holds, Place place) {
  const bool skipped = is_skipping();
  open_.push_back({holds && !skipped, holds || skipped, false, place});
}

bool Conditionals::wants_condition() const { return !open_.empty() && !open_.back().is_decided; }

bool Conditionals::next_branch(bool holds, bool is_last) {
  if (open_.empty() || open_.back().is_last) return false;
  Condition& condition = open_.back();
  condition.is_active = holds && !condition.is_decided;
  condition.is_decided |= holds;
  condition.is_last = is_last;
  return true;
}

bool Conditionals::close() {
  if (open_.empty()) return false;
  open_.pop_back();
  return true;
}

}  // namespace superstep::assembler
