#include "toolchain/assembler/output.h"

#include <algorithm>

namespace superstep::assembler {

void Output::enter(std::string_view name, std::string_view flags) {
  const auto [entry, is_new] =
      indices_.emplace(std::string(name), static_cast<std::uint32_t>(sections.size()));
  if (is_new) sections.push_back({std::string(name), std::string(flags), 4, {}});
  current_ = entry->second;
}

void Output::add_word(std::uint32_t word) { add_bytes(word, 4); }

void Output::add_bytes(std::uint64_t value, unsigned bytes) {
  std::vector<std::uint8_t>& out = sections[current_].bytes;
  for (unsigned i = 0; i < bytes; ++i) out.push_back(static_cast<std::uint8_t>(value >> 8 * i));
}

void Output::add_filled(std::size_t bytes, std::uint8_t value) {
  std::vector<std::uint8_t>& out = sections[current_].bytes;
  out.resize(out.size() + bytes, value);
}

void Output::align(std::uint32_t alignment, std::uint32_t nop) {
  Object::Section& section = sections[current_];
  section.alignment = std::max(section.alignment, alignment);
  const std::uint32_t padding = this->padding(alignment);
  const std::uint32_t zeros = is_code() ? padding % 4 : padding;
  add_filled(zeros, 0);
  for (std::uint32_t i = zeros; i < padding; i += 4) add_word(nop);
}

std::uint32_t Output::word(std::uint32_t section, std::uint32_t offset) const {
  const std::vector<std::uint8_t>& bytes = sections[section].bytes;
  return bytes[offset] | std::uint32_t{bytes[offset + 1]} << 8 |
         std::uint32_t{bytes[offset + 2]} << 16 | std::uint32_t{bytes[offset + 3]} << 24;
}

void Output::set(std::uint32_t section, std::uint32_t offset, std::uint64_t value, unsigned bytes) {
  for (unsigned i = 0; i < bytes; ++i) {
    sections[section].bytes[offset + i] = static_cast<std::uint8_t>(value >> 8 * i);
  }
}

}  // namespace superstep::assembler
