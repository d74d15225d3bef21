#include "toolchain/elf.h"

#include <elf.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <type_traits>

#include <fmt/format.h>

#include "base/error.h"

namespace superstep {

namespace {

static_assert(std::endian::native == std::endian::little, "files are read and written as they are");

using Kind = Object::RelocationKind;

/// Graphcore's ELF numbers (graphcore/llvm-project-fork, llvm/include/llvm/BinaryFormat/ELF.h).
constexpr std::uint16_t kMachine = 0xf8;
constexpr std::uint32_t kArchIpu2 = 2;

/// Ours: a symbol whose code is for the supervisor. Other files leave `st_other` 0.
constexpr unsigned char kSupervisorSymbol = 0x80;

/// Tile addresses have 21 bits: no section is larger.
constexpr std::uint32_t kMostSectionBytes = 1U << 21;

struct KindInfo {
  Kind kind;
  const char* name;
  std::uint32_t bytes;
};
constexpr KindInfo kKinds[] = {
    {Kind::k8, "R_COLOSSUS_8", 1},        {Kind::k16, "R_COLOSSUS_16", 2},
    {Kind::k20, "R_COLOSSUS_20", 4},      {Kind::k32, "R_COLOSSUS_32", 4},
    {Kind::k64, "R_COLOSSUS_64", 8},      {Kind::kRelative16S2, "R_COLOSSUS_RELATIVE_16_S2", 2},
    {Kind::k18S2, "R_COLOSSUS_18_S2", 4}, {Kind::k19S2, "R_COLOSSUS_19_S2", 4},
    {Kind::kRun, "R_COLOSSUS_RUN", 4},    {Kind::k16S3, "R_COLOSSUS_16_S3", 2},
    {Kind::k16S4, "R_COLOSSUS_16_S4", 2}, {Kind::k16S5, "R_COLOSSUS_16_S5", 2},
    {Kind::k21, "R_COLOSSUS_21", 4},
};

const KindInfo* find_kind(std::uint32_t number) {
  for (const KindInfo& info : kKinds) {
    if (static_cast<std::uint32_t>(info.kind) == number) return &info;
  }
  return nullptr;
}

struct FlagInfo {
  char letter;
  std::uint32_t bit;
};
constexpr FlagInfo kFlags[] = {
    {'a', SHF_ALLOC}, {'w', SHF_WRITE}, {'x', SHF_EXECINSTR}, {'M', SHF_MERGE}, {'S', SHF_STRINGS}};

class Reader {
 public:
  Reader(std::span<const std::uint8_t> bytes, const std::string& file)
      : bytes_(bytes), file_(file) {}

  Object run() {
    read_header();
    section_of_.resize(headers_.size());
    for (std::uint32_t i = 0; i < headers_.size(); ++i) read_section(i);
    for (std::uint32_t i = 0; i < headers_.size(); ++i) {
      if (headers_[i].sh_type == SHT_SYMTAB) read_symbols(i);
    }
    for (std::uint32_t i = 0; i < headers_.size(); ++i) {
      if (headers_[i].sh_type == SHT_RELA) read_relocations(i);
      if (headers_[i].sh_type == SHT_REL) {
        unsupported(fmt::format("section {} has relocations without addends (REL)", i));
      }
    }
    return std::move(object_);
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw MalformedInput({Problem{{file_, 0, 0}, message}});
  }
  [[noreturn]] void unsupported(const std::string& message) const {
    throw Unsupported({Problem{{file_, 0, 0}, message}});
  }

  /// The bytes [offset, offset + size), which must be in the file.
  std::span<const std::uint8_t> piece(std::uint64_t offset, std::uint64_t size,
                                      const std::string& what) const {
    if (offset > bytes_.size() || size > bytes_.size() - offset) {
      fail(fmt::format("{} at byte {:#x} needs {} bytes; the file ends at {:#x}", what, offset,
                       size, bytes_.size()));
    }
    return bytes_.subspan(offset, size);
  }
  template <class T>
  std::vector<T> table(std::uint64_t offset, std::uint64_t size, const std::string& what) const {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto found = piece(offset, size, what);
    if (size % sizeof(T) != 0) {
      fail(fmt::format("{} at byte {:#x} has {} bytes, which are no whole entries of {}", what,
                       offset, size, sizeof(T)));
    }
    std::vector<T> entries(size / sizeof(T));
    if (!entries.empty()) std::memcpy(entries.data(), found.data(), size);
    return entries;
  }

  void read_header() {
    if (!is_elf(bytes_)) fail("no ELF file: it does not begin with 7f 45 4c 46");
    const auto header = table<Elf32_Ehdr>(0, sizeof(Elf32_Ehdr), "the ELF header")[0];
    if (header.e_ident[EI_CLASS] != ELFCLASS32 || header.e_ident[EI_DATA] != ELFDATA2LSB) {
      unsupported("an ELF file of another kind; the IPU's are 32-bit and little endian");
    }
    if (header.e_machine != kMachine) {
      unsupported(fmt::format("an ELF file for machine {:#x}; the IPU's is {:#x}", header.e_machine,
                              kMachine));
    }
    if (header.e_type != ET_REL) {
      unsupported(fmt::format("an ELF file of type {}; relocatable objects (type 1) can be read",
                              header.e_type));
    }
    if (header.e_shnum == 0) return;
    if (header.e_shentsize != sizeof(Elf32_Shdr)) {
      fail(fmt::format("section headers of {} bytes; they have {}", header.e_shentsize,
                       sizeof(Elf32_Shdr)));
    }
    headers_ = table<Elf32_Shdr>(header.e_shoff, std::uint64_t{header.e_shnum} * sizeof(Elf32_Shdr),
                                 "the table of sections");
    names_ = strings(header.e_shstrndx, "the names of sections");
  }

  [[nodiscard]] std::span<const std::uint8_t> strings(std::uint32_t section,
                                                      const std::string& what) const {
    if (section >= headers_.size() || headers_[section].sh_type != SHT_STRTAB) {
      fail(fmt::format("{} are said to be in section {}, which is no string table", what, section));
    }
    return piece(headers_[section].sh_offset, headers_[section].sh_size, what);
  }

  [[nodiscard]] std::string text(std::span<const std::uint8_t> strings, std::uint32_t at,
                                 const std::string& what) const {
    const auto rest = at < strings.size() ? strings.subspan(at) : strings.subspan(0, 0);
    const auto end = std::find(rest.begin(), rest.end(), std::uint8_t{0});
    if (end == rest.end()) fail(fmt::format("{} has no name that ends", what));
    return {rest.begin(), end};
  }

  void read_section(std::uint32_t index) {
    const Elf32_Shdr& header = headers_[index];
    const bool is_empty = header.sh_type == SHT_NOBITS;
    if (header.sh_type != SHT_PROGBITS && !is_empty) return;
    Object::Section section;
    section.name = text(names_, header.sh_name, fmt::format("section {}", index));
    for (const FlagInfo& flag : kFlags) {
      if ((header.sh_flags & flag.bit) != 0) section.flags += flag.letter;
    }
    section.alignment = std::max<std::uint32_t>(header.sh_addralign, 1);
    if (!std::has_single_bit(section.alignment) || section.alignment > kMostSectionBytes) {
      fail(fmt::format("section `{}` has alignment {}", section.name, section.alignment));
    }
    if (header.sh_size > kMostSectionBytes && (header.sh_flags & SHF_ALLOC) != 0) {
      fail(
          fmt::format("section `{}` has {} bytes, more than a tile", section.name, header.sh_size));
    }
    if (!is_empty) {
      const auto bytes =
          piece(header.sh_offset, header.sh_size, fmt::format("section `{}`", section.name));
      section.bytes.assign(bytes.begin(), bytes.end());
    } else if (header.sh_size <= kMostSectionBytes) {
      section.bytes.resize(header.sh_size);
    }
    section_of_[index] = static_cast<std::uint32_t>(object_.sections.size());
    object_.sections.push_back(std::move(section));
  }

  void read_symbols(std::uint32_t index) {
    if (symbol_table_) unsupported("an ELF file with two symbol tables");
    symbol_table_ = index;
    const auto entries =
        table<Elf32_Sym>(headers_[index].sh_offset, headers_[index].sh_size, "the symbol table");
    const auto names = strings(headers_[index].sh_link, "the names of symbols");
    symbol_of_.resize(entries.size());
    for (std::uint32_t i = 1; i < entries.size(); ++i) read_symbol(i, entries[i], names);
  }

  void read_symbol(std::uint32_t number, const Elf32_Sym& entry,
                   std::span<const std::uint8_t> names) {
    const unsigned type = ELF32_ST_TYPE(entry.st_info);
    if (type == STT_FILE) return;
    Object::Symbol symbol;
    symbol.name = text(names, entry.st_name, fmt::format("symbol {}", number));
    symbol.offset = entry.st_value;
    symbol.size = entry.st_size;
    symbol.is_global = ELF32_ST_BIND(entry.st_info) != STB_LOCAL;
    if ((entry.st_other & kSupervisorSymbol) != 0) symbol.mode = Object::Mode::kSupervisor;
    if (entry.st_shndx == SHN_UNDEF) {
      symbol.is_defined = false;
    } else if (entry.st_shndx == SHN_COMMON || entry.st_shndx == SHN_XINDEX) {
      unsupported(
          fmt::format("symbol `{}` is in a common block or behind section 65,279", symbol.name));
    } else if (entry.st_shndx != SHN_ABS) {
      if (entry.st_shndx >= headers_.size()) {
        fail(fmt::format("symbol `{}` is in section {} of {}", symbol.name, entry.st_shndx,
                         headers_.size()));
      }
      symbol.section = section_of_[entry.st_shndx];
      if (!symbol.section) return;
      const Object::Section& section = object_.sections[*symbol.section];
      if (symbol.offset > section.bytes.size()) {
        fail(fmt::format("symbol `{}` is at byte {:#x} of section `{}`, which has {:#x}",
                         symbol.name, symbol.offset, section.name, section.bytes.size()));
      }
      if (type == STT_SECTION) symbol.name = section.name;
    }
    symbol_of_[number] = static_cast<std::uint32_t>(object_.symbols.size());
    object_.symbols.push_back(std::move(symbol));
  }

  void read_relocations(std::uint32_t index) {
    const Elf32_Shdr& header = headers_[index];
    if (header.sh_info >= headers_.size()) {
      fail(fmt::format("relocations of section {}, which does not exist", header.sh_info));
    }
    const auto target = section_of_[header.sh_info];
    if (!target) return;
    const Object::Section& section = object_.sections[*target];
    if (!symbol_table_ || header.sh_link != *symbol_table_) {
      fail(fmt::format("the relocations of section `{}` name no symbol table", section.name));
    }
    const auto entries =
        table<Elf32_Rela>(header.sh_offset, header.sh_size,
                          fmt::format("the relocations of section `{}`", section.name));
    for (const Elf32_Rela& entry : entries) {
      const std::uint32_t type = ELF32_R_TYPE(entry.r_info);
      if (type == 0) continue;
      const KindInfo* kind = find_kind(type);
      const std::string where = fmt::format("{}+{:#x}", section.name, entry.r_offset);
      if (kind == nullptr) fail(fmt::format("{}: there is no relocation {}", where, type));
      if (std::uint64_t{entry.r_offset} + kind->bytes > section.bytes.size()) {
        fail(fmt::format("{}: {} lies past the end of its section", where, kind->name));
      }
      const std::uint32_t number = ELF32_R_SYM(entry.r_info);
      if (number >= symbol_of_.size() || !symbol_of_[number]) {
        fail(
            fmt::format("{}: {} names symbol {}, which does not exist", where, kind->name, number));
      }
      object_.relocations.push_back(
          {*target, entry.r_offset, kind->kind, *symbol_of_[number], entry.r_addend});
    }
  }

  std::span<const std::uint8_t> bytes_;
  const std::string& file_;
  Object object_;
  std::vector<Elf32_Shdr> headers_;
  std::span<const std::uint8_t> names_;
  std::optional<std::uint32_t> symbol_table_;
  std::vector<std::optional<std::uint32_t>> section_of_;  ///< of the object, by section of the file
  std::vector<std::optional<std::uint32_t>> symbol_of_;
};

class Writer {
 public:
  explicit Writer(const Object& object) : object_(object) {}

  std::vector<std::uint8_t> run() {
    const auto count = static_cast<std::uint32_t>(object_.sections.size());
    SUPERSTEP_CHECK(count < 0x8000, "an object has few enough sections for one ELF file");
    bytes_.resize(sizeof(Elf32_Ehdr));
    headers_.resize(1);
    for (const Object::Section& section : object_.sections) write_section(section);
    const std::uint32_t symbol_table = write_symbols();
    for (std::uint32_t i = 0; i < count; ++i) write_relocations(i, symbol_table);
    // Its own name is among its contents by the time they are appended.
    add_section({.name = ".shstrtab", .type = SHT_STRTAB, .alignment = 1}, names_);
    write_header();
    return std::move(bytes_);
  }

 private:
  /// Of a section to be added.
  struct Header {
    std::string name;
    std::uint32_t type;
    std::uint32_t flags = 0;
    std::uint32_t link = 0;
    std::uint32_t info = 0;
    std::uint32_t alignment = 4;
    std::uint32_t entry_bytes = 0;
  };

  static Elf32_Word add_text(std::string& strings, const std::string& text) {
    const auto at = static_cast<Elf32_Word>(strings.size());
    strings += text + '\0';
    return at;
  }

  void align(std::uint32_t alignment) {
    bytes_.resize((bytes_.size() + alignment - 1) / alignment * alignment);
  }

  /// Appends contents and their header; the index of the section.
  template <class Contents>
  std::uint32_t add_section(const Header& header, const Contents& contents) {
    const auto name = add_text(names_, header.name);
    align(std::max<std::uint32_t>(header.alignment, 4));
    Elf32_Shdr& entry = headers_.emplace_back();
    entry.sh_name = name;
    entry.sh_type = header.type;
    entry.sh_flags = header.flags;
    entry.sh_offset = static_cast<Elf32_Off>(bytes_.size());
    entry.sh_size = static_cast<Elf32_Word>(contents.size() * sizeof(*contents.data()));
    entry.sh_link = header.link;
    entry.sh_info = header.info;
    entry.sh_addralign = header.alignment;
    entry.sh_entsize = header.entry_bytes;
    append(contents.data(), entry.sh_size);
    return static_cast<std::uint32_t>(headers_.size() - 1);
  }

  void append(const void* data, std::size_t size) {
    const auto* begin = static_cast<const std::uint8_t*>(data);
    bytes_.insert(bytes_.end(), begin, begin + size);
  }

  void write_section(const Object::Section& section) {
    Elf32_Word flags = 0;
    for (const FlagInfo& flag : kFlags) {
      if (section.flags.find(flag.letter) != std::string::npos) flags |= flag.bit;
    }
    add_section({.name = section.name,
                 .type = SHT_PROGBITS,
                 .flags = flags,
                 .alignment = section.alignment},
                section.bytes);
  }

  [[nodiscard]] Elf32_Sym entry_of(const Object::Symbol& symbol) {
    Elf32_Sym entry{};
    const bool is_section = symbol.section && !symbol.is_global && symbol.offset == 0 &&
                            symbol.name == object_.sections[*symbol.section].name;
    const bool is_code =
        symbol.section && object_.sections[*symbol.section].flags.find('x') != std::string::npos;
    entry.st_name = is_section ? 0 : add_text(symbol_names_, symbol.name);
    entry.st_value = symbol.offset;
    entry.st_size = symbol.size;
    const int type = is_section ? STT_SECTION : is_code ? STT_FUNC : STT_NOTYPE;
    entry.st_info =
        static_cast<unsigned char>(ELF32_ST_INFO(symbol.is_global ? STB_GLOBAL : STB_LOCAL, type));
    entry.st_other = symbol.mode == Object::Mode::kSupervisor ? kSupervisorSymbol : 0;
    entry.st_shndx = symbol.section      ? static_cast<Elf32_Section>(*symbol.section + 1)
                     : symbol.is_defined ? Elf32_Section{SHN_ABS}
                                         : Elf32_Section{SHN_UNDEF};
    return entry;
  }

  /// Local symbols come before global ones.
  std::uint32_t write_symbols() {
    std::vector<Elf32_Sym> entries(1);
    entry_number_.resize(object_.symbols.size());
    Elf32_Word first_global = 1;
    for (const bool global : {false, true}) {
      for (std::size_t i = 0; i < object_.symbols.size(); ++i) {
        if (object_.symbols[i].is_global != global) continue;
        entry_number_[i] = static_cast<std::uint32_t>(entries.size());
        entries.push_back(entry_of(object_.symbols[i]));
      }
      if (!global) first_global = static_cast<Elf32_Word>(entries.size());
    }
    const std::uint32_t strings =
        add_section({.name = ".strtab", .type = SHT_STRTAB, .alignment = 1}, symbol_names_);
    return add_section({.name = ".symtab",
                        .type = SHT_SYMTAB,
                        .link = strings,
                        .info = first_global,
                        .entry_bytes = sizeof(Elf32_Sym)},
                       entries);
  }

  void write_relocations(std::uint32_t section, std::uint32_t symbol_table) {
    std::vector<Elf32_Rela> entries;
    for (const Object::Relocation& relocation : object_.relocations) {
      if (relocation.section != section) continue;
      entries.push_back({.r_offset = relocation.offset,
                         .r_info = ELF32_R_INFO(entry_number_[relocation.symbol],
                                                static_cast<Elf32_Word>(relocation.kind)),
                         .r_addend = relocation.addend});
    }
    if (entries.empty()) return;
    add_section({.name = ".rela" + object_.sections[section].name,
                 .type = SHT_RELA,
                 .flags = SHF_INFO_LINK,
                 .link = symbol_table,
                 .info = section + 1,
                 .entry_bytes = sizeof(Elf32_Rela)},
                entries);
  }

  void write_header() {
    align(4);
    Elf32_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS32;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_ident[EI_OSABI] = ELFOSABI_STANDALONE;
    header.e_type = ET_REL;
    header.e_machine = kMachine;
    header.e_version = EV_CURRENT;
    header.e_shoff = static_cast<Elf32_Off>(bytes_.size());
    header.e_flags = kArchIpu2;
    header.e_ehsize = sizeof(Elf32_Ehdr);
    header.e_shentsize = sizeof(Elf32_Shdr);
    header.e_shnum = static_cast<Elf32_Half>(headers_.size());
    header.e_shstrndx = static_cast<Elf32_Half>(headers_.size() - 1);
    std::memcpy(bytes_.data(), &header, sizeof(header));
    append(headers_.data(), headers_.size() * sizeof(Elf32_Shdr));
  }

  const Object& object_;
  std::vector<std::uint8_t> bytes_;
  std::vector<Elf32_Shdr> headers_;
  std::string names_ = std::string(1, '\0'), symbol_names_ = std::string(1, '\0');
  std::vector<std::uint32_t> entry_number_;  ///< by symbol of the object
};

}  // namespace

bool is_elf(std::span<const std::uint8_t> bytes) {
  return bytes.size() >= SELFMAG && std::memcmp(bytes.data(), ELFMAG, SELFMAG) == 0;
}

Object read_elf(std::span<const std::uint8_t> bytes, const std::string& file) {
  return Reader(bytes, file).run();
}

std::vector<std::uint8_t> write_elf(const Object& object) { return Writer(object).run(); }

std::string name_of(Object::RelocationKind kind) {
  const KindInfo* info = find_kind(static_cast<std::uint32_t>(kind));
  SUPERSTEP_CHECK(info != nullptr, "a relocation has a kind");
  return info->name;
}

std::uint32_t bytes_of(Object::RelocationKind kind) {
  const KindInfo* info = find_kind(static_cast<std::uint32_t>(kind));
  SUPERSTEP_CHECK(info != nullptr, "a relocation has a kind");
  return info->bytes;
}

}  // namespace superstep
