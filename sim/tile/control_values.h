#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "isa/values.h"

namespace superstep {

/// What a supervisor wrote into its control registers, by number; 0 until it does. Most tiles write
/// none.
class ControlValues {
 public:
  [[nodiscard]] isa::U32 operator[](std::uint32_t number) const {
    return values_ == nullptr ? isa::U32{0} : (*values_)[number];
  }
  void set(std::uint32_t number, isa::U32 value) {
    if (values_ == nullptr) values_ = std::make_unique<Values>();
    (*values_)[number] = value;
  }
  void clear() { values_.reset(); }

  template <class Archive>
  void state(Archive& archive) {
    bool are_there = values_ != nullptr;
    archive(are_there);
    if constexpr (Archive::kReads) values_ = are_there ? std::make_unique<Values>() : nullptr;
    if (are_there) archive(*values_);
  }

 private:
  using Values = std::array<isa::U32, 256>;
  std::unique_ptr<Values> values_;
};

}  // namespace superstep
