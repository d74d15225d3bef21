#include <fmt/format.h>

#include <charconv>
#include <cstring>

#include "base/files.h"
#include "isa/instruction_word.h"
#include "toolchain/elf.h"
#include "toolchain/object_text.h"
#include "tools/command.h"

namespace superstep {

std::span<const AnswerField> disasm_fields() {
  static constexpr AnswerField kFields[] = {
      {"assembly", "text", "", "of an object: text that `asm` takes back"},
      {"words", "list", "", "of bare words"},
      {"words[].address", "integer", "B", "offset"},
      {"words[].word", "integer", "", ""},
      {"words[].assembly", "text", "", ""},
  };
  return kFields;
}

Options disasm_options() {
  Options options(
      "disasm FILE.o | FILE.bin | 0xWORD…",
      "Shows machine words, or an ELF object, as assembly; of an object it is text that "
      "`asm` takes back.",
      {"superstep disasm 0x58e0e003", "superstep disasm fill.o > fill.s",
       "superstep disasm fill.bin"});
  options.positionals(1, 100'000);
  return options;
}

ExitCode disasm_command(const Options& options, Answer& answer) {
  std::vector<std::uint32_t> code;
  if (!options.words()[0].starts_with("0x")) {
    const std::string bytes = read_text_file(options.words()[0]);
    const std::vector<std::uint8_t> object(bytes.begin(), bytes.end());
    if (is_elf(object)) {
      const std::string text = text_of(read_elf(object, options.words()[0]));
      answer.print("{}", text);
      answer.fields()["assembly"] = text;
      return ExitCode::kOk;
    }
    if (bytes.size() % 4 != 0)
      throw MalformedInput(
          fmt::format("{}: {} bytes are no whole 32-bit words", options.words()[0], bytes.size()));
    code.resize(bytes.size() / 4);
    std::memcpy(code.data(), bytes.data(), bytes.size());
  } else {
    for (const std::string& word : options.words()) {
      std::uint32_t value = 0;
      const char* end = word.data() + word.size();
      if (!word.starts_with("0x") || std::from_chars(word.data() + 2, end, value, 16).ptr != end)
        usage_error(fmt::format("'{}' is no 32-bit word such as 0x58e0e003", word));
      code.push_back(value);
    }
  }
  answer.fields()["words"] = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < code.size(); ++i) {
    const auto address = static_cast<std::uint32_t>(4 * i);
    const std::string text = disassemble(code[i], address);
    answer.print("{:6x}  {:08x}  {}\n", address, code[i], text);
    answer.fields()["words"].push_back(
        {{"address", address}, {"word", code[i]}, {"assembly", text}});
  }
  return ExitCode::kOk;
}

}  // namespace superstep
