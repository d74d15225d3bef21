#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/toml.h"
#include "isa/machine_keys.h"

namespace superstep {

/// The value of a key as a machine file has it, or what is wrong with it.
template <class T>
using ValueRead = std::variant<T, std::string>;

/// A number, with the key's unit where it has one.
[[nodiscard]] ValueRead<std::uint64_t> read_number(const Key& key, const toml::node& node);
/// A list of whole numbers.
[[nodiscard]] ValueRead<std::vector<std::uint32_t>> read_list(const Key& key,
                                                              const toml::node& node);
/// The number of a name among those of the key.
[[nodiscard]] ValueRead<std::size_t> read_name(const Key& key, const toml::node& node);

/// Sets the field of a key; else leaves it and says what is wrong.
template <class Field>
[[nodiscard]] std::optional<std::string> read_field(const Key& key, const toml::node& node,
                                                    Field& field) {
  auto read = [&] {
    if constexpr (std::is_enum_v<Field>) {
      return read_name(key, node);
    } else if constexpr (std::is_integral_v<Field>) {
      return read_number(key, node);
    } else {
      return read_list(key, node);
    }
  }();
  if (auto* problem = std::get_if<std::string>(&read)) return std::move(*problem);
  field = static_cast<Field>(std::get<0>(std::move(read)));
  return std::nullopt;
}

}  // namespace superstep
