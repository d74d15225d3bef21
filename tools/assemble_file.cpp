#include "tools/assemble_file.h"

#include "base/files.h"
#include "toolchain/assembler/object_assembler.h"
#include "toolchain/assembler/preprocess.h"
#include "toolchain/elf.h"

namespace superstep {

Object load_object(const std::filesystem::path& path, const std::vector<std::string>& includes,
                   const std::vector<std::string>& defines, const MachineConfig& machine,
                   std::vector<std::string>* headers) {
  const std::string text = read_text_file(path);
  const std::vector<std::uint8_t> bytes(text.begin(), text.end());
  if (is_elf(bytes)) return read_elf(bytes, path.string());
  std::vector<std::string> all = machine_defines(machine);
  all.insert(all.end(), defines.begin(), defines.end());
  if (path.extension() != ".S") return assemble_object(text, path.string()).object;
  const std::string preprocessed = preprocess(path.string(), {includes, all});
  if (headers != nullptr) {
    for (const std::string& file : preprocessed_files(preprocessed)) headers->push_back(file);
  }
  return assemble_object(preprocessed, path.string()).object;
}

}  // namespace superstep
