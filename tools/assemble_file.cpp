#include "tools/assemble_file.h"

#include "base/error.h"
#include "isa/assembler.h"
#include "isa/elf.h"
#include "isa/table.h"
#include "tools/files.h"

namespace superstep {
namespace {

Object object_of(const Assembly& assembly) {
  Object object;
  Object::Section& section = object.sections.emplace_back();
  section.name = ".text";
  section.flags = "ax";
  section.alignment = 8;
  for (const std::uint32_t word : assembly.words) {
    for (unsigned byte = 0; byte < 4; ++byte) {
      section.bytes.push_back(static_cast<std::uint8_t>(word >> (8 * byte)));
    }
  }
  object.symbols.push_back({".text", 0, 0, 0, false, true, Object::Mode::kWorker});
  for (const auto& [name, offset] : assembly.symbols) {
    object.symbols.push_back({name, 0, offset, 0, true, true, Object::Mode::kWorker});
  }
  for (const std::uint32_t index : assembly.relocations) {
    const std::uint32_t word = assembly.words[index];
    const isa::InstructionInfo* info = isa::find_instruction(word);
    const bool is_branch =
        info != nullptr && !info->operands.empty() && info->operands.back().is_address;
    const std::uint32_t offset = is_branch ? (word & 0x7ffffU) * 4 : word & 0xfffffU;
    object.relocations.push_back(
        {0, 4 * index, is_branch ? Object::RelocationKind::k19S2 : Object::RelocationKind::k20, 0,
         static_cast<std::int32_t>(offset)});
  }
  return object;
}

}  // namespace

Object load_object(const std::filesystem::path& path, const std::vector<std::string>& includes,
                   const std::vector<std::string>& defines, const MachineConfig& machine) {
  const std::string text = read_text_file(path);
  const std::vector<std::uint8_t> bytes(text.begin(), text.end());
  if (is_elf(bytes)) return read_elf(bytes, path.string());
  if (!includes.empty() || !defines.empty()) {
    throw Unsupported("include folders and definitions are not taken yet");
  }
  return object_of(assemble(text, path.string(), machine));
}

}  // namespace superstep
