#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/dtype.h"
#include "base/members.h"

namespace superstep {

class WorkerCode;

// The state of a simulation as bytes. A class with state has a template `state(Archive&)` that
// gives all of it to the archive. Plain classes name each member in a structured binding, so that a
// new one is not forgotten: the binding fails to compile. Processes, which have a base, list
// theirs.

template <class Value>
constexpr bool kIsFloatArray = std::is_floating_point_v<Value>;
template <class Element, std::size_t kSize>
constexpr bool kIsFloatArray<std::array<Element, kSize>> = kIsFloatArray<Element>;

/// What an archive takes as it lies in memory.
template <class Value>
concept PlainState = std::is_trivially_copyable_v<Value> && !std::is_pointer_v<Value> &&
                     (std::has_unique_object_representations_v<Value> || kIsFloatArray<Value>);

template <class Value, class Archive>
concept HasState = requires(Value& value, Archive& archive) {
  value.state(archive);
};

/// How values of each type are taken apart, for both directions. `Archive` has `bytes`, `size` and
/// `code`.
template <class Archive>
class StateArchive {
 public:
  template <class... Values>
  void operator()(Values&... values) {
    (take(values), ...);
  }

 private:
  Archive& self() { return static_cast<Archive&>(*this); }

  template <class Value>
  void take(Value& value) {
    if constexpr (HasState<Value, Archive>) {
      value.state(self());
    } else if constexpr (std::is_same_v<Value, const WorkerCode*>) {
      self().code(value);
    } else if constexpr (PlainState<Value>) {
      self().bytes(std::as_writable_bytes(std::span(&value, 1)));
    } else if constexpr (!std::is_empty_v<Value>) {
      visit_members(value, [&](auto&... members) { (take(members), ...); });
    }
  }
  template <class Element>
  void take(std::vector<Element>& list) {
    self().resize(list);
    if constexpr (PlainState<Element>) {
      self().bytes(std::as_writable_bytes(std::span(list)));
    } else {
      for (Element& element : list) take(element);
    }
  }
  void take(std::vector<bool>& bits) {
    self().resize(bits);
    for (std::size_t first = 0; first < bits.size(); first += 64) {
      const std::size_t end = std::min(bits.size(), first + 64);
      std::uint64_t word = 0;
      for (std::size_t i = first; i < end; ++i) word |= std::uint64_t{bits[i]} << (i - first);
      take(word);
      for (std::size_t i = first; i < end; ++i) bits[i] = (word >> (i - first) & 1) != 0;
    }
  }
  template <class Element>
  void take(std::deque<Element>& list) {
    self().resize(list);
    for (Element& element : list) take(element);
  }
  void take(std::string& text) {
    self().resize(text);
    self().bytes(std::as_writable_bytes(std::span(text)));
  }
  template <class Value>
  void take(std::optional<Value>& value) {
    bool is_there = value.has_value();
    take(is_there);
    if (is_there && !value) value = Value{};
    if (!is_there) value.reset();
    if (value) take(*value);
  }
  template <class First, class Second>
  void take(std::pair<First, Second>& pair) {
    take(pair.first);
    take(pair.second);
  }
  template <class... Alternatives>
  void take(std::variant<Alternatives...>& value) {
    std::uint32_t index = static_cast<std::uint32_t>(value.index());
    take(index);
    std::uint32_t at = 0;
    ((at++ == index ? take_alternative<Alternatives>(value) : void()), ...);
    if (index >= sizeof...(Alternatives)) throw std::runtime_error("an unknown kind of message");
  }
  template <class Alternative, class Variant>
  void take_alternative(Variant& value) {
    if (!std::holds_alternative<Alternative>(value)) value.template emplace<Alternative>();
    take(std::get<Alternative>(value));
  }
  void take(HostTensor& tensor) {
    take(tensor.type);
    take(tensor.data);
  }
  void take(bool& value) {
    std::uint8_t byte = value ? 1 : 0;
    take(byte);
    value = byte != 0;
  }
};

/// Takes down the state that it is given.
class StateWriter : public StateArchive<StateWriter> {
 public:
  static constexpr bool kReads = false;

  [[nodiscard]] const std::vector<std::byte>& written() const { return bytes_; }
  /// The pieces of code that the state names, by number.
  [[nodiscard]] const std::vector<const WorkerCode*>& codes() const { return codes_; }

  void bytes(std::span<const std::byte> value) {
    bytes_.insert(bytes_.end(), value.begin(), value.end());
  }
  template <class List>
  void resize(const List& list) {
    std::uint64_t size = list.size();
    (*this)(size);
  }
  void code(const WorkerCode* piece) {
    const auto [found, is_new] =
        number_of_.try_emplace(piece, static_cast<std::uint32_t>(codes_.size()));
    if (is_new) codes_.push_back(piece);
    (*this)(found->second);
  }

 private:
  std::vector<std::byte> bytes_;
  std::vector<const WorkerCode*> codes_;
  std::map<const WorkerCode*, std::uint32_t> number_of_;
};

/// Gives back what a StateWriter took down, in the same order. Throws std::runtime_error for bytes
/// that it cannot have written.
class StateReader : public StateArchive<StateReader> {
 public:
  static constexpr bool kReads = true;

  /// Both outlive the reader.
  StateReader(std::span<const std::byte> written, std::span<const WorkerCode* const> codes)
      : left_(written), codes_(codes) {}

  [[nodiscard]] bool is_done() const { return left_.empty(); }

  void bytes(std::span<std::byte> value) {
    if (value.size() > left_.size()) throw std::runtime_error("the state ends early");
    if (!value.empty()) std::memcpy(value.data(), left_.data(), value.size());
    left_ = left_.subspan(value.size());
  }
  template <class List>
  void resize(List& list) {
    std::uint64_t size = 0;
    (*this)(size);
    // An element takes a bit at least.
    if (size / 8 > left_.size()) throw std::runtime_error("the state ends early");
    list.resize(size);
  }
  void code(const WorkerCode*& piece) {
    std::uint32_t number = 0;
    (*this)(number);
    if (number >= codes_.size()) throw std::runtime_error("unknown worker code");
    piece = codes_[number];
  }

 private:
  std::span<const std::byte> left_;
  std::span<const WorkerCode* const> codes_;
};

/// For lists that belong to the machine or the image, whose sizes cannot change.
template <class Archive, class... Lists>
void state_of_same_size(Archive& archive, Lists&... lists) {
  const auto one = [&](auto& list) {
    const std::size_t size = list.size();
    archive(list);
    if (list.size() != size) throw std::runtime_error("the state is that of another machine");
  };
  (one(lists), ...);
}

}  // namespace superstep
