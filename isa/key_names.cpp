#include "isa/key_names.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "isa/machine_keys.h"

namespace superstep {

std::vector<std::string> key_names() {
  std::vector<std::string> names;
  const MachineConfig any;
  for_each_key(any, [&](const Key& key, const auto&) { names.emplace_back(key.name); });
  return names;
}

Scope scope_of(const std::string& name) {
  Scope scope = Scope::kCompile;
  const MachineConfig any;
  for_each_key(any, [&](const Key& key, const auto&) {
    if (name == key.name) scope = key.scope;
  });
  return scope;
}

std::string key_like(const std::string& key, const std::vector<std::string>& keys) {
  const std::string guess = nearest(key, keys);
  if (!guess.empty()) return guess;
  const auto leaf = [](const std::string& full) { return full.substr(full.find('.') + 1); };
  const auto same =
      std::ranges::find_if(keys, [&](const std::string& k) { return leaf(k) == leaf(key); });
  return same == keys.end() ? std::string() : *same;
}

std::string first_few(const std::vector<std::string>& names) {
  constexpr std::size_t kFew = 4;
  const std::size_t shown = std::min(kFew, names.size());
  std::string text = fmt::format(
      "{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  if (shown < names.size()) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

}  // namespace superstep
