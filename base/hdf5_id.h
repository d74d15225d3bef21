#pragma once

#include <hdf5.h>

#include <cstdint>
#include <mutex>
#include <string_view>
#include <utility>

namespace superstep {

/// Owner of one HDF5 identifier; only for the sources of base/ that include <hdf5.h> themselves.
class Hdf5Id {
 public:
  Hdf5Id(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  Hdf5Id(Hdf5Id&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Hdf5Id& operator=(Hdf5Id&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Hdf5Id() { (void)close(); }

  /// False when what was buffered for the object could not be written.
  [[nodiscard]] bool close() { return id_ < 0 || close_(std::exchange(id_, -1)) >= 0; }

  /// Leaves a file open that cannot be written: the library crashes when it closes some of those.
  void abandon() { id_ = -1; }

  /// The identifier, as the library's functions take it.
  operator hid_t() const { return id_; }
  /// Gives the identifier to a caller who closes it.
  [[nodiscard]] hid_t release() { return std::exchange(id_, -1); }
  /// False when the call that made it failed.
  [[nodiscard]] bool operator!() const { return id_ < 0; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

/// Held while the library is used, which is for one thread at a time, and told as its activity. It
/// prints no errors (a failed call says so by what it returns), and does nothing at exit, where it
/// crashes on files that could not be written.
class Hdf5Lock {
 public:
  /// To use it for `object` of a file; `bytes` of its values are read.
  explicit Hdf5Lock(std::string_view object, std::uint64_t bytes);
  Hdf5Lock(const Hdf5Lock&) = delete;
  Hdf5Lock& operator=(const Hdf5Lock&) = delete;
  ~Hdf5Lock();

 private:
  std::unique_lock<std::recursive_mutex> lock_;
};

[[nodiscard]] inline Hdf5Lock hdf5_lock(std::string_view object = {}, std::uint64_t bytes = 0) {
  return Hdf5Lock(object, bytes);
}

/// The errno behind the failure of the last call of the library in this thread; 0 when it had none.
/// The next call forgets it.
[[nodiscard]] int hdf5_errno();

}  // namespace superstep
