#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/files.h"
#include "base/output_file.h"
#include "isa/instruction_word.h"
#include "toolchain/assembler.h"
#include "toolchain/assembler/object_assembler.h"
#include "toolchain/assembler/preprocess.h"
#include "toolchain/elf.h"
#include "toolchain/object_text.h"
#include "tools/command.h"
#include "tools/outputs.h"

namespace superstep {

namespace {

/// The text that is assembled: `.S` goes through the preprocessor, `.s` and others do not.
std::string source_of(const std::string& path, const Options& options) {
  std::vector<std::string> defines =
      machine_defines(load_machine(options.get("machine").value_or("gc200"), options.list("set")));
  if (!path.ends_with(".S")) return read_text_file(path);
  std::ranges::copy(options.list("define"), std::back_inserter(defines));
  return preprocess(path, {options.list("include"), defines});
}

template <class Bytes>
std::string chars_of(const Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size() * sizeof(bytes[0])};
}

/// What stands at an offset of a section besides its bytes.
class Listing {
 public:
  explicit Listing(const Object& object) : object_(object) {}

  void print(Answer& answer) const {
    for (std::uint32_t i = 0; i < object_.sections.size(); ++i) {
      const Object::Section& section = object_.sections[i];
      if (section.bytes.empty()) continue;
      answer.print("{} ({}{}{} bytes, aligned to {})\n", section.name, section.flags,
                   section.flags.empty() ? "" : ", ", section.bytes.size(), section.alignment);
      const bool is_code = section.flags.find('x') != std::string::npos;
      for (std::uint32_t at = 0; at < section.bytes.size(); at += 4)
        print_word(answer, i, at, is_code);
    }
  }

 private:
  void print_word(Answer& answer, std::uint32_t section, std::uint32_t at, bool is_code) const {
    const std::vector<std::uint8_t>& bytes = object_.sections[section].bytes;
    std::uint32_t word = 0;
    for (std::size_t i = at; i < bytes.size() && i < at + 4; ++i) {
      word |= std::uint32_t{bytes[i]} << 8 * (i - at);
    }
    for (const Object::Symbol& symbol : object_.symbols) {
      if (symbol.section == section && symbol.offset == at &&
          symbol.name != object_.sections[section].name) {
        answer.print("{}:\n", symbol.name);
      }
    }
    answer.print("{:6x}  {:08x}  {}\n", at, word,
                 is_code ? disassemble(word, at) : fmt::format(".int {:#x}", word));
    for (const Object::Relocation& relocation : object_.relocations) {
      if (relocation.section != section || relocation.offset / 4 != at / 4) continue;
      answer.print("                    {} {} + {:#x}\n", name_of(relocation.kind),
                   object_.symbols[relocation.symbol].name, relocation.addend);
    }
  }

  const Object& object_;
};

}  // namespace

std::span<const AnswerField> asm_fields() {
  static constexpr AnswerField kFields[] = {
      {"assembly", "text", "", "what was assembled, as text that `asm` takes back"},
      {"file", "text", "", "the object or the words, with -o"},
  };
  return kFields;
}

Options asm_options() {
  Options options("asm FILE.S [options]",
                  "Assembles one source file and lists its words, or writes an object.",
                  {"superstep asm fill.S", "superstep asm fill.S -o fill.o -I include -D SIZE=4",
                   "superstep asm fill.S -o fill.bin && superstep disasm fill.bin"});
  options
      .value("output,o", "FILE",
             "write an ELF object there; FILE.bin gets the bare words, little endian")
      .values("include,I", "DIR",
              "folder of headers for the preprocessor, which .S files go through")
      .values("define,D", "NAME[=VALUE]", "macro of the preprocessor")
      .value("machine,m", "NAME|FILE", "machine whose numbers the headers have (gc200)")
      .values("set", "KEY=VALUE", "override one key of the machine")
      .positionals(1, 1);
  return options;
}

ExitCode asm_command(const Options& options, Answer& answer) {
  const std::string& path = options.words()[0];
  const std::string source = source_of(path, options);
  const std::string output = options.get("output").value_or("");
  if (!output.empty()) {
    std::vector<NamedFile> inputs{{"the source", path}};
    add_machine(inputs, options.get("machine").value_or("gc200"), options.list("set"));
    if (path.ends_with(".S")) {
      for (const std::string& file : preprocessed_files(source))
        if (file != path) inputs.push_back({"a header of the source", file});
    }
    check_outputs(inputs, {{"-o", output}});
    answer.fields()["file"] = output;
  }
  if (output.ends_with(".bin")) {
    replace_file(output, chars_of(assemble(source, path).words));
    return ExitCode::kOk;
  }
  const Object object = assemble_object(source, path).object;
  if (output.empty()) {
    Listing(object).print(answer);
    answer.fields()["assembly"] = text_of(object);
  } else {
    replace_file(output, chars_of(write_elf(object)));
  }
  return ExitCode::kOk;
}

}  // namespace superstep
