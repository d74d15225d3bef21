#include "compiler/image/codelets.h"

#include <algorithm>
#include <map>
#include <utility>

namespace superstep {

CodeletLibrary::CodeletLibrary(const MachineConfig& machine,
                               const std::vector<vertex::Vertex>& vertices) {
  std::map<std::vector<std::uint32_t>, std::uint32_t> by_words;
  for (const vertex::Vertex& vertex : vertices) {
    vertex::Codelet codelet = vertex::code_of(vertex, machine);
    const auto [at, is_new] =
        by_words.try_emplace(codelet.words, static_cast<std::uint32_t>(codelets_.size()));
    numbers_.push_back(at->second);
    if (is_new) codelets_.push_back(codelet);
    by_vertex_.push_back(std::move(codelet));
  }
}

std::uint32_t CodeletLibrary::stack_bytes() const {
  std::uint32_t bytes = 0;
  for (const vertex::Codelet& codelet : codelets_) bytes = std::max(bytes, codelet.stack_bytes);
  return bytes;
}

}  // namespace superstep
