#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "isa/table.h"
#include "toolchain/assembler/lexer.h"
#include "toolchain/object.h"

namespace superstep::assembler {

/// A field that waits for the address of a section or a symbol.
struct WaitingField {
  std::uint32_t section = 0;
  std::uint32_t offset = 0;
  Object::RelocationKind kind = Object::RelocationKind::k32;
  Value value;
  const isa::OperandInfo* operand = nullptr;  ///< null for data
  Place place;
};

/// A word of code and the instruction that it is of.
struct WordPlace {
  std::uint32_t section = 0;
  std::uint32_t offset = 0;
  Place place;
};

/// Two instructions that issue together, or an `rpt`, which are checked when all words are known.
struct BundleRecord {
  std::uint32_t section = 0;
  std::uint32_t offset = 0;  ///< of the first word
  Place main;
  Place aux;
};
struct RepeatRecord {
  std::uint32_t section = 0;
  std::uint32_t offset = 0;
  bool is_bundled = false;
  Place place;
};

/// The sections of an assembly while they fill up.
class Output {
 public:
  Output() { enter(".text", "ax"); }

  /// Continues a section or begins it; flags count when it is new.
  void enter(std::string_view name, std::string_view flags);
  void enter(std::uint32_t section) { current_ = section; }
  [[nodiscard]] std::uint32_t current() const { return current_; }
  [[nodiscard]] std::uint32_t offset() const {
    return static_cast<std::uint32_t>(sections[current_].bytes.size());
  }
  [[nodiscard]] bool is_code() const {
    return sections[current_].flags.find('x') != std::string::npos;
  }

  void add_word(std::uint32_t word);
  void add_bytes(std::uint64_t value, unsigned bytes);
  void add_filled(std::size_t bytes, std::uint8_t value);
  /// How many bytes a multiple of `alignment` is away.
  [[nodiscard]] std::uint32_t padding(std::uint32_t alignment) const {
    return (alignment - offset() % alignment) % alignment;
  }
  /// Fills up to a multiple of `alignment`, code with `nop`.
  void align(std::uint32_t alignment, std::uint32_t nop);
  [[nodiscard]] std::uint32_t word(std::uint32_t section, std::uint32_t offset) const;
  /// Writes `bytes` bytes of `value` over those at an offset.
  void set(std::uint32_t section, std::uint32_t offset, std::uint64_t value, unsigned bytes);

  std::vector<Object::Section> sections;
  std::vector<WaitingField> waiting;
  std::vector<WordPlace> words;
  std::vector<BundleRecord> bundles;
  std::vector<RepeatRecord> repeats;
  std::uint64_t instructions = 0;

 private:
  std::unordered_map<std::string, std::uint32_t> indices_;
  std::uint32_t current_ = 0;
};

}  // namespace superstep::assembler
