#include "base/hdf5_reading.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/files.h"

namespace superstep {
namespace {

/// Times that the library reads what a writer may be changing. It waits between them, 1 ns after
/// the first and twice as long after each: its own 100 would take longer than any process lives.
constexpr unsigned kReadAttempts = 20;

/// Deflate makes of no byte more than these.
constexpr std::uint64_t kMostInflation = 1032;

/// The filter of a dataset that the library lacks; empty when there is none.
std::string missing_filter(hid_t creation) {
  for (int i = 0; i < H5Pget_nfilters(creation); ++i) {
    unsigned flags = 0;
    std::size_t parameters = 0;
    std::array<char, 64> name{};
    const H5Z_filter_t filter =
        H5Pget_filter2(creation, static_cast<unsigned>(i), &flags, &parameters, nullptr,
                       name.size() - 1, name.data(), nullptr);
    if (filter >= 0 && H5Zfilter_avail(filter) <= 0) {
      return name[0] == 0 ? fmt::format("number {}", filter)
                          : fmt::format("{}, number {}", name.data(), filter);
    }
  }
  return {};
}

}  // namespace

Hdf5Id open_hdf5(const std::filesystem::path& path, unsigned flags) {
  check_input(path);
  const Hdf5Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  if ((flags & H5F_ACC_SWMR_READ) != 0) H5Pset_metadata_read_attempts(access, kReadAttempts);
  return {H5Fopen(path.c_str(), flags, access), H5Fclose};
}

std::string why_not_opened(const std::filesystem::path& path) {
  return H5Fis_hdf5(path.c_str()) > 0 ? "is a damaged HDF5 file, or one that was cut off"
                                      : "is not an HDF5 file";
}

std::string why_not_read(hid_t dataset) {
  const Hdf5Id creation(H5Dget_create_plist(dataset), H5Pclose);
  if (!creation) return "is damaged";
  if (const std::string filter = missing_filter(creation); !filter.empty()) {
    return fmt::format(
        "is compressed with a filter that this HDF5 does not have ({}); h5py or h5repack can write "
        "it with gzip",
        filter);
  }
  std::array<char, 256> name{};
  if (H5Pget_external_count(creation) > 0 &&
      H5Pget_external(creation, 0, name.size() - 1, name.data(), nullptr, nullptr) >= 0) {
    return fmt::format("is kept in another file, {}, which cannot be read", name.data());
  }
  return "is damaged";
}

std::string described_type(hid_t type) {
  const std::size_t bits = H5Tget_size(type) * 8;
  switch (H5Tget_class(type)) {
    case H5T_INTEGER:
      return fmt::format("{}-bit {}integer", bits,
                         H5Tget_sign(type) == H5T_SGN_NONE ? "unsigned " : "");
    case H5T_FLOAT:
      return fmt::format("{}-bit float", bits);
    case H5T_COMPOUND:
      return "compound (complex numbers are compounds)";
    case H5T_ENUM:
      return "enumeration that is not h5py's boolean";
    case H5T_STRING:
      return H5Tis_variable_str(type) > 0 ? "text of variable length" : "text";
    case H5T_VLEN:
      return "lists of variable length";
    default:
      return "neither integer, float nor boolean";
  }
}

std::optional<std::vector<std::string>> links_of(hid_t group) {
  const auto add = [](hid_t, const char* name, const H5L_info_t*, void* names) -> herr_t {
    static_cast<std::vector<std::string>*>(names)->emplace_back(name);
    return 0;
  };
  std::vector<std::string> names;
  if (H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, nullptr, add, &names) < 0) return std::nullopt;
  return names;
}

std::vector<std::uint64_t> dims_of(hid_t space) {
  const int rank = H5Sget_simple_extent_ndims(space);
  std::vector<hsize_t> dims(static_cast<std::size_t>(std::max(rank, 0)));
  if (rank > 0) H5Sget_simple_extent_dims(space, dims.data(), nullptr);
  return {dims.begin(), dims.end()};
}

std::optional<std::uint64_t> elements_of(hid_t dataset, std::uint64_t unstored_bytes) {
  const Hdf5Id space(H5Dget_space(dataset), H5Sclose);
  if (!space) return std::nullopt;
  if (H5Sget_simple_extent_type(space) == H5S_NULL) return 0;
  const Hdf5Id type(H5Dget_type(dataset), H5Tclose);
  std::uint64_t elements = 1, bytes = H5Tget_size(type);
  bool overflows = false;
  for (const std::uint64_t d : dims_of(space)) {
    if (d == 0) return 0;
    overflows |= __builtin_mul_overflow(elements, d, &elements);
    overflows |= __builtin_mul_overflow(bytes, d, &bytes);
  }
  if (overflows) return std::nullopt;
  if (bytes <= unstored_bytes) return elements;
  const Hdf5Id file(H5Iget_file_id(dataset), H5Fclose);
  const Hdf5Id creation(H5Dget_create_plist(dataset), H5Pclose);
  hsize_t file_bytes = 0;
  if (!file || !creation || H5Fget_filesize(file, &file_bytes) < 0) return std::nullopt;
  const std::uint64_t stored = std::min<std::uint64_t>(H5Dget_storage_size(dataset), file_bytes);
  const bool is_filtered = H5Pget_nfilters(creation) > 0;
  if (bytes > stored * (is_filtered ? kMostInflation : 1)) return std::nullopt;
  return elements;
}

}  // namespace superstep
