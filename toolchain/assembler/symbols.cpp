#include "toolchain/assembler/symbols.h"

namespace superstep::assembler {

NamedSymbol& Symbols::named(std::string_view name) {
  const auto [entry, is_new] = indices_.emplace(name, static_cast<std::uint32_t>(all_.size()));
  if (is_new) all_.emplace_back().name = name;
  return all_[entry->second];
}

NamedSymbol* Symbols::find(std::string_view name) {
  const auto found = indices_.find(name);
  return found == indices_.end() ? nullptr : &all_[found->second];
}

}  // namespace superstep::assembler
