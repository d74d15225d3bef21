#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

namespace superstep {

enum class BufferId : std::uint32_t {};

/// A word of vertex state: a number, or an address that is known once memory is allocated.
struct StateWord {
  enum class Base : std::uint8_t { kNone, kBuffer, kState };
  Base base = Base::kNone;
  std::uint32_t value = 0;  ///< the number, or bytes to add to the address of the base
  BufferId buffer{};

  static StateWord number(std::int64_t n) {
    return {Base::kNone, static_cast<std::uint32_t>(n), {}};
  }
  static StateWord address(BufferId buffer, std::int64_t byte = 0) {
    return {Base::kBuffer, static_cast<std::uint32_t>(byte), buffer};
  }
  /// Word `word` of the vertex state itself, for constants and tables that travel with it.
  static StateWord own(std::size_t word) {
    return {Base::kState, static_cast<std::uint32_t>(4 * word), {}};
  }
  auto operator<=>(const StateWord&) const = default;
};

/// The words of a launch's vertex state. Copies share them: states of many tiles and steps are
/// equal.
class VertexState {
 public:
  VertexState() : VertexState(std::vector<StateWord>()) {}
  VertexState(std::vector<StateWord> words)
      : words_(std::make_shared<const std::vector<StateWord>>(std::move(words))) {}
  VertexState(std::initializer_list<StateWord> words)
      : VertexState(std::vector<StateWord>(words)) {}

  [[nodiscard]] auto begin() const { return words_->begin(); }
  [[nodiscard]] auto end() const { return words_->end(); }
  [[nodiscard]] std::size_t size() const { return words_->size(); }
  const StateWord& operator[](std::size_t i) const { return (*words_)[i]; }
  /// Equal for copies, and only for them.
  [[nodiscard]] const void* identity() const { return words_.get(); }
  /// Compares words.
  bool operator<(const VertexState& other) const {
    return words_ != other.words_ && *words_ < *other.words_;
  }

 private:
  std::shared_ptr<const std::vector<StateWord>> words_;
};

}  // namespace superstep
