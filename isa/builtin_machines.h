#pragma once

#include <span>
#include <string_view>

namespace superstep {

/// A machine file that is compiled in (configs/<name>.toml).
struct BuiltinMachine {
  std::string_view name;
  std::string_view text;
};

[[nodiscard]] std::span<const BuiltinMachine> builtin_machine_files();

}  // namespace superstep
