#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "toolchain/object.h"

namespace superstep {

/// Whether a file begins as ELF files do.
[[nodiscard]] bool is_elf(std::span<const std::uint8_t> bytes);

/// Reads a relocatable ELF32 file of the IPU (little endian, machine 0xf8, RELA). Sections with
/// contents are kept, notes and tables are not. Throws MalformedInput that names the file and what
/// is wrong where in it; Unsupported for what other ELF files have.
[[nodiscard]] Object read_elf(std::span<const std::uint8_t> bytes, const std::string& file);

/// The object as such a file, marked as one for the Mk2 (IPU2); `read_elf` gives the object back.
[[nodiscard]] std::vector<std::uint8_t> write_elf(const Object& object);

/// `R_COLOSSUS_19_S2`, …
[[nodiscard]] std::string name_of(Object::RelocationKind kind);

/// Bytes of a section that a relocation changes.
[[nodiscard]] std::uint32_t bytes_of(Object::RelocationKind kind);

}  // namespace superstep
