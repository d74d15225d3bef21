#pragma once

#include <vector>

#include "toolchain/assembler/lexer.h"

namespace superstep::assembler {

/// The conditions (`.if` to `.endif`) that are open.
class Conditionals {
 public:
  [[nodiscard]] bool is_skipping() const { return !open_.empty() && !open_.back().is_active; }
  [[nodiscard]] std::size_t depth() const { return open_.size(); }
  [[nodiscard]] Place last_place() const { return open_.back().place; }

  void open(bool holds, Place place);
  /// Whether an `.elseif` is to be evaluated: none of the branches before was taken.
  [[nodiscard]] bool wants_condition() const;
  /// `.elseif` or, with `holds`, `.else`. False when none is open or `.else` was already there.
  bool next_branch(bool holds, bool is_last);
  /// `.endif`. False when none is open.
  bool close();
  /// Forgets those beyond `depth`.
  void reduce_to(std::size_t depth) {
    open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(depth), open_.end());
  }

 private:
  struct Condition {
    bool is_active = false;
    bool is_decided = false;  ///< a branch was taken, or it lies in text that is skipped
    bool is_last = false;
    Place place;
  };
  std::vector<Condition> open_;
};

}  // namespace superstep::assembler
