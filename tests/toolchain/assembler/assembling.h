#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "toolchain/assembler/object_assembler.h"

namespace superstep {

/// The object of a text.
inline Object object_of(const std::string& text) { return assemble_object(text, "test.S").object; }

/// The words of the first section that has any.
inline std::vector<std::uint32_t> words_of(const std::string& text) {
  std::vector<std::uint32_t> words;
  for (const Object::Section& section : object_of(text).sections) {
    for (std::size_t at = 0; at + 3 < section.bytes.size(); at += 4) {
      words.push_back(section.bytes[at] | std::uint32_t{section.bytes[at + 1]} << 8 |
                      std::uint32_t{section.bytes[at + 2]} << 16 |
                      std::uint32_t{section.bytes[at + 3]} << 24);
    }
    if (!words.empty()) break;
  }
  return words;
}

/// `file:line:column message` of every problem of a text.
inline std::vector<std::string> problems_of(const std::string& text) {
  std::vector<std::string> found;
  try {
    (void)object_of(text);
  } catch (const MalformedInput& input) {
    for (const Problem& problem : input.problems()) {
      found.push_back(problem.where.text() + " " + problem.message);
    }
  }
  return found;
}

inline const Object::Symbol* symbol_of(const Object& object, const std::string& name) {
  for (const Object::Symbol& symbol : object.symbols) {
    if (symbol.name == name) return &symbol;
  }
  return nullptr;
}

}  // namespace superstep
