#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace superstep {

/// Types of the numbers and texts in an HDF5 file of ours.
enum class Hdf5Type : std::uint8_t { kU8, kU16, kU32, kU64, kI32, kI64, kF64, kText };

[[nodiscard]] std::size_t size_of(Hdf5Type type);
/// `u4`, `u8`, `f8`, `text`, …: kind and bytes.
[[nodiscard]] std::string_view name_of(Hdf5Type type);

/// An attribute's value.
using Hdf5Value = std::variant<std::uint64_t, double, std::string, std::vector<std::string>>;

/// Shape and storage of a dataset to be made. Without `chunk_rows` it is contiguous; with them,
/// compressed and its first axis can grow.
struct Hdf5Layout {
  Hdf5Type type = Hdf5Type::kU32;
  std::vector<std::uint64_t> dims = {};
  std::uint64_t chunk_rows = 0;
  bool compressed = true;
  std::vector<std::pair<std::string, std::uint8_t>> names =
      {};                      ///< a u1 with names is an enumeration
  std::size_t text_bytes = 0;  ///< of each text of a kText dataset that grows
};

/// Whether there is a file that begins as one of HDF5.
[[nodiscard]] bool is_hdf5(const std::filesystem::path& path);

/// What is wrong with an HDF5 file.
struct Hdf5Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// One HDF5 file, open. Failures are thrown, naming file and object, with nothing printed: those of
/// the system to write as InputOutputError with its words, all others as Hdf5Error. After one to
/// write the object is of no use. Threads may use files of their own side by side.
class Hdf5File {
 public:
  enum class Access : std::uint8_t {
    kRead,
    kSwmrRead,  ///< of a file that a writer has open, or had when it was killed
    kWrite,     ///< to add to it
  };

  /// Replaces the file. Equal calls make equal bytes: no time stamps are kept. Messages call it
  /// `name`, if there is one.
  [[nodiscard]] static Hdf5File create(const std::filesystem::path& path,
                                       const std::filesystem::path& name = {});
  [[nodiscard]] static Hdf5File open(const std::filesystem::path& path, Access access,
                                     const std::filesystem::path& name = {});
  Hdf5File(Hdf5File&& other) noexcept;
  Hdf5File& operator=(Hdf5File&& other) noexcept;
  ~Hdf5File();

  /// Writes what is buffered and closes; errors are thrown, unlike those of the destructor.
  void close();

  /// From here on datasets only grow, and readers may follow.
  void start_swmr();
  /// Rows were added to datasets in some order: in that order they are written.
  void flush();

  /// Bytes of the file, which may have lost its name.
  [[nodiscard]] std::uint64_t file_bytes() const;

  void make_group(const std::string& path);
  void make_dataset(const std::string& path, const Hdf5Layout& layout);
  /// Adds rows to a growing dataset of numbers, which stays open: what it holds of its last chunk
  /// is written by `flush` or `close`.
  void append(const std::string& path, const void* data, std::uint64_t rows);
  /// Fills a whole dataset of numbers.
  void write(const std::string& path, const void* data);
  void write_text(const std::string& path, const std::vector<std::string>& text);
  /// `number` is how a number is stored.
  void set_attribute(const std::string& object, const std::string& name, const Hdf5Value& value,
                     Hdf5Type number = Hdf5Type::kU64);
  /// Makes a dataset the dimension scale of axes called `name`.
  void make_scale(const std::string& path, const std::string& name);
  void attach_scale(const std::string& path, unsigned axis, const std::string& scale);
  /// A second name for a dataset.
  void link(const std::string& existing, const std::string& path);

  [[nodiscard]] bool exists(const std::string& path) const;
  /// Names of the datasets that are directly in `group`, in order.
  [[nodiscard]] std::vector<std::string> datasets(const std::string& group) const;
  /// The same of groups.
  [[nodiscard]] std::vector<std::string> groups(const std::string& group) const;
  /// Equal for names of one object, and for no others.
  [[nodiscard]] std::uint64_t identity(const std::string& path) const;
  [[nodiscard]] std::vector<std::string> attributes(const std::string& object) const;
  [[nodiscard]] std::optional<Hdf5Value> attribute(const std::string& object,
                                                   const std::string& name) const;
  /// Empty when it is not there, or no text.
  [[nodiscard]] std::string text_attribute(const std::string& object,
                                           const std::string& name) const;
  /// True when `scale` is attached to an axis of a dataset.
  [[nodiscard]] bool has_scale(const std::string& path, unsigned axis,
                               const std::string& scale) const;
  /// What is stored: an enumeration counts as its numbers.
  [[nodiscard]] Hdf5Type type(const std::string& path) const;
  /// Its name, or that of a type that is none of ours.
  [[nodiscard]] std::string type_text(const std::string& path) const;
  [[nodiscard]] Hdf5Type attribute_type(const std::string& object, const std::string& name) const;
  [[nodiscard]] std::vector<std::uint64_t> dims(const std::string& path) const;
  /// The same of a dataset that must have so many axes and no more elements than are stored: a
  /// damaged one may claim any number.
  [[nodiscard]] std::vector<std::uint64_t> shape(const std::string& path, std::size_t rank) const;
  /// Rows `first` .. `first + rows` of the first axis, in `type` whatever the file's number type
  /// is; text as it is stored. They must fill `out`.
  void read_rows(const std::string& path, Hdf5Type type, std::uint64_t first, std::uint64_t rows,
                 std::span<std::byte> out) const;
  [[nodiscard]] std::vector<std::string> read_text(const std::string& path) const;

  template <class T>
  [[nodiscard]] std::vector<T> read_all(const std::string& path, Hdf5Type type) const {
    std::vector<T> out(elements(path));
    const std::vector<std::uint64_t> shape = dims(path);
    if (out.empty()) return out;
    read_rows(path, type, 0, shape.empty() ? 1 : shape[0], std::as_writable_bytes(std::span(out)));
    return out;
  }

 private:
  explicit Hdf5File(std::filesystem::path path);
  /// Names of what is directly in a group and of a kind of H5I_type_t.
  [[nodiscard]] std::vector<std::string> members(const std::string& group, int kind) const;
  [[nodiscard]] std::uint64_t elements(const std::string& path) const;
  [[noreturn]] void fail(const std::string& what) const;
  [[noreturn]] void fail_write(const std::string& what);

  struct GrowingSets;
  /// Of a file that is left alone nothing is closed.
  void leave_alone();

  std::filesystem::path path_;
  std::int64_t id_ = -1;
  std::unique_ptr<GrowingSets> growing_;
};

}  // namespace superstep
