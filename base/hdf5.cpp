#include "base/hdf5.h"

#include <fmt/format.h>
#include <hdf5.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "base/hdf5_id.h"
#include "base/hdf5_reading.h"
#include "base/output_file.h"

namespace superstep {
namespace {

/// IEEE half as h5py stores it: sign 1 bit, exponent 5 bits with bias 15, mantissa 10 bits.
Hdf5Id half_type() {
  Hdf5Id type(H5Tcopy(H5T_IEEE_F32LE), H5Tclose);
  H5Tset_fields(type, 15, 10, 5, 0, 10);
  H5Tset_size(type, 2);
  H5Tset_ebias(type, 15);
  return type;
}

/// The enumeration {FALSE = 0, TRUE = 1} over a signed byte (h5py, h5py/_hl/base.py and h5t.pyx).
Hdf5Id bool_type() {
  Hdf5Id type(H5Tenum_create(H5T_STD_I8LE), H5Tclose);
  const std::int8_t no = 0;
  const std::int8_t yes = 1;
  H5Tenum_insert(type, "FALSE", &no);
  H5Tenum_insert(type, "TRUE", &yes);
  return type;
}

/// The compound of h5py's complex numbers.
Hdf5Id complex_type(DType dtype) {
  const hid_t part = dtype == DType::kC64 ? H5T_IEEE_F32LE : H5T_IEEE_F64LE;
  const std::size_t size = size_of(real_of(dtype));
  Hdf5Id type(H5Tcreate(H5T_COMPOUND, 2 * size), H5Tclose);
  H5Tinsert(type, "r", 0, part);
  H5Tinsert(type, "i", size, part);
  return type;
}

/// The type in a file; elements that HDF5 has no type for are stored as integers of their width,
/// with the attribute `dtype`.
Hdf5Id hdf5_type(DType dtype) {
  switch (dtype) {
    case DType::kI1:
      return bool_type();
    case DType::kI8:
    case DType::kI2:
    case DType::kI4:
      return {H5Tcopy(H5T_STD_I8LE), H5Tclose};
    case DType::kI16:
      return {H5Tcopy(H5T_STD_I16LE), H5Tclose};
    case DType::kI32:
      return {H5Tcopy(H5T_STD_I32LE), H5Tclose};
    case DType::kI64:
      return {H5Tcopy(H5T_STD_I64LE), H5Tclose};
    case DType::kU8:
    case DType::kU2:
    case DType::kU4:
    case DType::kF4E2M1FN:
    case DType::kF6E2M3FN:
    case DType::kF6E3M2FN:
    case DType::kF8E3M4:
    case DType::kF8E4M3:
    case DType::kF8E4M3B11FNUZ:
    case DType::kF8E4M3FN:
    case DType::kF8E4M3FNUZ:
    case DType::kF8E5M2:
    case DType::kF8E5M2FNUZ:
    case DType::kF8E8M0FNU:
      return {H5Tcopy(H5T_STD_U8LE), H5Tclose};
    case DType::kU16:
    case DType::kBF16:
      return {H5Tcopy(H5T_STD_U16LE), H5Tclose};
    case DType::kU32:
      return {H5Tcopy(H5T_STD_U32LE), H5Tclose};
    case DType::kU64:
      return {H5Tcopy(H5T_STD_U64LE), H5Tclose};
    case DType::kF16:
      return half_type();
    case DType::kF32:
      return {H5Tcopy(H5T_IEEE_F32LE), H5Tclose};
    case DType::kF64:
      return {H5Tcopy(H5T_IEEE_F64LE), H5Tclose};
    case DType::kC64:
    case DType::kC128:
      return complex_type(dtype);
  }
  fail_check("dtype", __FILE__, __LINE__, "not an element type");
}

/// Names the element type of a dataset whose integers stand for something else.
constexpr const char* kDTypeAttribute = "dtype";

/// Whether elements are stored as integers that stand for something else.
bool needs_name(DType dtype) { return dtype == DType::kBF16 || is_narrow(dtype); }

/// What does not need to be stored is filled with one value: more than the tiles of a chip hold is
/// taken for damage.
constexpr std::uint64_t kMostUnstored = std::uint64_t{1} << 30;

/// `arg0`, `result3`, …: what programs take and give.
bool is_tensor_name(std::string_view name) {
  for (const std::string_view prefix : {"arg", "result"}) {
    if (!name.starts_with(prefix) || name.size() == prefix.size()) continue;
    return name.find_first_not_of("0123456789", prefix.size()) == std::string_view::npos;
  }
  return false;
}

/// What the attribute `dtype` of a dataset says; empty when it has none that is text.
std::string dtype_attribute(hid_t set) {
  if (H5Aexists(set, kDTypeAttribute) <= 0) return {};
  const Hdf5Id attribute(H5Aopen(set, kDTypeAttribute, H5P_DEFAULT), H5Aclose);
  const Hdf5Id type(H5Aget_type(attribute), H5Tclose);
  if (H5Tget_class(type) != H5T_STRING) return {};
  const Hdf5Id memory(H5Tcopy(type), H5Tclose);
  if (H5Tis_variable_str(type) > 0) {
    char* text = nullptr;
    if (H5Aread(attribute, memory, static_cast<void*>(&text)) < 0 || text == nullptr) return {};
    std::string result = text;
    H5free_memory(text);
    return result;
  }
  std::string text(H5Tget_size(type), '\0');
  if (H5Aread(attribute, memory, text.data()) < 0) return {};
  return text.substr(0, text.find('\0'));
}

void write_dtype_attribute(hid_t set, DType dtype) {
  const std::string_view name = name_of(dtype);
  const Hdf5Id type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type, name.size());
  const Hdf5Id space(H5Screate(H5S_SCALAR), H5Sclose);
  const Hdf5Id attribute(H5Acreate2(set, kDTypeAttribute, type, space, H5P_DEFAULT, H5P_DEFAULT),
                         H5Aclose);
  H5Awrite(attribute, type, name.data());
}

/// Whether two types are equal but for their endianness. Compounds have that of each member.
bool are_equal(hid_t type, hid_t ours) {
  if (H5Tget_class(type) != H5T_COMPOUND) {
    const Hdf5Id little(H5Tcopy(type), H5Tclose);
    const H5T_class_t kind = H5Tget_class(type);
    if (kind == H5T_INTEGER || kind == H5T_FLOAT) H5Tset_order(little, H5T_ORDER_LE);
    return H5Tequal(little, ours) > 0;
  }
  if (H5Tget_class(ours) != H5T_COMPOUND || H5Tget_nmembers(type) != H5Tget_nmembers(ours)) {
    return false;
  }
  for (unsigned m = 0; m < static_cast<unsigned>(H5Tget_nmembers(ours)); ++m) {
    char* name = H5Tget_member_name(ours, m);
    const int found = H5Tget_member_index(type, name);
    H5free_memory(name);
    if (found < 0) return false;
    const Hdf5Id theirs(H5Tget_member_type(type, static_cast<unsigned>(found)), H5Tclose);
    const Hdf5Id member(H5Tget_member_type(ours, m), H5Tclose);
    if (!are_equal(theirs, member)) return false;
  }
  return true;
}

/// The element type, in little or big endian; empty when it is none of ours.
std::optional<DType> dtype_of(hid_t set, hid_t type) {
  for (const DType dtype : kAllDTypes) {
    const Hdf5Id ours = hdf5_type(dtype);
    if (!are_equal(type, ours)) continue;
    const std::string name = dtype_attribute(set);
    for (const DType stored : kAllDTypes) {
      if (needs_name(stored) && name == name_of(stored) && are_equal(type, hdf5_type(stored))) {
        return stored;
      }
    }
    return dtype;
  }
  return std::nullopt;
}

Problem problem_in(const std::filesystem::path& path, std::string message) {
  return {SourceLocation{path.string(), 0, 0}, std::move(message)};
}

/// Reads one dataset, or says why it cannot be.
std::optional<Problem> read_dataset(const std::filesystem::path& path, const std::string& name,
                                    hid_t set, const TensorFilter& wanted, TensorFile& tensors) {
  const Hdf5Id type(H5Dget_type(set), H5Tclose);
  if (H5Tget_class(type) == H5T_STRING && !is_tensor_name(name)) return std::nullopt;
  const std::optional<DType> dtype = dtype_of(set, type);
  if (!dtype) {
    return problem_in(path, fmt::format("dataset '{}' has the type {}; allowed are booleans, 8 to "
                                        "64-bit integers, 16 to 64-bit floats, and complex numbers "
                                        "of 32 or 64-bit floats",
                                        name, described_type(type)));
  }
  const Hdf5Id space(H5Dget_space(set), H5Sclose);
  if (H5Sget_simple_extent_type(space) == H5S_NULL) {
    return problem_in(path, fmt::format("dataset '{}' is empty (it has no shape)", name));
  }
  const int rank = H5Sget_simple_extent_ndims(space);
  std::vector<hsize_t> dims(static_cast<std::size_t>(rank));
  if (rank > 0) H5Sget_simple_extent_dims(space, dims.data(), nullptr);
  TensorType tensor_type{*dtype, {}};
  for (const hsize_t d : dims) tensor_type.shape.push_back(static_cast<std::int64_t>(d));
  if (wanted && !wanted(name, tensor_type)) {
    tensors[name].type = std::move(tensor_type);
    return std::nullopt;
  }
  if (!elements_of(set, kMostUnstored)) {
    return problem_in(path, fmt::format("dataset '{}' ({}) is larger than what is stored: it {}",
                                        name, tensor_type.text(), why_not_read(set)));
  }
  HostTensor tensor(tensor_type);
  const auto reading = hdf5_lock(name, tensor.data.size());
  const Hdf5Id memory = hdf5_type(*dtype);
  if (tensor_type.elements() != 0 &&
      H5Dread(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, tensor.data.data()) < 0) {
    return problem_in(path,
                      fmt::format("dataset '{}' cannot be read: it {}", name, why_not_read(set)));
  }
  tensors.emplace(name, std::move(tensor));
  return std::nullopt;
}

bool is_numbered(std::string_view name, std::string_view prefix) {
  if (prefix.empty()) return true;
  if (!name.starts_with(prefix) || name.size() == prefix.size()) return false;
  return name.find_first_not_of("0123456789", prefix.size()) == std::string_view::npos;
}

}  // namespace

bool TensorNameLess::operator()(std::string_view a, std::string_view b) const {
  const auto key = [](std::string_view name) {
    const std::size_t digits = name.find_last_not_of("0123456789") + 1;
    return std::tuple(name.substr(0, digits), name.size(), name);
  };
  return key(a) < key(b);
}

TensorFile read_tensors(const std::filesystem::path& path, std::string_view prefix,
                        const TensorFilter& wanted) {
  const auto lock = hdf5_lock();
  const Hdf5Id file = open_hdf5(path, H5F_ACC_RDONLY);
  if (!file) throw MalformedInput({problem_in(path, why_not_opened(path))});
  const std::optional<std::vector<std::string>> names = links_of(file);
  if (!names) throw MalformedInput({problem_in(path, "is damaged: its datasets cannot be listed")});
  TensorFile tensors;
  std::vector<Problem> problems;
  for (const std::string& name : *names) {
    if (!is_numbered(name, prefix)) continue;
    const auto use = hdf5_lock(name);
    const Hdf5Id object(H5Oopen(file, name.c_str(), H5P_DEFAULT), H5Oclose);
    if (!object) {
      problems.push_back(problem_in(
          path,
          fmt::format("'{}' cannot be opened: it is damaged, of a newer HDF5, or a link to nothing",
                      name)));
    } else if (H5Iget_type(object) == H5I_DATASET) {
      if (auto problem = read_dataset(path, name, object, wanted, tensors))
        problems.push_back(*problem);
    } else if (is_tensor_name(name)) {
      problems.push_back(
          problem_in(path, fmt::format("'{}' is a group; a tensor is a dataset of numbers", name)));
    }
  }
  if (!problems.empty()) throw MalformedInput(std::move(problems));
  return tensors;
}

void write_tensors(const std::filesystem::path& path, const TensorFile& tensors) {
  const auto lock = hdf5_lock();
  OutputFile output(path);
  const Hdf5Id creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
  H5Pset_obj_track_times(creation, false);
  Hdf5Id file(H5Fcreate(output.temporary().c_str(), H5F_ACC_TRUNC, creation, H5P_DEFAULT),
              H5Fclose);
  const auto check = [&](bool good, const std::string& what) {
    if (good) return;
    const int error = hdf5_errno();
    file.abandon();
    throw InputOutputError(path.string(), what, error);
  };
  check(!!file, "cannot be written");
  for (const auto& [name, tensor] : tensors) {
    const std::vector<hsize_t> dims(tensor.type.shape.begin(), tensor.type.shape.end());
    const Hdf5Id space(dims.empty()
                           ? H5Screate(H5S_SCALAR)
                           : H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr),
                       H5Sclose);
    const Hdf5Id type = hdf5_type(tensor.type.dtype);
    const Hdf5Id layout(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_obj_track_times(layout, false);
    Hdf5Id set(H5Dcreate2(file, name.c_str(), type, space, H5P_DEFAULT, layout, H5P_DEFAULT),
               H5Dclose);
    if (!!set && needs_name(tensor.type.dtype)) write_dtype_attribute(set, tensor.type.dtype);
    check(!!set &&
              (tensor.type.elements() == 0 ||
               H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, tensor.data.data()) >= 0) &&
              set.close(),
          "cannot write dataset " + name);
  }
  check(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0 && file.close(), "cannot be written to its end");
  output.commit();
}

std::vector<HostTensor> read_tensor_list(const std::filesystem::path& path,
                                         std::string_view prefix) {
  TensorFile file = read_tensors(path, prefix);
  std::vector<HostTensor> tensors;
  for (std::size_t k = 0; k < file.size(); ++k) {
    const auto found = file.find(fmt::format("{}{}", prefix, k));
    if (found == file.end()) {
      throw MalformedInput({problem_in(path, fmt::format("has {} datasets {}0, …, but no '{}{}'",
                                                         file.size(), prefix, prefix, k))});
    }
    tensors.push_back(std::move(found->second));
  }
  return tensors;
}

void write_tensor_list(const std::filesystem::path& path, std::string_view prefix,
                       std::vector<HostTensor> tensors) {
  TensorFile file;
  for (std::size_t k = 0; k < tensors.size(); ++k) {
    file[fmt::format("{}{}", prefix, k)] = std::move(tensors[k]);
  }
  write_tensors(path, file);
}

}  // namespace superstep
