#pragma once

#include <array>
#include <cctype>
#include <cstdlib>
#include <random>
#include <string>

namespace superstep {

/// How many inputs of a kind: SUPERSTEP_FUZZ, or 2,000.
inline int fuzz_inputs() {
  const char* text = std::getenv("SUPERSTEP_FUZZ");
  return text == nullptr ? 2000 : std::atoi(text);
}

/// Damages texts, the same way for the same seed.
class Damage {
 public:
  explicit Damage(unsigned seed) : random_(seed) {}

  /// One to three edits: numbers become others, words move, characters change, the end is lost.
  std::string apply(std::string text) {
    for (std::size_t edits = 1 + below(3); edits > 0 && !text.empty(); --edits) edit(text);
    return text;
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

  std::mt19937 random_;
};

}  // namespace superstep
