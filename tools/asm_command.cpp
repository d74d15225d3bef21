#include <fmt/format.h>

#include <cstring>

#include "isa/assembler.h"
#include "tools/command.h"
#include "tools/files.h"

namespace superstep {

Options asm_options() {
  Options options("asm FILE.S [options]", "Assembles one source file and lists its words.",
                  {"superstep asm fill.S",
                   "superstep asm fill.S --output fill.bin && superstep disasm fill.bin"});
  options.value("machine,m", "NAME|FILE", "machine that gives the constants (gc200)")
      .values("set", "KEY=VALUE", "override one key of the machine")
      .value("output", "FILE", "write the words there, little endian")
      .positionals(1, 1);
  return options;
}

ExitCode asm_command(const Options& options) {
  const MachineConfig machine =
      load_machine(options.get("machine").value_or("gc200"), options.list("set"));
  const std::string& path = options.words()[0];
  const Assembly assembly = assemble(read_text_file(path), path, machine);
  if (const auto output = options.get("output")) {
    std::string bytes(assembly.words.size() * 4, '\0');
    std::memcpy(bytes.data(), assembly.words.data(), bytes.size());
    write_text_file(*output, bytes);
    return ExitCode::kOk;
  }
  for (std::size_t i = 0; i < assembly.words.size(); ++i) {
    const auto address = static_cast<std::uint32_t>(4 * i);
    for (const auto& [symbol, offset] : assembly.symbols)
      if (offset == address) fmt::print("{}:\n", symbol);
    fmt::print("{:6x}  {:08x}  {}\n", address, assembly.words[i],
               disassemble(assembly.words[i], address));
  }
  return ExitCode::kOk;
}

}  // namespace superstep
