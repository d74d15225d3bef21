#include "tools/own_binary.h"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>
#include <string_view>

#include "base/files.h"
#include "base/sha256.h"

namespace superstep {
namespace {

/// That among the notes of a segment, if any. Notes are a header, a name and content, each from a
/// multiple of four bytes on (ELF, Note Section).
std::string build_id(std::string_view notes) {
  const auto padded = [](std::size_t bytes) { return (bytes + 3) / 4 * 4; };
  ElfW(Nhdr) note{};
  while (notes.size() >= sizeof(note)) {
    std::memcpy(&note, notes.data(), sizeof(note));
    notes.remove_prefix(sizeof(note));
    const std::size_t name_end = padded(note.n_namesz);
    if (name_end + note.n_descsz > notes.size()) break;
    if (note.n_type == NT_GNU_BUILD_ID && notes.starts_with(std::string_view("GNU\0", 4)))
      return std::string(notes.substr(name_end, note.n_descsz));
    notes.remove_prefix(std::min(notes.size(), name_end + padded(note.n_descsz)));
  }
  return {};
}

/// For `dl_iterate_phdr`, which visits the program first.
int find_build_id(dl_phdr_info* program, std::size_t, void* found) {
  for (const auto& segment : std::span(program->dlpi_phdr, program->dlpi_phnum)) {
    // The properties of notes padded to eight bytes hold no build id.
    if (segment.p_type != PT_NOTE || segment.p_align > 4) continue;
    const auto* const begin = std::bit_cast<const char*>(program->dlpi_addr + segment.p_vaddr);
    std::string& id = *static_cast<std::string*>(found);
    id = build_id({begin, segment.p_memsz});
    if (!id.empty()) break;
  }
  return 1;
}

}  // namespace

std::string hash_of_own_binary() {
  std::string id;
  dl_iterate_phdr(find_build_id, &id);
  return id.empty() ? sha256(read_text_file("/proc/self/exe")) : id;
}

}  // namespace superstep
