#pragma once

#include <string>
#include <vector>

#include "isa/machine_config.h"

namespace superstep {

/// The names of the keys of a machine, in the order of their table.
[[nodiscard]] std::vector<std::string> key_names();
/// The scope of the key with a name.
[[nodiscard]] Scope scope_of(const std::string& name);
/// The one of `keys` that a name may have been meant as; empty when none is like it.
[[nodiscard]] std::string key_like(const std::string& key, const std::vector<std::string>& keys);
/// `a, b, c, d and 3 more`.
[[nodiscard]] std::string first_few(const std::vector<std::string>& names);

}  // namespace superstep
