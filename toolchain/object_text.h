#pragma once

#include <string>

#include "toolchain/object.h"

namespace superstep {

/// An object as assembly text: sections, symbols as labels, bundles as `{ main ; aux }`, the
/// targets of relocations by name. The assembler makes the same bytes, symbols and relocations of
/// it.
[[nodiscard]] std::string text_of(const Object& object);

}  // namespace superstep
