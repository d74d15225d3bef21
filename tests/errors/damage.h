#pragma once

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <random>
#include <string>
#include <string_view>
#include <utility>

namespace superstep {

/// How many inputs of a kind: SUPERSTEP_FUZZ, or those of a short run.
inline int fuzz_inputs(int short_run = 2000) {
  const char* text = std::getenv("SUPERSTEP_FUZZ");
  return text == nullptr ? short_run : std::atoi(text);
}

/// SUPERSTEP_FUZZ_SEED, or 0: each seed makes other inputs.
inline unsigned fuzz_seed() {
  const char* text = std::getenv("SUPERSTEP_FUZZ_SEED");
  return text == nullptr ? 0 : static_cast<unsigned>(std::strtoul(text, nullptr, 10));
}

/// Writes an input where SUPERSTEP_FUZZ_INPUT says: it is there when it has ended the process.
inline void note_input(const std::string& input) {
  const char* path = std::getenv("SUPERSTEP_FUZZ_INPUT");
  if (path != nullptr) std::ofstream(path, std::ios::binary) << input;
}

/// Damages texts and binary files, the same way for the same kind and `fuzz_seed`.
class Damage {
 public:
  explicit Damage(unsigned kind) : random_(kind + 16 * fuzz_seed()) {}

  /// One to three edits: numbers become others, words move, characters change, the end is lost.
  std::string apply(std::string text) {
    for (std::size_t edits = 1 + below(3); edits > 0 && !text.empty(); --edits) edit(text);
    return text;
  }

  /// One to three edits that a module may survive: a number of an attribute or a type becomes
  /// another one wherever it is, or a type of elements does; seldom any other edit.
  std::string vary(std::string text) {
    for (std::size_t edits = 1 + below(3); edits > 0 && !text.empty(); --edits) {
      switch (below(8)) {
        case 0:
          edit(text);
          break;
        case 1:
        case 2:
          change_element_types(text);
          break;
        default:
          change_numbers(text);
      }
    }
    return text;
  }

  /// One to three edits of a binary file: bits flip, bytes move or become 0 or 255, the end is
  /// lost.
  std::string apply_to_bytes(std::string bytes) {
    for (std::size_t edits = 1 + below(3); edits > 0 && !bytes.empty(); --edits) edit_bytes(bytes);
    return bytes;
  }

 private:
  static bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

  /// Whether digits at `at` begin a number, and not the end of a name or of a type.
  static bool begins_number(const std::string& text, std::size_t at) {
    if (!is_digit(text[at])) return false;
    if (at == 0) return true;
    const char before = text[at - 1];
    if (before == 'x') return at > 1 && is_digit(text[at - 2]);
    return std::isalnum(static_cast<unsigned char>(before)) == 0 &&
           std::string_view("_%#.^").find(before) == std::string_view::npos;
  }
  static std::size_t end_of_number(const std::string& text, std::size_t at) {
    while (at < text.size() && is_digit(text[at])) ++at;
    return at;
  }

  /// One number becomes another one: there, or, mostly, wherever it is.
  void change_numbers(std::string& text) {
    static constexpr std::array kNumbers = {
        "0",  "1",  "1",    "2",          "2",
        "3",  "4",  "5",    "7",          "8",
        "16", "64", "1000", "4294967296", "9223372036854775807"};
    std::size_t at = below(text.size());
    while (at < text.size() && !begins_number(text, at)) ++at;
    if (at == text.size()) return;
    const std::string number = text.substr(at, end_of_number(text, at) - at);
    std::string other = kNumbers[below(kNumbers.size())];
    if (below(8) == 0) other.insert(0, "-");
    if (below(3) == 0) {
      text.replace(at, number.size(), other);
      return;
    }
    std::string changed;
    for (at = 0; at < text.size();) {
      const std::size_t end = begins_number(text, at) ? end_of_number(text, at) : at + 1;
      const bool is_same = begins_number(text, at) && text.compare(at, end - at, number) == 0;
      changed += is_same ? other : text.substr(at, end - at);
      at = end;
    }
    text = std::move(changed);
  }

  /// A type of elements becomes another one wherever it is, or once.
  void change_element_types(std::string& text) {
    static constexpr std::array kTypes = {
        "i1>",  "i4>",  "i8>",   "i16>",          "i32>",      "i64>",
        "ui2>", "ui8>", "ui16>", "ui32>",         "ui64>",     "bf16>",
        "f16>", "f32>", "f64>",  "complex<f32>>", "f8E4M3FN>", "f8E8M0FNU>"};
    const std::size_t from = text.find('>', below(text.size()));
    if (from == std::string::npos) return;
    std::size_t begin = from;
    while (begin > 0 && std::isalnum(static_cast<unsigned char>(text[begin - 1])) != 0 &&
           text[begin - 1] != 'x') {
      --begin;
    }
    const std::string type = text.substr(begin, from + 1 - begin);
    if (type.size() < 3) return;
    const std::string other = kTypes[below(kTypes.size())];
    const bool is_once = below(6) == 0;
    for (std::size_t at = is_once ? begin : text.find(type); at != std::string::npos;
         at = text.find(type, at + other.size())) {
      const char before = at == 0 ? ' ' : text[at - 1];
      if (before == 'x' || before == '<') text.replace(at, type.size(), other);
      if (is_once) return;
    }
  }

  std::size_t below(std::size_t n) { return random_() % n; }

  void edit(std::string& text) {
    static constexpr std::array kNumbers = {
        "0",   "1",  "2", "3", "7", "-1", "64", "1000", "4294967296", "9223372036854775807",
        "1e9", "0.5"};
    const std::size_t at = below(text.size());
    switch (below(8)) {
      case 0:
        text[at] = static_cast<char>(below(256));
        return;
      case 1:
        text.resize(at);
        return;
      case 2:
        text.erase(at, 1 + below(30));
        return;
      case 3:
        text.insert(below(text.size()), text.substr(at, 1 + below(60)));
        return;
      default: {
        std::size_t begin = at;
        while (begin < text.size() && std::isdigit(static_cast<unsigned char>(text[begin])) == 0) {
          ++begin;
        }
        std::size_t end = begin;
        while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])) != 0) ++end;
        text.replace(begin, end - begin, kNumbers[below(kNumbers.size())]);
        return;
      }
    }
  }

  void edit_bytes(std::string& bytes) {
    const std::size_t at = below(bytes.size());
    const std::size_t room = bytes.size() - at;
    switch (below(6)) {
      case 0:
        bytes.resize(at);
        return;
      case 1:
        bytes.replace(at, 1 + below(4096), bytes.substr(below(bytes.size()), 1 + below(4096)));
        return;
      case 2:
        std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                    std::min(room, 1 + below(4096)), '\0');
        return;
      case 3:
        std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), std::min(room, 1 + below(8)),
                    '\xff');
        return;
      case 4:  // headers are where they do most
        bytes[below(std::min<std::size_t>(bytes.size(), 1024))] = static_cast<char>(below(256));
        return;
      default:
        bytes[at] = static_cast<char>(bytes[at] ^ 1 << below(8));
        return;
    }
  }

  std::mt19937 random_;
};

}  // namespace superstep
