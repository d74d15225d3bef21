#pragma once

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <random>
#include <string>

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

/// Damages texts and binary files, the same way for the same kind and `fuzz_seed`.
class Damage {
 public:
  explicit Damage(unsigned kind) : random_(kind + 16 * fuzz_seed()) {}

  /// One to three edits: numbers become others, words move, characters change, the end is lost.
  std::string apply(std::string text) {
    for (std::size_t edits = 1 + below(3); edits > 0 && !text.empty(); --edits) edit(text);
    return text;
  }

  /// One to three edits of a binary file: bits flip, bytes move or become 0 or 255, the end is
  /// lost.
  std::string apply_to_bytes(std::string bytes) {
    for (std::size_t edits = 1 + below(3); edits > 0 && !bytes.empty(); --edits) edit_bytes(bytes);
    return bytes;
  }

 private:
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
