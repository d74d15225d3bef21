#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include "isa/machine_config.h"
#include "isa/values.h"

namespace superstep::isa {

/// A list of types: instruction records, or the operands of one.
template <class... Types>
struct List {
  static constexpr std::size_t kSize = sizeof...(Types);
};

/// How many types of a list stand before the first T; all of them when none is T. An array and not
/// a fold expression: Clang nests those at most 256 deep.
template <class T, class... Types>
constexpr std::size_t position_of(List<Types...>) {
  std::size_t position = 0;
  for (const bool is_it : {std::is_same_v<T, Types>...}) {
    if (is_it) break;
    ++position;
  }
  return position;
}

enum class Pipe : std::uint8_t { kMain, kAux };

/// Which contexts may execute an instruction.
enum class Where : std::uint8_t { kEverywhere, kWorker, kSupervisor };

/// What an instruction does to the flow of its context; anything but kPlain stays out of `rpt`
/// bodies.
enum class Control : std::uint8_t {
  kPlain,
  kBranch,  ///< conditional or not; `execute` says where through `env`
  kRepeat,
  kExit,
  kSystem,  ///< CSRs, launches, syncs, exchange
};

/// Where an encoding comes from.
enum class Source : std::uint8_t {
  kPublished,  ///< graphcore/llvm-project-fork, llvm/test (objdump and MC tests)
  kInferred,   ///< follows from the published forms of its family
  kMeasured,   ///< osmarks/ipu-stack docs/EXCHANGE_INSTRUCTION_REFERENCE.md
  kAssumed,    ///< our own
};

/// What is known of an instruction besides its operands and its `execute`.
struct Spec {
  std::string_view
      syntax;  ///< `f32v2add $d, $a, $b`: a letter for each operand, in the order of `Operands`
  std::string_view encoding;  ///< `58a0b0d3`: see `bits_of`
  Pipe pipe = Pipe::kMain;
  std::string_view summary;
  Control control = Control::kPlain;
  Where where = Where::kEverywhere;
  std::uint32_t MachineConfig::Costs::*slots = nullptr;  ///< worker slots; one when null
  /// Executed by the AMP units, with the common weights: takes `MachineConfig::amp_slots` instead.
  bool on_amp = false;
  Source encoding_source = Source::kPublished;
  std::uint32_t words =
      1;  ///< 2: an 8-byte aligned instruction whose second word is data, `env.inline_word()`
};

/// The spec of a plain instruction of the main pipe that every context has.
constexpr Spec main_spec(std::string_view syntax, std::string_view encoding,
                         std::string_view summary, Source source = Source::kPublished) {
  return {.syntax = syntax, .encoding = encoding, .summary = summary, .encoding_source = source};
}

/// The same of workers only.
constexpr Spec worker_spec(std::string_view syntax, std::string_view encoding,
                           std::string_view summary, Source source = Source::kPublished) {
  return {.syntax = syntax,
          .encoding = encoding,
          .summary = summary,
          .where = Where::kWorker,
          .encoding_source = source};
}

/// The spec of a plain instruction of the auxiliary pipe, which only workers have.
constexpr Spec aux_spec(std::string_view syntax, std::string_view encoding,
                        std::string_view summary, Source source = Source::kPublished) {
  return {.syntax = syntax,
          .encoding = encoding,
          .pipe = Pipe::kAux,
          .summary = summary,
          .where = Where::kWorker,
          .encoding_source = source};
}

enum class Role : std::uint8_t { kIn, kOut, kInOut };
enum class File : std::uint8_t { kMain, kAux };

/// A register operand: a value of 4, 8 or 16 bytes in one, two or four registers.
template <Role kTheRole, File kTheFile, class T, char kTheLetter>
struct Register {
  using Value = T;
  static constexpr Role kRole = kTheRole;
  static constexpr File kFile = kTheFile;
  static constexpr char kLetter = kTheLetter;
  static constexpr unsigned kCount = sizeof(T) / 4;
  static constexpr bool kIsRegister = true;
  static constexpr bool kIsBroadcast = false;
  static constexpr bool kIsSigned = false;
  static constexpr bool kIsAddress = false;
};

template <char kLetter, class T = U32>
using InM = Register<Role::kIn, File::kMain, T, kLetter>;
template <char kLetter, class T = U32>
using OutM = Register<Role::kOut, File::kMain, T, kLetter>;
template <char kLetter, class T = U32>
using InOutM = Register<Role::kInOut, File::kMain, T, kLetter>;
template <char kLetter, class T = U32>
using InA = Register<Role::kIn, File::kAux, T, kLetter>;
template <char kLetter, class T = U32>
using OutA = Register<Role::kOut, File::kAux, T, kLetter>;
template <char kLetter, class T = U32>
using InOutA = Register<Role::kInOut, File::kAux, T, kLetter>;

/// One register in the auxiliary file whose value stands for every lane; written `$a0:B`.
template <char kLetter, class T>
struct Broadcast : Register<Role::kIn, File::kAux, T, kLetter> {
  static constexpr bool kIsBroadcast = true;
};

/// An unsigned (zero-extended) or signed immediate; as wide as its letter occurs in the encoding.
template <char kTheLetter, bool kSigned = false>
struct Immediate {
  using Value = std::conditional_t<kSigned, std::int32_t, U32>;
  static constexpr char kLetter = kTheLetter;
  static constexpr bool kIsRegister = false;
  static constexpr bool kIsBroadcast = false;
  static constexpr bool kIsSigned = kSigned;
  static constexpr bool kIsAddress = false;
};
template <char kLetter>
using Imm = Immediate<kLetter>;
template <char kLetter>
using SignedImm = Immediate<kLetter, true>;

/// A code address: a word number in the encoding, a byte address in the text and in `execute`.
template <char kLetter>
struct Address : Immediate<kLetter> {
  static constexpr bool kIsAddress = true;
};

/// The 32 characters of an encoding: 0, 1, `?` (co-issue flag) or an operand letter. `size` is 32
/// when the text is well formed.
struct Bits {
  std::array<char, 40> at{};
  unsigned size = 0;

  constexpr void add(char c) {
    if (size < at.size()) at[size++] = c;
  }
};

/// A text gives eight nibbles, each a hexadecimal digit (A to F upper case), an operand letter or
/// four bits `[01ab]`. Bit 31 is the co-issue flag unless the first digit is 8 or more or the text
/// begins with `!`: such an instruction is never part of a bundle.
constexpr Bits bits_of(std::string_view encoding) {
  Bits bits;
  bool single = false;
  const bool never_bundled = encoding.starts_with('!');
  if (never_bundled) encoding.remove_prefix(1);
  for (const char c : encoding) {
    if (c == '[' || c == ']') {
      single = c == '[';
    } else if (single) {
      bits.add(c);
    } else if ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'F')) {
      const unsigned digit = static_cast<unsigned>(c <= '9' ? c - '0' : c - 'A' + 10);
      for (unsigned bit = 4; bit-- > 0;) bits.add((digit >> bit & 1U) != 0 ? '1' : '0');
    } else {
      for (unsigned bit = 0; bit < 4; ++bit) bits.add(c);
    }
  }
  if (bits.at[0] == '0' && !never_bundled) bits.at[0] = '?';
  return bits;
}

/// The bits of one letter of an encoding, most significant first.
struct Field {
  /// Neighbouring bits of the word.
  struct BitRange {
    unsigned shift = 0;  ///< of its lowest bit in the word
    unsigned width = 0;
  };
  std::array<BitRange, 6> ranges{};
  unsigned count = 0;
  unsigned width = 0;

  [[nodiscard]] constexpr U32 mask() const { return width >= 32 ? ~U32{0} : (U32{1} << width) - 1; }
  [[nodiscard]] constexpr U32 extract(U32 word) const {
    U32 value = 0;
    for (unsigned i = 0; i < count; ++i) {
      value =
          value << ranges[i].width | (word >> ranges[i].shift & ((U32{1} << ranges[i].width) - 1));
    }
    return value;
  }
  [[nodiscard]] constexpr U32 insert(U32 value) const {
    U32 word = 0;
    unsigned left = width;
    for (unsigned i = 0; i < count; ++i) {
      left -= ranges[i].width;
      word |= (value >> left & ((U32{1} << ranges[i].width) - 1)) << ranges[i].shift;
    }
    return word;
  }
};

constexpr Field field_of(std::string_view encoding, char letter) {
  const Bits bits = bits_of(encoding);
  Field field;
  for (unsigned i = 0; i < bits.size && i < 32; ++i) {
    if (bits.at[i] != letter) continue;
    if (i == 0 || bits.at[i - 1] != letter) ++field.count;
    Field::BitRange& range = field.ranges[field.count - 1];
    range.shift = 31 - i;
    ++range.width;
    ++field.width;
  }
  return field;
}

/// The bits that tell an instruction from others.
struct Pattern {
  U32 mask = 0;
  U32 value = 0;
};

constexpr Pattern pattern_of(std::string_view encoding) {
  const Bits bits = bits_of(encoding);
  Pattern pattern;
  for (unsigned i = 0; i < 32; ++i) {
    const char c = bits.at[i];
    pattern.mask = pattern.mask << 1 | (c == '0' || c == '1' ? 1U : 0U);
    pattern.value = pattern.value << 1 | (c == '1' ? 1U : 0U);
  }
  return pattern;
}

/// The bits of an operand of `Record` in an instruction word: `Field::extract` without its loop.
template <class Record, class Operand>
constexpr U32 raw_of(U32 word) {
  constexpr unsigned kRuns = field_of(Record::spec.encoding, Operand::kLetter).count;
  return [word]<std::size_t... I>(std::index_sequence<I...>) {
    constexpr Field kField = field_of(Record::spec.encoding, Operand::kLetter);
    U32 value = 0;
    ((value = value << kField.ranges[I].width |
              (word >> kField.ranges[I].shift & ((U32{1} << kField.ranges[I].width) - 1))),
     ...);
    return value;
  }
  (std::make_index_sequence<kRuns>{});
}

/// The value of an immediate operand of `Record` in an instruction word.
template <class Record, class Operand>
constexpr typename Operand::Value immediate_of(U32 word) {
  const U32 raw = raw_of<Record, Operand>(word);
  if constexpr (Operand::kIsAddress) {
    return raw << 2;
  } else if constexpr (Operand::kIsSigned) {
    constexpr unsigned kUnused = 32 - field_of(Record::spec.encoding, Operand::kLetter).width;
    return static_cast<std::int32_t>(raw << kUnused) >> kUnused;
  } else {
    return raw;
  }
}

template <class Record, class... Operands>
constexpr bool operands_match_encoding(List<Operands...>) {
  constexpr std::string_view kEncoding = Record::spec.encoding;
  const Bits bits = bits_of(kEncoding);
  unsigned letters = 0, expected = 0;
  for (unsigned i = 0; i < bits.size; ++i) {
    letters += bits.at[i] != '0' && bits.at[i] != '1' && bits.at[i] != '?';
  }
  ((expected += field_of(kEncoding, Operands::kLetter).width), ...);
  return bits.size == 32 && letters == expected &&
         ((field_of(kEncoding, Operands::kLetter).width > 0) && ...);
}

/// An instruction record: `spec`, `Operands` and a template `execute([env,] inputs in order)` that
/// returns the outputs in order (nothing, a value or a tuple; an in-out operand is an input and an
/// output). Only a record that takes `env` can trap.
template <class T>
concept Record = requires {
  { T::spec.syntax } -> std::convertible_to<std::string_view>;
  typename T::Operands;
}
&&operands_match_encoding<T>(typename T::Operands{});

template <class... A, class... B>
List<A..., B...> join(List<A...>, List<B...>);

/// The records of several lists, in order.
template <class First, class... Rest>
struct Joined {
  using Type = decltype(join(First{}, typename Joined<Rest...>::Type{}));
};
template <class Only>
struct Joined<Only> {
  using Type = Only;
};

/// Whether no word is an instruction of two records.
template <class... Records>
constexpr bool all_distinct(List<Records...>) {
  constexpr Pattern kPatterns[] = {pattern_of(Records::spec.encoding)...};
  for (std::size_t i = 0; i < sizeof...(Records); ++i) {
    for (std::size_t j = i + 1; j < sizeof...(Records); ++j) {
      const U32 common = kPatterns[i].mask & kPatterns[j].mask;
      if (((kPatterns[i].value ^ kPatterns[j].value) & common) == 0) return false;
    }
  }
  return true;
}

}  // namespace superstep::isa
