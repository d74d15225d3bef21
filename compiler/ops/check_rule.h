#pragma once

#include <optional>
#include <string>

#include "base/dtype.h"
#include "compiler/import/checked_module.h"

namespace superstep {

/// How far apart two floats of a dtype are, in steps from one to the next; two NaNs are not apart,
/// and what is not finite is UINT64_MAX from all else. `bits` are those of the elements.
[[nodiscard]] std::uint64_t ulp_difference(DType dtype, std::uint64_t a, std::uint64_t b);

/// What `check` has against `found`: the first element that is not as expected, and how many there
/// are; nothing where it holds.
[[nodiscard]] std::optional<std::string> violation(const Check& check, const HostTensor& found,
                                                   const HostTensor& expected);

}  // namespace superstep
