#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "base/units.h"
#include "sim/host/turn.h"

namespace superstep {

/// The values of a stream to the tiles that a callback has made ahead, in the host's memory.
class RingBuffer {
 public:
  RingBuffer(StreamSource source, std::size_t value_bytes)
      : source_(std::move(source)), value_bytes_(value_bytes) {}

  /// Calls back for another value, which is there at `ready`. When there is none it is dry.
  void fill(Cycles ready) {
    std::vector<std::byte> value(value_bytes_);
    is_dry_ = !source_(value);
    if (is_dry_) return;
    values_.push_back({ready, std::move(value)});
    ++made_;
  }

  /// Values that the callback has made.
  [[nodiscard]] std::uint64_t made() const { return made_; }
  /// Those of them that are gone.
  [[nodiscard]] std::uint64_t taken() const { return made_ - values_.size(); }
  [[nodiscard]] bool is_dry() const { return is_dry_; }
  [[nodiscard]] std::size_t size() const { return values_.size(); }
  [[nodiscard]] Cycles ready() const { return values_.front().ready; }
  [[nodiscard]] std::span<const std::byte> value() const { return values_.front().bytes; }
  void pop() { values_.pop_front(); }

  /// A buffer whose values were read has no callback until it gets one.
  [[nodiscard]] bool is_connected() const { return source_ != nullptr; }
  /// Values that were made stay; a callback in place of another may have more when that had none.
  void connect(StreamSource source) {
    if (is_connected()) is_dry_ = false;
    source_ = std::move(source);
  }

  /// All but the callback.
  template <class Archive>
  void state(Archive& archive) {
    auto& [source, value_bytes, values, is_dry, made] = *this;
    archive(values, is_dry, made);
  }

 private:
  struct Value {
    Cycles ready;
    std::vector<std::byte> bytes;
  };

  StreamSource source_;
  std::size_t value_bytes_;
  std::deque<Value> values_;
  bool is_dry_ = false;
  std::uint64_t made_ = 0;
};

}  // namespace superstep
