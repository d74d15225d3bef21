#include "sim/chip/tile_pages.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <stdexcept>

#include "sim/chip/tile_states.h"

namespace superstep {
namespace {

constexpr std::size_t kNumbersOfPage = 2, kNumbersOfCode = 3, kNumbersOfWord = 2;

[[noreturn]] void refuse_lists() { throw std::runtime_error("its lists do not go together"); }

}  // namespace

void write_pages(TileArray& tiles, Checkpoint& checkpoint) {
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    const TileMemory& memory = tiles.tile(i).memory();
    if (memory.is_as_at_boot()) continue;
    TileMemory at_boot(tiles.machine());
    at_boot.boot(tiles.segments(i));
    for (std::size_t page = 0; page < pages_of(memory); ++page) {
      const std::span<const std::byte> now = page_of(memory, page), then = page_of(at_boot, page);
      if (std::ranges::equal(now, then)) continue;
      checkpoint.pages.push_back(static_cast<std::uint32_t>(i));
      checkpoint.pages.push_back(static_cast<std::uint32_t>(page));
      for (const std::byte byte : now)
        checkpoint.page_bytes.push_back(std::to_integer<std::uint8_t>(byte));
    }
  }
}

void read_pages(const Checkpoint& checkpoint, TileArray& tiles) {
  if (checkpoint.pages.size() % kNumbersOfPage != 0) refuse_lists();
  std::span<const std::byte> left = std::as_bytes(std::span(checkpoint.page_bytes));
  for (std::size_t p = 0; p < checkpoint.pages.size(); p += kNumbersOfPage) {
    const std::size_t entry = checkpoint.pages[p], page = checkpoint.pages[p + 1];
    if (entry >= tiles.size()) refuse_lists();
    const TileMemory& memory = tiles.tile(entry).memory();
    if (page >= pages_of(memory)) refuse_lists();
    const std::span<std::byte> bytes = page_of(memory, page);
    if (bytes.size() > left.size()) refuse_lists();
    std::memcpy(bytes.data(), left.data(), bytes.size());
    left = left.subspan(bytes.size());
  }
  if (!left.empty()) refuse_lists();
}

void write_codes(const std::vector<const WorkerCode*>& codes, Checkpoint& checkpoint) {
  for (const WorkerCode* code : codes) {
    checkpoint.codes.push_back(code->entry_pc());
    checkpoint.codes.push_back(static_cast<std::uint32_t>(code->kind()));
    checkpoint.codes.push_back(static_cast<std::uint32_t>(code->words().size()));
    for (const WorkerCode::Word& word : code->words()) {
      checkpoint.code_words.push_back(word.address);
      checkpoint.code_words.push_back(word.value);
    }
  }
}

std::vector<const WorkerCode*> read_codes(const Checkpoint& checkpoint, TileArray& tiles) {
  std::vector<const WorkerCode*> codes;
  if (checkpoint.codes.size() % kNumbersOfCode != 0) refuse_lists();
  std::span<const std::uint32_t> left = checkpoint.code_words;
  for (std::size_t c = 0; c < checkpoint.codes.size(); c += kNumbersOfCode) {
    const std::uint32_t kind = checkpoint.codes[c + 1];
    const std::size_t numbers = kNumbersOfWord * std::size_t{checkpoint.codes[c + 2]};
    if (numbers > left.size() || kind > static_cast<std::uint32_t>(CodeKind::kCareful)) {
      refuse_lists();
    }
    TileMemory memory(tiles.machine());
    for (std::size_t w = 0; w < numbers; w += kNumbersOfWord) {
      const bool inside = memory.write(left[w], std::as_bytes(left.subspan(w + 1, 1)));
      if (!inside) refuse_lists();
    }
    bool has_entry = false;
    for (std::size_t w = 0; w < numbers; w += kNumbersOfWord) {
      has_entry |= left[w] == checkpoint.codes[c];
    }
    if (!has_entry) refuse_lists();
    left = left.subspan(numbers);
    codes.push_back(tiles.code().find(checkpoint.codes[c], memory, static_cast<CodeKind>(kind)));
  }
  if (!left.empty()) refuse_lists();
  return codes;
}

}  // namespace superstep
