#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"

namespace superstep {

/// What one assembly source becomes: sections, symbols, and the places that wait for an address.
/// `link` places it in tile memory; `read_elf` and `write_elf` keep it in a file.
struct Object {
  struct Section {
    std::string name;             ///< `.text.__runCodelet_popops__Fill___float`
    std::string flags;            ///< `ax`
    std::uint32_t alignment = 4;  ///< bytes, a power of two
    std::vector<std::uint8_t> bytes;
  };

  /// Which contexts the code behind a symbol is written for: `.worker` or `.supervisor`.
  enum class Mode : std::uint8_t { kWorker, kSupervisor };

  struct Symbol {
    std::string name;
    std::optional<std::uint32_t> section;  ///< index; none for an absolute or undefined symbol
    std::uint32_t offset = 0;              ///< bytes into the section, or the value when absolute
    std::uint32_t size = 0;                ///< bytes, by `.size`
    bool is_global = false;
    bool is_defined = true;
    Mode mode = Mode::kWorker;
    SourceLocation used_at = {};  ///< of an undefined one: its first use, where a text has it
  };

  /// Field and scale of a value that a link fills in; the numbers are those of ELF files
  /// (graphcore/llvm-project-fork llvm/include/llvm/BinaryFormat/ELFRelocs/Colossus.def).
  enum class RelocationKind : std::uint8_t {
    k8 = 1,
    k16 = 2,
    k20 = 3,
    k32 = 4,
    k64 = 5,
    kRelative16S2 = 6,  ///< words from the begin of region 0
    k18S2 = 7,
    k19S2 = 8,  ///< a branch target
    kRun = 9,   ///< words from the begin of region 0, in the two fields of `run`
    k16S3 = 14,
    k16S4 = 15,
    k16S5 = 16,
    k21 = 17,
  };

  struct Relocation {
    std::uint32_t section = 0;
    std::uint32_t offset = 0;  ///< bytes into the section
    RelocationKind kind = RelocationKind::k32;
    std::uint32_t symbol = 0;  ///< index
    std::int32_t addend = 0;
  };

  /// Where an instruction comes from.
  struct Line {
    std::uint32_t section = 0;
    std::uint32_t offset = 0;  ///< bytes into the section
    SourceLocation where;      ///< in a macro's body for what that makes
  };

  std::vector<Section> sections;
  std::vector<Symbol> symbols;
  std::vector<Relocation> relocations;
  std::vector<Line> lines;  ///< of an assembled text; an ELF file has none
};

}  // namespace superstep
