#include "tools/codelet_spec.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/float16.h"
#include "base/hdf5.h"
#include "base/toml.h"
#include "isa/vertex_fields.h"
#include "base/files.h"
#include "tools/child_process.h"
#include "tools/tensors.h"

namespace superstep {
namespace {

/// A type of numbers by the names that it has in a file.
struct NumberType {
  const char* name;
  DType dtype;
  std::size_t bytes;
};
constexpr NumberType kNumberTypes[] = {
    {"bool", DType::kI1, 1}, {"i8", DType::kI8, 1},    {"u8", DType::kU8, 1},
    {"i16", DType::kI16, 2}, {"u16", DType::kU16, 2},  {"i32", DType::kI32, 4},
    {"u32", DType::kU32, 4}, {"half", DType::kF16, 2}, {"float", DType::kF32, 4},
    {"f16", DType::kF16, 2}, {"f32", DType::kF32, 4},  {"i64", DType::kI32, 8},
    {"u64", DType::kU32, 8},
};

const NumberType* find_type(const std::string& name) {
  for (const NumberType& type : kNumberTypes) {
    if (name == type.name) return &type;
  }
  return nullptr;
}

std::vector<std::string> type_names() {
  std::vector<std::string> names;
  for (const NumberType& type : kNumberTypes) names.emplace_back(type.name);
  return names;
}

/// The bits of a number, or none when the type does not have it.
std::optional<std::uint64_t> bits_of(const toml::node& node, const NumberType& type) {
  if (is_float(type.dtype)) {
    const auto value = node.value<double>();
    if (!value) return std::nullopt;
    const auto single = static_cast<float>(*value);
    return type.dtype == DType::kF16 ? half_bits(single) : std::bit_cast<std::uint32_t>(single);
  }
  if (const auto truth = node.value_exact<bool>(); truth && type.dtype == DType::kI1) {
    return *truth ? 1 : 0;
  }
  const auto value = node.value_exact<std::int64_t>();
  if (!value) return std::nullopt;
  const unsigned bits = type.dtype == DType::kI1 ? 1 : 8 * static_cast<unsigned>(type.bytes);
  const bool has_sign = is_signed(type.dtype);
  const std::int64_t most = bits == 64 ? std::numeric_limits<std::int64_t>::max()
                                       : (std::int64_t{1} << (bits - (has_sign ? 1 : 0))) - 1;
  if (*value > most || *value < (has_sign ? -most - 1 : 0)) return std::nullopt;
  return static_cast<std::uint64_t>(*value);
}

class Reader {
 public:
  explicit Reader(std::filesystem::path path) : path_(std::move(path)) {}

  CodeletSpec run() {
    read(parse_toml(read_text_file(path_), path_.string()));
    if (!problems_.empty()) throw MalformedInput(std::move(problems_));
    return std::move(spec_);
  }

 private:
  [[nodiscard]] SourceLocation at(const toml::source_region& source) const {
    return toml_place(path_.string(), source);
  }
  [[nodiscard]] SourceLocation at(const toml::node& node) const { return at(node.source()); }
  void fail(const SourceLocation& where, std::string message) {
    problems_.push_back({where, std::move(message)});
  }

  /// Names each key of a table that is none of `known`.
  void check_keys(const toml::table& table, const std::vector<std::string>& known,
                  const std::string& of) {
    for (const auto& [key, node] : table) {
      const std::string name(key.str());
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      const std::string guess = nearest(name, known);
      fail(at(key.source()),
           fmt::format("unknown key '{}' of {}; {}", name, of,
                       guess.empty() ? fmt::format("it has {}", fmt::join(known, ", "))
                                     : "did you mean '" + guess + "'?"));
    }
  }

  std::optional<std::string> text_of(const toml::table& table, const char* key) {
    const toml::node* node = table.get(key);
    if (node == nullptr) return std::nullopt;
    const auto text = node->value_exact<std::string>();
    if (!text) fail(at(*node), fmt::format("'{}' is a text", key));
    return text;
  }
  /// One text or a list of them.
  std::vector<std::string> texts_of(const toml::table& table, const char* key) {
    std::vector<std::string> texts;
    const toml::node* node = table.get(key);
    if (node == nullptr) return texts;
    if (const auto text = node->value_exact<std::string>()) return {*text};
    const toml::array* list = node->as_array();
    if (list == nullptr) fail(at(*node), fmt::format("'{}' is a text or a list of texts", key));
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
      const auto text = (*list)[i].value_exact<std::string>();
      if (!text) fail(at((*list)[i]), fmt::format("'{}' is a list of texts", key));
      texts.push_back(text.value_or(""));
    }
    return texts;
  }
  std::optional<std::uint32_t> number_of(const toml::table& table, const char* key,
                                         std::uint32_t low, std::uint32_t high) {
    const toml::node* node = table.get(key);
    if (node == nullptr) return std::nullopt;
    const auto value = node->value_exact<std::int64_t>();
    if (!value || *value < low || *value > high) {
      fail(at(*node), fmt::format("'{}' is a whole number from {} to {}", key, low, high));
      return std::nullopt;
    }
    return static_cast<std::uint32_t>(*value);
  }
  [[nodiscard]] std::filesystem::path beside(const std::string& file) const {
    return path_.parent_path() / file;
  }

  void read(const toml::table& table) {
    check_keys(table,
               {"machine", "source", "include", "defines", "entry", "kind", "fp_ictl", "print",
                "field", "tensor"},
               "a codelet file");
    const SourceLocation whole{path_.string(), 0, 0};
    spec_.machine = text_of(table, "machine").value_or(spec_.machine);
    for (const std::string& file : texts_of(table, "source")) spec_.sources.push_back(beside(file));
    if (spec_.sources.empty()) {
      fail(whole, "'source' is missing: an assembly file, an ELF object or a list of them");
    }
    for (const std::string& file : texts_of(table, "include")) {
      spec_.includes.push_back(beside(file).string());
    }
    spec_.defines = texts_of(table, "defines");
    spec_.entry = text_of(table, "entry").value_or("");
    if (spec_.entry.empty()) fail(whole, "'entry' is missing: the symbol to call");
    spec_.fp_control = number_of(table, "fp_ictl", 0, 0xffffffffU).value_or(0);
    read_kind(table);
    read_tensors_of(table);
    read_fields(table);
    spec_.print = texts_of(table, "print");
    for (const std::string& name : spec_.print) check_tensor(name, at(*table.get("print")));
  }

  void read_kind(const toml::table& table) {
    static const std::vector<std::string> kKinds = {"worker", "multivertex", "supervisor"};
    const std::string kind = text_of(table, "kind").value_or("worker");
    const auto found = std::find(kKinds.begin(), kKinds.end(), kind);
    if (found == kKinds.end()) {
      return fail(at(*table.get("kind")), fmt::format("'{}' is no kind of entry point; it is {}",
                                                      kind, fmt::join(kKinds, ", ")));
    }
    spec_.kind = static_cast<CodeletKind>(found - kKinds.begin());
  }

  void read_tensors_of(const toml::table& table) {
    const toml::node* node = table.get("tensor");
    if (node == nullptr) return;
    const toml::table* tensors = node->as_table();
    if (tensors == nullptr) return fail(at(*node), "tensors are tables: [tensor.NAME]");
    for (const auto& [name, tensor] : *tensors) {
      if (!tensor.is_table()) {
        fail(at(tensor), "a tensor is a table: [tensor.NAME]");
        continue;
      }
      read_tensor(std::string(name.str()), at(name.source()), *tensor.as_table());
    }
    std::stable_sort(
        spec_.tensors.begin(), spec_.tensors.end(),
        [](const CodeletTensor& a, const CodeletTensor& b) { return a.where.line < b.where.line; });
    for (const CodeletTensor& tensor : spec_.tensors) {
      for (const std::string& other : tensor.apart) check_tensor(other, tensor.where);
    }
  }

  void read_tensor(const std::string& name, const SourceLocation& where, const toml::table& table) {
    check_keys(table,
               {"dtype", "shape", "values", "region", "alignment", "offset", "address", "apart"},
               "a tensor");
    CodeletTensor tensor;
    tensor.name = name;
    tensor.where = where;
    tensor.region = number_of(table, "region", 0, 1).value_or(1);
    tensor.alignment = number_of(table, "alignment", 1, 0x10000).value_or(8);
    tensor.offset = number_of(table, "offset", 0, 0xffff).value_or(0);
    if (!std::has_single_bit(tensor.alignment) || tensor.offset >= tensor.alignment) {
      fail(where, "'alignment' is a power of two, 'offset' is less");
    }
    tensor.address = number_of(table, "address", 0, 0x1fffff);
    tensor.apart = texts_of(table, "apart");
    if (auto value = read_value(table, where)) tensor.value = std::move(*value);
    spec_.tensors.push_back(std::move(tensor));
  }

  std::optional<Shape> read_shape(const toml::table& table) {
    const toml::node* node = table.get("shape");
    if (node == nullptr) return std::nullopt;
    Shape shape;
    std::int64_t elements = 1;
    const toml::array* list = node->as_array();
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
      const auto size = (*list)[i].value_exact<std::int64_t>();
      if (!size || *size < 0 || *size > 0x200000 || elements * *size > 0x200000) list = nullptr;
      if (list != nullptr) elements *= *size;
      shape.push_back(size.value_or(0));
    }
    if (list != nullptr) return shape;
    fail(at(*node), "'shape' is a list of sizes, as in [4, 6], that fits a tile");
    return std::nullopt;
  }

  std::optional<HostTensor> read_value(const toml::table& table, const SourceLocation& where) {
    const std::string type_name = text_of(table, "dtype").value_or("float");
    const NumberType* type = find_type(type_name);
    if (type == nullptr || type->bytes == 8) {
      const std::string guess = nearest(type_name, type_names());
      fail(at(*table.get("dtype")),
           fmt::format("tensors have no elements of type '{}'{}", type_name,
                       guess.empty() ? "" : "; did you mean '" + guess + "'?"));
      return std::nullopt;
    }
    std::optional<Shape> shape = read_shape(table);
    if (table.get("shape") != nullptr && !shape) return std::nullopt;
    const toml::node* values = table.get("values");
    if (values != nullptr && values->is_string()) {
      return read_text_value(*values, *type, shape, table.get("dtype") != nullptr);
    }
    std::vector<const toml::node*> numbers;
    if (values != nullptr) flatten(*values, numbers);
    const bool is_list = values != nullptr && values->is_array();
    if (!shape) shape = Shape{is_list ? static_cast<std::int64_t>(numbers.size()) : 1};
    HostTensor tensor(TensorType{type->dtype, *shape});
    const auto elements = static_cast<std::size_t>(tensor.type.elements());
    if (is_list && numbers.size() != elements) {
      fail(where, fmt::format("{} values for {}", numbers.size(), tensor.type.text()));
      return std::nullopt;
    }
    for (std::size_t i = 0; i < elements && !numbers.empty(); ++i) {
      const toml::node& number = is_list ? *numbers[i] : *numbers[0];
      const auto bits = bits_of(number, *type);
      if (!bits) {
        fail(at(number), fmt::format("this is no number of type {}", type_name));
        return std::nullopt;
      }
      __builtin_memcpy(tensor.data.data() + i * type->bytes, &*bits, type->bytes);
    }
    return tensor;
  }

  void flatten(const toml::node& node, std::vector<const toml::node*>& numbers) {
    if (const toml::array* list = node.as_array()) {
      for (const toml::node& item : *list) flatten(item, numbers);
    } else {
      numbers.push_back(&node);
    }
  }

  /// `random:SEED` or `FILE.h5:DATASET`.
  std::optional<HostTensor> read_text_value(const toml::node& node, const NumberType& type,
                                            const std::optional<Shape>& shape, bool has_type) {
    const std::string text = *node.value_exact<std::string>();
    try {
      if (const auto seed = random_seed(text)) {
        std::mt19937 random(*seed);
        return random_tensor({type.dtype, shape.value_or(Shape{1})}, random);
      }
      const std::size_t colon = text.rfind(':');
      if (colon == std::string::npos) {
        fail(at(node), fmt::format("'{}' is neither random:SEED nor FILE.h5:DATASET", text));
        return std::nullopt;
      }
      const std::filesystem::path path = beside(text.substr(0, colon));
      TensorFile file = read_behind_rehearsal(path, [&] { return read_tensors(path); });
      const auto found = file.find(text.substr(colon + 1));
      if (found == file.end()) {
        fail(at(node),
             fmt::format("{} has no dataset '{}'", text.substr(0, colon), text.substr(colon + 1)));
        return std::nullopt;
      }
      const TensorType& stored = found->second.type;
      if ((has_type && stored.dtype != type.dtype) || (shape && stored.shape != *shape)) {
        fail(at(node),
             fmt::format("the dataset is {}, not what dtype and shape say", stored.text()));
        return std::nullopt;
      }
      return std::move(found->second);
    } catch (const UserError& error) {
      fail(at(node), error.problems().at(0).message);
      return std::nullopt;
    }
  }

  void check_tensor(const std::string& name, const SourceLocation& where) {
    std::vector<std::string> known;
    for (const CodeletTensor& tensor : spec_.tensors) known.push_back(tensor.name);
    if (std::find(known.begin(), known.end(), name) != known.end()) return;
    const std::string guess = nearest(name, known);
    fail(where, fmt::format("there is no tensor '{}'{}", name,
                            guess.empty() ? "" : "; did you mean '" + guess + "'?"));
  }

  void read_fields(const toml::table& table) {
    const toml::node* node = table.get("field");
    if (node == nullptr) return;
    const toml::array* fields = node->as_array();
    for (std::size_t i = 0; fields != nullptr && i < fields->size(); ++i) {
      if ((*fields)[i].is_table()) read_field(*(*fields)[i].as_table());
    }
    if (fields == nullptr) fail(at(*node), "fields are a list of tables: [[field]]");
  }

  void read_field(const toml::table& table) {
    check_keys(table, {"name", "type", "value", "tensor", "tensors", "inner"}, "a field");
    CodeletField field;
    field.where = at(table);
    field.name = text_of(table, "name").value_or("");
    field.type = text_of(table, "type").value_or("");
    field.inner = text_of(table, "inner").value_or("");
    if (const NumberType* type = find_type(field.type)) {
      field.number_bytes = type->bytes;
      const toml::node* value = table.get("value");
      std::vector<const toml::node*> numbers;
      if (value == nullptr) {
        fail(field.where, fmt::format("a field of type {} has a 'value'", field.type));
      } else {
        flatten(*value, numbers);
      }
      for (const toml::node* number : numbers) {
        const auto bits = bits_of(*number, *type);
        if (!bits) fail(at(*number), fmt::format("this is no number of type {}", field.type));
        field.numbers.push_back(bits.value_or(0));
      }
    } else if (pointer_layout(field.type) || field.type == "delta_n_elements") {
      read_pointer(table, field);
    } else {
      std::vector<std::string> known = type_names();
      known.insert(known.end(), pointer_layout_names().begin(), pointer_layout_names().end());
      known.emplace_back("delta_n_elements");
      fail(field.where,
           fmt::format("'{}' is no type of a field; it is {}", field.type, fmt::join(known, ", ")));
    }
    spec_.fields.push_back(std::move(field));
  }

  void read_pointer(const toml::table& table, CodeletField& field) {
    const bool is_list = field.type == "delta_n_elements";
    field.tensors = texts_of(table, is_list || !field.inner.empty() ? "tensors" : "tensor");
    if (field.tensors.empty()) {
      fail(field.where,
           "a pointer names its 'tensor'; a vector of vectors its 'tensors' and how "
           "they are held ('inner')");
    }
    if (!field.inner.empty() && field.inner != "one_ptr" && field.inner != "span") {
      fail(field.where, "'inner' is one_ptr or span");
    }
    if (field.inner.empty() && !is_list && field.tensors.size() > 1) {
      fail(field.where,
           "a pointer has one tensor; a vector of vectors says how it holds them "
           "('inner')");
    }
    for (const std::string& name : field.tensors) check_tensor(name, field.where);
  }

  std::filesystem::path path_;
  CodeletSpec spec_;
  std::vector<Problem> problems_;
};

}  // namespace

CodeletSpec read_codelet_spec(const std::filesystem::path& path) { return Reader(path).run(); }

}  // namespace superstep
