#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace superstep::testing {

/// A word of the toolchain's tests and the text its disassembler gives.
struct PublishedWord {
  std::uint32_t word;
  std::string text;
};

const std::vector<PublishedWord>& published_words();

}  // namespace superstep::testing
