#include "base/hdf5_file.h"

#include <fmt/format.h>
#include <hdf5.h>
#include <hdf5_hl.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/hdf5_id.h"
#include "base/hdf5_reading.h"
#include "base/hdf5_types.h"

namespace superstep {
namespace {

Hdf5Id space_of(const std::vector<std::uint64_t>& dims, bool grows) {
  if (dims.empty()) return {H5Screate(H5S_SCALAR), H5Sclose};
  const std::vector<hsize_t> now(dims.begin(), dims.end());
  std::vector<hsize_t> most = now;
  if (grows) most[0] = H5S_UNLIMITED;
  return {H5Screate_simple(static_cast<int>(now.size()), now.data(), most.data()), H5Sclose};
}

/// Of files that we write.
Hdf5Id access_to_write() {
  Hdf5Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);
  H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
  // Nobody else writes it: what cannot be read is damaged, and to read it again would not end.
  H5Pset_metadata_read_attempts(access, 1);
  return access;
}

Hdf5Id creation_without_times() {
  Hdf5Id list(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_obj_track_times(list, false);
  return list;
}

/// More than any attribute holds: of those in the header of an object 64 KiB.
constexpr std::size_t kMostAttributeBytes = std::size_t{1} << 20;

/// Fixed-length text without its padding.
std::string trimmed(const char* text, std::size_t bytes) { return {text, strnlen(text, bytes)}; }

herr_t add_name(hid_t, const char* name, const H5A_info_t*, void* names) {
  static_cast<std::vector<std::string>*>(names)->emplace_back(name);
  return 0;
}

}  // namespace

bool is_hdf5(const std::filesystem::path& path) {
  const auto lock = hdf5_lock();
  std::error_code none;
  // What is read from a pipe is gone.
  return std::filesystem::is_regular_file(path, none) && H5Fis_hdf5(path.c_str()) > 0;
}

/// Those that rows were added to.
struct Hdf5File::GrowingSets {
  struct Set {
    Hdf5Id id, memory;
    std::vector<hsize_t> extent;
    bool is_written = true;  ///< as it was last flushed
  };

  std::map<std::string, Set> sets;
  std::vector<Set*> changed;  ///< since the last flush, in order
};

Hdf5File::Hdf5File(std::filesystem::path path)
    : path_(std::move(path)), growing_(std::make_unique<GrowingSets>()) {}

Hdf5File::Hdf5File(Hdf5File&& other) noexcept
    : path_(std::move(other.path_)),
      id_(std::exchange(other.id_, -1)),
      growing_(std::move(other.growing_)) {}

Hdf5File& Hdf5File::operator=(Hdf5File&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(id_, other.id_);
  std::swap(growing_, other.growing_);
  return *this;
}

Hdf5File::~Hdf5File() {
  const auto lock = hdf5_lock();
  growing_.reset();
  if (id_ >= 0) H5Fclose(id_);
}

void Hdf5File::leave_alone() {
  id_ = -1;
  for (auto& [path, set] : growing_->sets) {
    set.id.abandon();
    set.memory.abandon();
  }
}

void Hdf5File::fail(const std::string& what) const {
  throw Hdf5Error(fmt::format("{}: {}", path_.string(), what));
}

void Hdf5File::fail_write(const std::string& what) {
  const int error = hdf5_errno();
  // To close it would be to write again: what is on the disk stays as the last flush left it.
  leave_alone();
  if (error == 0) fail(what);  // it is not the system that refuses
  throw InputOutputError(path_.string(), what, error);
}

Hdf5File Hdf5File::create(const std::filesystem::path& path, const std::filesystem::path& name) {
  const auto lock = hdf5_lock();
  Hdf5File file(name.empty() ? path : name);
  const Hdf5Id creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
  H5Pset_obj_track_times(creation, false);
  file.id_ = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation, access_to_write());
  if (file.id_ < 0) file.fail_write("cannot be written");
  return file;
}

Hdf5File Hdf5File::open(const std::filesystem::path& path, Access access,
                        const std::filesystem::path& name) {
  const auto lock = hdf5_lock();
  Hdf5File file(name.empty() ? path : name);
  const unsigned flags[] = {H5F_ACC_RDONLY, H5F_ACC_RDONLY | H5F_ACC_SWMR_READ, H5F_ACC_RDWR};
  file.id_ = open_hdf5(path, flags[static_cast<std::size_t>(access)]).release();
  if (file.id_ < 0) file.fail(why_not_opened(path));
  return file;
}

void Hdf5File::close() {
  const auto lock = hdf5_lock();
  if (id_ < 0) return;
  flush();
  const bool are_closed =
      std::ranges::all_of(growing_->sets, [](auto& set) { return set.second.id.close(); });
  // A failed close leaves the file open in the library, where nothing touches it again.
  if (!are_closed || H5Fclose(id_) < 0) fail_write("cannot be written to its end");
  id_ = -1;
}

void Hdf5File::start_swmr() {
  const auto lock = hdf5_lock();
  const unsigned flags = H5F_ACC_RDWR | H5F_ACC_SWMR_WRITE;
  // H5Fstart_swmr_write would set the attempts to read back to its own 100.
  std::string path(static_cast<std::size_t>(std::max<ssize_t>(H5Fget_name(id_, nullptr, 0), 0)), 0);
  H5Fget_name(id_, path.data(), path.size() + 1);
  close();
  id_ = H5Fopen(path.c_str(), flags, access_to_write());
  if (id_ < 0) fail_write("cannot be shared with readers");
}

void Hdf5File::flush() {
  const auto lock = hdf5_lock();
  for (GrowingSets::Set* set : growing_->changed) {
    if (H5Dflush(set->id) < 0) fail_write("cannot be written");
    set->is_written = true;
  }
  growing_->changed.clear();
  if (H5Fflush(id_, H5F_SCOPE_GLOBAL) < 0) fail_write("cannot be written");
}

std::uint64_t Hdf5File::file_bytes() const {
  const auto lock = hdf5_lock();
  hsize_t bytes = 0;
  if (H5Fget_filesize(id_, &bytes) < 0) fail("has no size");
  return bytes;
}

void Hdf5File::make_group(const std::string& path) {
  const auto lock = hdf5_lock();
  const Hdf5Id creation(H5Pcreate(H5P_GROUP_CREATE), H5Pclose);
  H5Pset_obj_track_times(creation, false);
  const Hdf5Id group(H5Gcreate2(id_, path.c_str(), H5P_DEFAULT, creation, H5P_DEFAULT), H5Gclose);
  if (!group) fail_write("cannot make group " + path);
}

void Hdf5File::make_dataset(const std::string& path, const Hdf5Layout& layout) {
  const auto lock = hdf5_lock(path);
  const Hdf5Id creation = creation_without_times();
  if (layout.chunk_rows != 0) {
    std::vector<hsize_t> chunk(layout.dims.begin(), layout.dims.end());
    chunk[0] = layout.chunk_rows;
    for (hsize_t& extent : chunk) extent = std::max<hsize_t>(extent, 1);
    H5Pset_chunk(creation, static_cast<int>(chunk.size()), chunk.data());
    if (layout.compressed) {
      H5Pset_shuffle(creation);
      H5Pset_deflate(creation, 1);
    }
  }
  Hdf5Id type = layout.type == Hdf5Type::kText ? text_type(layout.text_bytes)
                                               : Hdf5Id(H5Tcopy(file_type(layout.type)), H5Tclose);
  if (!layout.names.empty()) {
    type = Hdf5Id(H5Tenum_create(file_type(layout.type)), H5Tclose);
    for (const auto& [name, value] : layout.names) H5Tenum_insert(type, name.c_str(), &value);
  }
  const Hdf5Id space = space_of(layout.dims, layout.chunk_rows != 0);
  Hdf5Id set(H5Dcreate2(id_, path.c_str(), type, space, H5P_DEFAULT, creation, H5P_DEFAULT),
             H5Dclose);
  if (!set || !set.close()) fail_write("cannot make dataset " + path);
}

void Hdf5File::append(const std::string& path, const void* data, std::uint64_t rows) {
  const auto lock = hdf5_lock(path);
  if (rows == 0) return;
  const std::string failed = "cannot append to " + path;
  auto found = growing_->sets.find(path);
  if (found == growing_->sets.end()) {
    Hdf5Id id(H5Dopen2(id_, path.c_str(), H5P_DEFAULT), H5Dclose);
    if (!id) fail_write(failed);
    const Hdf5Id stored(H5Dget_type(id), H5Tclose);
    Hdf5Id memory(H5Tget_native_type(stored, H5T_DIR_DEFAULT), H5Tclose);
    const std::vector<std::uint64_t> shape = dims_of(Hdf5Id(H5Dget_space(id), H5Sclose));
    found = growing_->sets
                .emplace(path,
                         GrowingSets::Set{
                             std::move(id), std::move(memory), {shape.begin(), shape.end()}})
                .first;
  }
  GrowingSets::Set& set = found->second;
  std::vector<hsize_t> start(set.extent.size(), 0);
  std::vector<hsize_t> count = set.extent;
  start[0] = set.extent[0];
  count[0] = rows;
  set.extent[0] += rows;
  // Each failure at once: the next call of the library forgets what the system said.
  if (H5Dset_extent(set.id, set.extent.data()) < 0) fail_write(failed);
  const Hdf5Id target(H5Dget_space(set.id), H5Sclose);
  const Hdf5Id source(H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr),
                      H5Sclose);
  bool good = H5Sselect_hyperslab(target, H5S_SELECT_SET, start.data(), nullptr, count.data(),
                                  nullptr) >= 0;
  good = good && H5Dwrite(set.id, set.memory, source, target, H5P_DEFAULT, data) >= 0;
  if (!good) fail_write(failed);
  if (std::exchange(set.is_written, false)) growing_->changed.push_back(&set);
}

void Hdf5File::write(const std::string& path, const void* data) {
  const auto lock = hdf5_lock(path);
  Hdf5Id set(H5Dopen2(id_, path.c_str(), H5P_DEFAULT), H5Dclose);
  if (!set) fail_write("cannot write " + path);
  const Hdf5Id stored(H5Dget_type(set), H5Tclose);
  const Hdf5Id memory(H5Tget_native_type(stored, H5T_DIR_DEFAULT), H5Tclose);
  if (H5Dwrite(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0 || !set.close()) {
    fail_write("cannot write " + path);
  }
}

void Hdf5File::write_text(const std::string& path, const std::vector<std::string>& text) {
  const auto lock = hdf5_lock(path);
  std::size_t width = 1;
  for (const std::string& line : text) width = std::max(width, line.size());
  std::string flat(width * text.size(), '\0');
  for (std::size_t i = 0; i < text.size(); ++i) flat.replace(i * width, text[i].size(), text[i]);
  const Hdf5Id type = text_type(width);
  const Hdf5Id space = space_of({text.size()}, false);
  const Hdf5Id creation = creation_without_times();
  Hdf5Id set(H5Dcreate2(id_, path.c_str(), type, space, H5P_DEFAULT, creation, H5P_DEFAULT),
             H5Dclose);
  if (!set || H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, flat.data()) < 0 || !set.close()) {
    fail_write("cannot write " + path);
  }
}

void Hdf5File::set_attribute(const std::string& object, const std::string& name,
                             const Hdf5Value& value, Hdf5Type number_type) {
  const auto lock = hdf5_lock();
  const Hdf5Id owner(H5Oopen(id_, object.c_str(), H5P_DEFAULT), H5Oclose);
  if (H5Aexists(owner, name.c_str()) > 0) H5Adelete(owner, name.c_str());
  Hdf5Id space(H5Screate(H5S_SCALAR), H5Sclose);
  const auto store = [&](hid_t type, hid_t memory, const void* data) {
    Hdf5Id attribute(H5Acreate2(owner, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT),
                     H5Aclose);
    if (!attribute || H5Awrite(attribute, memory, data) < 0 || !attribute.close()) {
      fail_write(fmt::format("cannot write attribute {} of {}", name, object));
    }
  };
  const auto store_text = [&](std::size_t width, const char* data) {
    const Hdf5Id type = text_type(width);
    store(type, type, data);
  };
  if (const auto* number = std::get_if<std::uint64_t>(&value)) {
    store(file_type(number_type), H5T_NATIVE_UINT64, number);
  } else if (const auto* real = std::get_if<double>(&value)) {
    store(H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, real);
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    store_text(text->size(), text->c_str());
  } else {
    const auto& list = std::get<std::vector<std::string>>(value);
    std::size_t width = 1;
    for (const std::string& entry : list) width = std::max(width, entry.size());
    std::string flat(width * list.size(), '\0');
    for (std::size_t i = 0; i < list.size(); ++i) flat.replace(i * width, list[i].size(), list[i]);
    space = space_of({list.size()}, false);
    store_text(width, flat.data());
  }
}

void Hdf5File::make_scale(const std::string& path, const std::string& name) {
  const auto lock = hdf5_lock();
  const Hdf5Id set(H5Dopen2(id_, path.c_str(), H5P_DEFAULT), H5Dclose);
  if (!set || H5DSset_scale(set, name.c_str()) < 0) fail_write("cannot make a scale of " + path);
}

void Hdf5File::attach_scale(const std::string& path, unsigned axis, const std::string& scale) {
  const auto lock = hdf5_lock();
  const Hdf5Id set(H5Dopen2(id_, path.c_str(), H5P_DEFAULT), H5Dclose);
  const Hdf5Id other(H5Dopen2(id_, scale.c_str(), H5P_DEFAULT), H5Dclose);
  if (!set || !other || H5DSattach_scale(set, other, axis) < 0) {
    fail_write(fmt::format("cannot attach {} to {}", scale, path));
  }
}

void Hdf5File::link(const std::string& existing, const std::string& path) {
  const auto lock = hdf5_lock();
  if (H5Lcreate_hard(id_, existing.c_str(), id_, path.c_str(), H5P_DEFAULT, H5P_DEFAULT) < 0) {
    fail_write(fmt::format("cannot link {} to {}", path, existing));
  }
}

bool Hdf5File::exists(const std::string& path) const {
  const auto lock = hdf5_lock(path);
  // H5Lexists wants every group on the way to exist.
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    if (H5Lexists(id_, path.substr(0, end).c_str(), H5P_DEFAULT) <= 0) return false;
    if (end == std::string::npos) return true;
  }
}

std::vector<std::string> Hdf5File::members(const std::string& group, int kind) const {
  const auto lock = hdf5_lock(group);
  const Hdf5Id owner(H5Gopen2(id_, group.c_str(), H5P_DEFAULT), H5Gclose);
  const auto links = owner ? links_of(owner) : std::nullopt;
  if (!links) fail("cannot list " + group);
  std::vector<std::string> names;
  for (const std::string& link : *links) {
    const Hdf5Id object(H5Oopen(owner, link.c_str(), H5P_DEFAULT), H5Oclose);
    if (object && H5Iget_type(object) == kind) names.push_back(link);
  }
  return names;
}

std::vector<std::string> Hdf5File::datasets(const std::string& group) const {
  return members(group, H5I_DATASET);
}

std::vector<std::string> Hdf5File::groups(const std::string& group) const {
  return members(group, H5I_GROUP);
}

std::uint64_t Hdf5File::identity(const std::string& path) const {
  const auto lock = hdf5_lock(path);
  H5O_info_t info{};
  if (H5Oget_info_by_name2(id_, path.c_str(), &info, H5O_INFO_BASIC, H5P_DEFAULT) < 0)
    fail("has no " + path);
  return info.addr;
}

std::vector<std::string> Hdf5File::attributes(const std::string& object) const {
  const auto lock = hdf5_lock(object);
  const Hdf5Id owner(H5Oopen(id_, object.c_str(), H5P_DEFAULT), H5Oclose);
  std::vector<std::string> names;
  if (!owner || H5Aiterate2(owner, H5_INDEX_NAME, H5_ITER_INC, nullptr, add_name, &names) < 0) {
    fail("cannot list the attributes of " + object);
  }
  return names;
}

std::optional<Hdf5Value> Hdf5File::attribute(const std::string& object,
                                             const std::string& name) const {
  const auto lock = hdf5_lock(object);
  const Hdf5Id owner(H5Oopen(id_, object.c_str(), H5P_DEFAULT), H5Oclose);
  if (!owner || H5Aexists(owner, name.c_str()) <= 0) return std::nullopt;
  const Hdf5Id attribute(H5Aopen(owner, name.c_str(), H5P_DEFAULT), H5Aclose);
  const Hdf5Id type(H5Aget_type(attribute), H5Tclose);
  const Hdf5Id space(H5Aget_space(attribute), H5Sclose);
  const auto count =
      static_cast<std::size_t>(std::max<hssize_t>(0, H5Sget_simple_extent_npoints(space)));
  const bool scalar = H5Sget_simple_extent_type(space) == H5S_SCALAR;
  if (!scalar && H5Tget_class(type) != H5T_STRING) return std::nullopt;
  const auto checked = [&](herr_t status) {
    if (status < 0) fail(fmt::format("cannot read attribute {} of {}", name, object));
  };
  switch (H5Tget_class(type)) {
    case H5T_INTEGER: {
      std::uint64_t number = 0;
      checked(H5Aread(attribute, H5T_NATIVE_UINT64, &number));
      return number;
    }
    case H5T_FLOAT: {
      double number = 0;
      checked(H5Aread(attribute, H5T_NATIVE_DOUBLE, &number));
      return number;
    }
    case H5T_STRING: {
      if (H5Tis_variable_str(type) > 0) return std::nullopt;
      const std::size_t width = H5Tget_size(type);
      if (count > kMostAttributeBytes / width) checked(-1);
      std::vector<char> text(width * count);
      if (count != 0) checked(H5Aread(attribute, type, text.data()));
      std::vector<std::string> list;
      for (std::size_t i = 0; i < count; ++i)
        list.push_back(trimmed(text.data() + i * width, width));
      if (scalar) return list[0];
      return list;
    }
    default:
      return std::nullopt;
  }
}

std::string Hdf5File::text_attribute(const std::string& object, const std::string& name) const {
  const std::optional<Hdf5Value> value = attribute(object, name);
  const auto* text = value ? std::get_if<std::string>(&*value) : nullptr;
  return text == nullptr ? std::string() : *text;
}

bool Hdf5File::has_scale(const std::string& path, unsigned axis, const std::string& scale) const {
  const auto lock = hdf5_lock(path);
  const Hdf5Id set(H5Dopen2(id_, path.c_str(), H5P_DEFAULT), H5Dclose);
  const Hdf5Id other(H5Dopen2(id_, scale.c_str(), H5P_DEFAULT), H5Dclose);
  if (!set || !other) fail(fmt::format("has no dataset {} or {}", path, scale));
  return H5DSis_attached(set, other, axis) > 0;
}

Hdf5Type Hdf5File::type(const std::string& path) const {
  const auto lock = hdf5_lock(path);
  const Hdf5Id set(H5Dopen2(id_, path.c_str(), H5P_DEFAULT), H5Dclose);
  if (!set) fail("has no dataset " + path);
  const auto type = our_type(Hdf5Id(H5Dget_type(set), H5Tclose));
  if (!type) fail("has a type that is none of ours: " + path);
  return *type;
}

std::string Hdf5File::type_text(const std::string& path) const {
  const auto lock = hdf5_lock(path);
  const Hdf5Id set(H5Dopen2(id_, path.c_str(), H5P_DEFAULT), H5Dclose);
  if (!set) fail("has no dataset " + path);
  const Hdf5Id stored(H5Dget_type(set), H5Tclose);
  const auto type = our_type(Hdf5Id(H5Dget_type(set), H5Tclose));
  return type ? std::string(name_of(*type)) : described_type(stored);
}

Hdf5Type Hdf5File::attribute_type(const std::string& object, const std::string& name) const {
  const auto lock = hdf5_lock(object);
  const Hdf5Id owner(H5Oopen(id_, object.c_str(), H5P_DEFAULT), H5Oclose);
  const Hdf5Id attribute(H5Aopen(owner, name.c_str(), H5P_DEFAULT), H5Aclose);
  if (!attribute) fail(fmt::format("has no attribute {} of {}", name, object));
  const auto type = our_type(Hdf5Id(H5Aget_type(attribute), H5Tclose));
  if (!type) fail(fmt::format("has a type that is none of ours: {} of {}", name, object));
  return *type;
}

std::vector<std::uint64_t> Hdf5File::shape(const std::string& path, std::size_t rank) const {
  const auto lock = hdf5_lock(path);
  const Hdf5Id set(H5Dopen2(id_, path.c_str(), H5P_DEFAULT), H5Dclose);
  if (!set) fail("has no dataset " + path);
  std::vector<std::uint64_t> shape = dims_of(Hdf5Id(H5Dget_space(set), H5Sclose));
  if (shape.size() != rank) {
    fail(fmt::format("has {} axes for {}, which has {}", shape.size(), path, rank));
  }
  if (!elements_of(set)) fail(path + " is damaged: it is larger than what is stored");
  return shape;
}

std::vector<std::uint64_t> Hdf5File::dims(const std::string& path) const {
  const auto lock = hdf5_lock(path);
  const Hdf5Id set(H5Dopen2(id_, path.c_str(), H5P_DEFAULT), H5Dclose);
  if (!set) fail("has no dataset " + path);
  const Hdf5Id space(H5Dget_space(set), H5Sclose);
  return dims_of(space);
}

void Hdf5File::read_rows(const std::string& path, Hdf5Type type, std::uint64_t first,
                         std::uint64_t rows, std::span<std::byte> out) const {
  const auto lock = hdf5_lock(path, out.size());
  const Hdf5Id set(H5Dopen2(id_, path.c_str(), H5P_DEFAULT), H5Dclose);
  if (!set) fail("has no dataset " + path);
  const Hdf5Id stored(H5Dget_type(set), H5Tclose);
  // An enumeration reads as its numbers only through its own native type.
  const bool as_stored = H5Tget_class(stored) == H5T_ENUM || type == Hdf5Type::kText;
  const Hdf5Id memory(
      as_stored ? H5Tget_native_type(stored, H5T_DIR_DEFAULT) : H5Tcopy(memory_type(type)),
      H5Tclose);
  if (type == Hdf5Type::kText ? H5Tget_class(stored) != H5T_STRING || H5Tis_variable_str(stored) > 0
                              : H5Tget_size(memory) != size_of(type)) {
    fail(fmt::format("{} has the type {}, not {}", path, described_type(stored), name_of(type)));
  }
  const Hdf5Id space(H5Dget_space(set), H5Sclose);
  const std::vector<std::uint64_t> shape = dims_of(space);
  if (!elements_of(set)) fail(path + " is damaged: it is larger than what is stored");
  std::uint64_t bytes = H5Tget_size(memory);
  for (std::size_t axis = 0; axis < shape.size(); ++axis) bytes *= axis == 0 ? rows : shape[axis];
  if (bytes != out.size()) fail(path + " has another shape");
  herr_t status = 0;
  if (shape.empty()) {
    status = H5Dread(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, out.data());
  } else {
    std::vector<hsize_t> start(shape.size(), 0);
    std::vector<hsize_t> count(shape.begin(), shape.end());
    start[0] = first;
    count[0] = rows;
    const Hdf5Id target(H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr),
                        H5Sclose);
    status =
        H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr);
    if (status >= 0) status = H5Dread(set, memory, target, space, H5P_DEFAULT, out.data());
  }
  if (status < 0) fail(path + " " + why_not_read(set));
}

std::uint64_t Hdf5File::elements(const std::string& path) const {
  const auto lock = hdf5_lock(path);
  const Hdf5Id set(H5Dopen2(id_, path.c_str(), H5P_DEFAULT), H5Dclose);
  if (!set) fail("has no dataset " + path);
  const std::optional<std::uint64_t> count = elements_of(set);
  if (!count) fail(path + " is damaged: it is larger than what is stored");
  return *count;
}

std::vector<std::string> Hdf5File::read_text(const std::string& path) const {
  const auto lock = hdf5_lock(path);
  const Hdf5Id set(H5Dopen2(id_, path.c_str(), H5P_DEFAULT), H5Dclose);
  if (!set) fail("has no dataset " + path);
  const Hdf5Id type(H5Dget_type(set), H5Tclose);
  if (H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) > 0) {
    fail(fmt::format("{} has the type {}, not text of fixed length", path, described_type(type)));
  }
  const std::optional<std::uint64_t> count = elements_of(set);
  if (!count) fail(path + " is damaged: it is larger than what is stored");
  const std::size_t width = H5Tget_size(type);
  const auto reading = hdf5_lock(path, width * *count);
  std::vector<char> flat(width * *count);
  if (*count != 0 && H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, flat.data()) < 0) {
    fail(path + " " + why_not_read(set));
  }
  std::vector<std::string> text;
  text.reserve(*count);
  for (std::uint64_t i = 0; i < *count; ++i) {
    text.push_back(trimmed(flat.data() + i * width, width));
  }
  return text;
}

}  // namespace superstep
