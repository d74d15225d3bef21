#pragma once

#include <cstring>
#include <span>
#include <stdexcept>

#include "base/dtype.h"
#include "compiler/vertex/vertex_state.h"

namespace superstep::vertex {

/// Bytes of an element.
inline std::uint32_t bytes_of(DType dtype) { return static_cast<std::uint32_t>(size_of(dtype)); }

/// Buffers of one tile, for interpreters of vertices.
class BufferMemory {
 public:
  virtual ~BufferMemory() = default;
  [[nodiscard]] virtual std::span<std::byte> bytes(BufferId buffer) = 0;
};

/// Where a word of a vertex state points to, and what is there. Throws beyond the buffer.
class Pointer {
 public:
  Pointer(std::span<std::byte> bytes, std::int64_t at) : bytes_(bytes), at_(at) {}

  [[nodiscard]] Pointer plus(std::int64_t n) const { return {bytes_, at_ + n}; }
  void read(void* to, std::size_t size) const { std::memcpy(to, place(size), size); }
  void write(const void* from, std::size_t size) const { std::memcpy(place(size), from, size); }
  template <class T>
  [[nodiscard]] T get() const {
    T value{};
    read(&value, sizeof value);
    return value;
  }
  /// A scalar.
  [[nodiscard]] HostTensor element(DType dtype) const {
    HostTensor tensor(TensorType{dtype, {}});
    read(tensor.data.data(), size_of(dtype));
    return tensor;
  }

 private:
  [[nodiscard]] std::byte* place(std::size_t size) const {
    if (at_ < 0 || static_cast<std::size_t>(at_) + size > bytes_.size()) {
      throw std::out_of_range("a vertex leaves a buffer");
    }
    return bytes_.data() + at_;
  }

  std::span<std::byte> bytes_;
  std::int64_t at_;
};

/// The state of a launch, or of one worker of it, as an interpreter sees it.
class StateView {
 public:
  StateView(std::span<const StateWord> words, BufferMemory& memory)
      : words_(words), memory_(&memory) {}

  [[nodiscard]] std::size_t size() const { return words_.size(); }
  [[nodiscard]] StateView from(std::size_t first, std::size_t count) const {
    return {words_.subspan(first, count), *memory_};
  }
  [[nodiscard]] std::int64_t number(std::size_t i) const {
    return static_cast<std::int32_t>(words_[i].value);
  }
  [[nodiscard]] Pointer pointer(std::size_t i) const {
    return {memory_->bytes(words_[i].buffer), words_[i].value};
  }
  /// What word i points to: a scalar in a buffer, or a constant that the state holds.
  [[nodiscard]] HostTensor scalar(std::size_t i, DType dtype) const {
    if (words_[i].base != StateWord::Base::kState) return pointer(i).element(dtype);
    HostTensor tensor(TensorType{dtype, {}});
    std::memcpy(tensor.data.data(), &words_[words_[i].value / 4].value, size_of(dtype));
    return tensor;
  }

 private:
  std::span<const StateWord> words_;
  BufferMemory* memory_;
};

}  // namespace superstep::vertex
