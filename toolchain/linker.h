#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "isa/machine_config.h"
#include "toolchain/object.h"

namespace superstep {

/// An object and the file it comes from, for messages.
struct LinkInput {
  std::string file;
  Object object;
};

/// Where a symbol is in tile memory.
struct PlacedSymbol {
  std::string name;
  std::uint32_t address = 0;
  std::uint32_t size = 0;  ///< bytes, 0 when it is not known
  Object::Mode mode = Object::Mode::kWorker;
  bool is_global = false;
};

/// An instruction that is placed, and where it comes from.
struct PlacedLine {
  std::uint32_t address = 0;
  SourceLocation where;
};

/// Code and constants as they lie in tile memory.
struct LinkedCode {
  std::uint32_t address = 0;  ///< of the first byte
  std::vector<std::uint8_t> bytes;
  std::vector<PlacedSymbol> symbols;  ///< of what is placed, by address
  std::vector<PlacedLine> lines;      ///< of instructions whose source is known, by address

  [[nodiscard]] std::uint32_t end() const {
    return address + static_cast<std::uint32_t>(bytes.size());
  }
  /// The symbol of that name, a global one before local ones; null when it is not placed.
  [[nodiscard]] const PlacedSymbol* find(const std::string& name) const;
  /// `symbol+0x14` of an address inside the code, hexadecimal of any other.
  [[nodiscard]] std::string place_of(std::uint32_t pc) const;
  /// Where the instruction at an address comes from; empty where nobody knows.
  [[nodiscard]] SourceLocation source_of(std::uint32_t pc) const;
};

/// Places the sections that `entries` reach, all that are loaded when there are none, from
/// `address` on and fills in the addresses they wait for. Sections keep the order of objects and of
/// their files. Throws MalformedInput with every undefined symbol, duplicate and relocation out of
/// range at once, DoesNotFit when the end lies beyond `limit`.
[[nodiscard]] LinkedCode link(std::span<const LinkInput> inputs,
                              std::span<const std::string> entries, const MachineConfig& machine,
                              std::uint32_t address, std::uint32_t limit);

}  // namespace superstep
