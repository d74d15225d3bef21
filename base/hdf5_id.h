#pragma once

#include <hdf5.h>

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
  ~Hdf5Id() {
    if (id_ >= 0) close_(id_);
  }

  /// The identifier, as the library's functions take it.
  operator hid_t() const { return id_; }
  /// False when the call that made it failed.
  [[nodiscard]] bool operator!() const { return id_ < 0; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

/// Turns off the library's own printing of errors: a failed call says so by what it returns.
inline void hdf5_silence() { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

}  // namespace superstep
