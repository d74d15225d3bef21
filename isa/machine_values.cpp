#include "isa/machine_values.h"

#include <fmt/format.h>

#include <cmath>

#include "isa/quantity_text.h"

namespace superstep {

ValueRead<std::vector<std::uint32_t>> read_list(const Key& key, const toml::node& node) {
  const toml::array* list = node.as_array();
  const auto expected = [&] { return fmt::format("'{}' is {}", key.name, list_text(key)); };
  if (list == nullptr) return expected();
  std::vector<std::uint32_t> values;
  for (const toml::node& item : *list) {
    const auto value = item.value_exact<std::int64_t>();
    if (!value || *value < 0 || !key.allows(static_cast<std::uint64_t>(*value))) return expected();
    values.push_back(static_cast<std::uint32_t>(*value));
  }
  return values;
}

ValueRead<std::size_t> read_name(const Key& key, const toml::node& node) {
  const auto found = node.value_exact<std::string>();
  for (std::size_t n = 0; found && n < key.names.size(); ++n) {
    if (*found == key.names[n]) return n;
  }
  return fmt::format("'{}' is {}{}", key.name, range_text(key),
                     found ? ", found \"" + *found + "\"" : "");
}

ValueRead<std::uint64_t> read_number(const Key& key, const toml::node& node) {
  double value = 0;
  std::string found;
  if (const auto integer = node.value_exact<std::int64_t>()) {
    if (key.unit != Unit::kCount && key.unit != Unit::kAddress) {
      return fmt::format("'{}' needs a unit, as in {}; it is {}", key.name, example_of(key.unit),
                         range_text(key));
    }
    value = static_cast<double>(*integer);
    found = key.unit == Unit::kAddress && *integer >= 0 ? fmt::format("{:#x}", *integer)
                                                        : fmt::format("{}", *integer);
  } else if (const auto text = node.value_exact<std::string>()) {
    const auto parsed = parse_quantity(key.unit, *text);
    if (const auto* message = std::get_if<std::string>(&parsed))
      return fmt::format("'{}': {}; it is {}", key.name, *message, range_text(key));
    value = std::get<double>(parsed);
    found = fmt::format("\"{}\"", *text);
  } else {
    return fmt::format("'{}' has the wrong type; it is {}", key.name, range_text(key));
  }
  const bool is_whole = value == std::floor(value);
  const bool is_in_range =
      value >= static_cast<double>(key.lowest) && value <= static_cast<double>(key.highest);
  if (is_in_range && is_whole && key.allows(static_cast<std::uint64_t>(value)))
    return static_cast<std::uint64_t>(value);
  const char* from = !key.only.empty()          ? ""
                     : key.unit == Unit::kCount ? "a whole number from "
                                                : "from ";
  return fmt::format("'{}' must be {}{}{}, found {}", key.name, from, range_text(key),
                     is_whole ? "" : ", without a fraction", found);
}

}  // namespace superstep
