#pragma once

#include <string>
#include <string_view>

namespace superstep::poplibs {

/// The symbol that an entry point would have after its vertex class; its own but for two that
/// PopLibs spells differently.
std::string class_symbol(const std::string& symbol);

/// What an exported label is that no vertex class has the name of.
std::string_view why_no_class(std::string_view symbol);

}  // namespace superstep::poplibs
