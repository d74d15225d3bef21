#include "isa/image_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <type_traits>

#include "base/error.h"
#include "base/format_version.h"
#include "base/hdf5_file.h"
#include "base/output_file.h"
#include "base/sha256.h"
#include "isa/image_fields.h"

namespace superstep {
namespace {

constexpr const char* kMachine = "/machine";
constexpr const char* kDigest = "content_sha256";
/// An attribute that the content does not include.
constexpr const char* kMadeFrom = "made_from";

template <class Value>
constexpr bool is_list = false;
template <class Element>
constexpr bool is_list<std::vector<Element>> = true;
template <class Element>
constexpr bool is_list<std::optional<Element>> = true;

/// The dataset of how many elements each list has.
template <class Element>
std::string count_path(const std::string& path, const std::vector<Element>*) {
  return path + "_count";
}
template <class Element>
std::string count_path(const std::string& path, const std::optional<Element>*) {
  return path + "_known";
}

template <class Value>
constexpr bool is_number = std::is_integral_v<Value> || std::is_enum_v<Value>;

/// How a number is stored: an enumeration and a boolean as what they are made of.
template <class Number, bool = std::is_enum_v<Number>>
struct StoredAs {
  using Type = std::conditional_t<std::is_same_v<Number, bool>, std::uint8_t, Number>;
};
template <class Number>
struct StoredAs<Number, true> {
  using Type = std::underlying_type_t<Number>;
};
template <class Number>
using Stored = typename StoredAs<Number>::Type;

template <class Number>
constexpr Hdf5Type type_of() {
  if constexpr (std::is_same_v<Number, std::uint8_t>) return Hdf5Type::kU8;
  if constexpr (std::is_same_v<Number, std::uint32_t>) return Hdf5Type::kU32;
  if constexpr (std::is_same_v<Number, std::uint64_t>) return Hdf5Type::kU64;
  if constexpr (std::is_same_v<Number, std::int64_t>) return Hdf5Type::kI64;
}

template <class Element>
std::span<const Element> elements(const std::vector<Element>& list) {
  return list;
}
template <class Element>
std::span<const Element> elements(const std::optional<Element>& list) {
  return list ? std::span(&*list, 1) : std::span<const Element>();
}

template <class Element>
std::span<Element> resized(std::vector<Element>& list, std::size_t size) {
  list.resize(size);
  return list;
}
template <class Element>
std::span<Element> resized(std::optional<Element>& list, std::size_t size) {
  if (size == 0) return {};
  return std::span(&list.emplace(), 1);
}

/// The digest of the datasets of an image in their order.
class ContentDigest {
 public:
  template <class Number>
  void add(const std::string& path, const std::vector<Number>& numbers) {
    add_name(path, numbers.size());
    hash_.add({reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number)});
  }
  void add(const std::string& path, const std::vector<std::string>& texts) {
    add_name(path, texts.size());
    for (const std::string& text : texts) hash_.add(fmt::format("{}:{}", text.size(), text));
  }
  [[nodiscard]] std::string text() { return hash_.digest(); }

 private:
  void add_name(const std::string& path, std::size_t rows) {
    hash_.add(fmt::format("{} {}\n", path, rows));
  }

  Sha256 hash_;
};

class ImageWriter {
 public:
  /// Into a file, or only into the digest.
  explicit ImageWriter(Hdf5File* file) : file_(file) {}

  void put_texts(const std::string& path, std::vector<std::string> texts) {
    // As they will be read.
    for (std::string& text : texts) text.resize(std::char_traits<char>::length(text.c_str()));
    if (file_ != nullptr) file_->write_text(path, texts);
    digest_.add(path, texts);
  }

  template <class Value>
  void put(const std::string& path, const std::vector<const Value*>& rows) {
    if constexpr (ImagePart<Value>) {
      if (!path.empty() && file_ != nullptr) file_->make_group(path);
      for_each_field<Value>([&](const auto& field) {
        std::vector<decltype(&(rows[0]->*field.member))> values;
        for (const Value* row : rows) values.push_back(&(row->*field.member));
        put(path + "/" + field.name, values);
      });
    } else if constexpr (is_list<Value>) {
      put_lists(path, rows);
    } else if constexpr (is_number<Value>) {
      std::vector<Stored<Value>> numbers;
      for (const Value* row : rows) numbers.push_back(static_cast<Stored<Value>>(*row));
      put_numbers(path, numbers);
    } else {
      std::vector<std::string> texts;
      for (const Value* row : rows) texts.push_back(*row);
      put_texts(path, std::move(texts));
    }
  }

  [[nodiscard]] std::string digest() { return digest_.text(); }

 private:
  template <class List>
  void put_lists(const std::string& path, const std::vector<const List*>& lists) {
    using Element = typename List::value_type;
    std::vector<std::uint64_t> counts;
    for (const List* list : lists) counts.push_back(elements(*list).size());
    put_numbers(count_path(path, static_cast<const List*>(nullptr)), counts);
    if constexpr (is_number<Element>) {
      std::vector<Stored<Element>> numbers;
      numbers.reserve(std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}));
      for (const List* list : lists) {
        std::ranges::transform(elements(*list), std::back_inserter(numbers), [](Element element) {
          return static_cast<Stored<Element>>(element);
        });
      }
      put_numbers(path, numbers);
    } else {
      std::vector<const Element*> all;
      for (const List* list : lists) {
        for (const Element& element : elements(*list)) all.push_back(&element);
      }
      put(path, all);
    }
  }

  template <class Number>
  void put_numbers(const std::string& path, const std::vector<Number>& numbers) {
    digest_.add(path, numbers);
    if (file_ == nullptr) return;
    file_->make_dataset(path, {.type = type_of<Number>(), .dims = {numbers.size()}});
    if (!numbers.empty()) file_->write(path, numbers.data());
  }

  Hdf5File* file_;
  ContentDigest digest_;
};

/// Gives what an ImageWriter put. Throws std::runtime_error for datasets that do not go together.
class ImageReader {
 public:
  /// A file of format 1.`minor`.
  ImageReader(const Hdf5File& file, unsigned minor) : file_(file), minor_(minor) {}

  [[nodiscard]] std::vector<std::string> texts(const std::string& path) {
    std::vector<std::string> texts = file_.read_text(path);
    digest_.add(path, texts);
    return texts;
  }

  template <class Value>
  void take(const std::string& path, const std::vector<Value*>& rows) {
    if constexpr (ImagePart<Value>) {
      for_each_field<Value>([&](const auto& field) {
        if (field.minor > minor_) return;
        std::vector<decltype(&(rows[0]->*field.member))> values;
        for (Value* row : rows) values.push_back(&(row->*field.member));
        take(path + "/" + field.name, values);
      });
    } else if constexpr (is_list<Value>) {
      take_lists(path, rows);
    } else if constexpr (is_number<Value>) {
      const auto found = numbers<Stored<Value>>(path);
      check(path, found.size() == rows.size());
      for (std::size_t i = 0; i < rows.size(); ++i) *rows[i] = static_cast<Value>(found[i]);
    } else {
      std::vector<std::string> found = texts(path);
      check(path, found.size() == rows.size());
      for (std::size_t i = 0; i < rows.size(); ++i) *rows[i] = std::move(found[i]);
    }
  }

  [[nodiscard]] std::string digest() { return digest_.text(); }

 private:
  static void check(const std::string& path, bool fits) {
    if (!fits) throw std::runtime_error(path + " has not as many rows as what it belongs to");
  }

  /// Whether lists of so many elements, each of at most `most`, have `all` together.
  static bool add_up(const std::vector<std::uint64_t>& counts, std::uint64_t most,
                     std::uint64_t all) {
    for (const std::uint64_t count : counts) {
      if (count > std::min(most, all)) return false;
      all -= count;
    }
    return all == 0;
  }

  template <class List>
  void take_lists(const std::string& path, const std::vector<List*>& lists) {
    using Element = typename List::value_type;
    constexpr std::uint64_t kMost = std::is_same_v<List, std::optional<Element>>
                                        ? 1
                                        : std::numeric_limits<std::uint64_t>::max();
    const std::string of_counts = count_path(path, static_cast<const List*>(nullptr));
    const auto counts = numbers<std::uint64_t>(of_counts);
    check(of_counts, counts.size() == lists.size());
    if constexpr (is_number<Element>) {
      const auto found = numbers<Stored<Element>>(path);
      check(path, add_up(counts, kMost, found.size()));
      auto next = found.begin();
      for (std::size_t i = 0; i < lists.size(); ++i) {
        for (Element& element : resized(*lists[i], counts[i])) {
          element = static_cast<Element>(*next++);
        }
      }
    } else {
      check(path, add_up(counts, kMost, rows_of<Element>(path)));
      std::vector<Element*> all;
      for (std::size_t i = 0; i < lists.size(); ++i) {
        for (Element& element : resized(*lists[i], counts[i])) all.push_back(&element);
      }
      take(path, all);
    }
  }

  /// How many rows a part has in the file, where as much is stored of its first field.
  template <class Value>
  [[nodiscard]] std::uint64_t rows_of(const std::string& path) const {
    if constexpr (ImagePart<Value>) {
      constexpr auto kFirst = std::get<0>(fields_of(static_cast<const Value*>(nullptr)));
      using Field = std::remove_cvref_t<decltype(std::declval<Value>().*kFirst.member)>;
      return rows_of<Field>(path + "/" + kFirst.name);
    } else if constexpr (is_list<Value>) {
      return file_.shape(count_path(path, static_cast<const Value*>(nullptr)), 1).at(0);
    } else {
      return file_.shape(path, 1).at(0);
    }
  }

  template <class Number>
  [[nodiscard]] std::vector<Number> numbers(const std::string& path) {
    if (file_.type(path) != type_of<Number>()) {
      throw std::runtime_error(fmt::format("{} has the type {}, not {}", path,
                                           name_of(file_.type(path)), name_of(type_of<Number>())));
    }
    (void)file_.shape(path, 1);
    std::vector<Number> found = file_.read_all<Number>(path, type_of<Number>());
    digest_.add(path, found);
    return found;
  }

  const Hdf5File& file_;
  unsigned minor_;
  ContentDigest digest_;
};

}  // namespace

void write_image(const std::filesystem::path& path, const ProgramImage& image,
                 std::string_view made_from) {
  OutputFile output(path);
  Hdf5File file = Hdf5File::create(output.temporary(), path);
  ImageWriter writer(&file);
  writer.put_texts(kMachine, {to_toml(image.machine, image.sources)});
  writer.put<ProgramImage>("", {&image});
  file.set_attribute("/", "format", std::string(kImageFormat));
  file.set_attribute("/", "format_version", std::string(kImageVersion));
  file.set_attribute("/", kDigest, writer.digest());
  if (!made_from.empty()) file.set_attribute("/", kMadeFrom, std::string(made_from));
  file.close();
  output.commit();
}

std::string image_digest(const ProgramImage& image) {
  ImageWriter writer(nullptr);
  writer.put_texts(kMachine, {to_toml(image.machine, {})});
  writer.put<ProgramImage>("", {&image});
  return writer.digest();
}

namespace {

/// Why a file of this format and version is no image for this reader; empty when it is one.
std::string why_foreign(const std::string& format, const std::string& version) {
  constexpr const char* kHow = "`superstep compile PROGRAM.mlir -o FILE` writes one";
  if (format.empty()) return fmt::format("is an HDF5 file, but no program image; {}", kHow);
  if (format != kImageFormat) return fmt::format("is a {}, no program image; {}", format, kHow);
  const auto major = [](std::string_view text) { return text.substr(0, text.find('.')); };
  if (major(version) == major(kImageVersion)) return {};
  return fmt::format("is {}/{}, and this version of Superstep reads {}/{}: compile again", format,
                     version, kImageFormat, kImageVersion);
}

/// The machine of an image whose content is what was written.
SourcedMachine read_machine(const std::string& text, const std::filesystem::path& path,
                            const std::vector<std::string>& overrides) {
  try {
    (void)read_compiled_machine(text, path.string());
  } catch (const MalformedInput&) {
    throw MalformedInput({{{path.string(), 0, 0},
                           "is of a version of Superstep whose machines have other keys: compile "
                           "again"}});
  }
  return read_compiled_machine(text, path.string(), overrides);
}

ProgramImage read_image_of(const Hdf5File& file, const std::filesystem::path& path,
                           const std::vector<std::string>& overrides) {
  const std::string version = file.text_attribute("/", "format_version");
  const std::string foreign = why_foreign(file.text_attribute("/", "format"), version);
  if (!foreign.empty()) throw MalformedInput({{{path.string(), 0, 0}, foreign}});
  ImageReader reader(file, minor_of(version));
  const std::vector<std::string> machine = reader.texts(kMachine);
  if (machine.size() != 1) throw std::runtime_error("there is not one machine");
  ProgramImage image;
  reader.take<ProgramImage>("", {&image});
  if (reader.digest() != file.text_attribute("/", kDigest)) {
    throw std::runtime_error("its contents are not those that were written");
  }
  SourcedMachine sourced = read_machine(machine[0], path, overrides);
  image.machine = std::move(sourced.machine);
  image.sources = std::move(sourced.sources);
  return image;
}

/// That of `path`; none, if `made_from` is given, of a file that was made from something else.
std::optional<ProgramImage> read_image_if(const std::filesystem::path& path,
                                          const std::vector<std::string>& overrides,
                                          const std::optional<std::string_view>& made_from) {
  ProgramImage image;
  try {
    const Hdf5File file = Hdf5File::open(path, Hdf5File::Access::kRead);
    if (made_from && file.text_attribute("/", kMadeFrom) != *made_from) return std::nullopt;
    image = read_image_of(file, path, overrides);
  } catch (const UserError&) {
    throw;
  } catch (const std::runtime_error& error) {
    throw MalformedInput({{{path.string(), 0, 0},
                           fmt::format("is a damaged image ({}): compile again", error.what())}});
  }
  std::vector<Problem> found = problems(image);
  for (Problem& problem : found) problem.where.file = path.string();
  if (!found.empty()) throw MalformedInput(std::move(found));
  return image;
}

}  // namespace

ProgramImage read_image(const std::filesystem::path& path,
                        const std::vector<std::string>& overrides) {
  return *read_image_if(path, overrides, std::nullopt);
}

std::optional<ProgramImage> read_image_made_from(const std::filesystem::path& path,
                                                 std::string_view made_from) {
  return read_image_if(path, {}, made_from);
}

}  // namespace superstep
