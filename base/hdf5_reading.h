#pragma once

#include <hdf5.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/hdf5_id.h"

namespace superstep {

/// Opens a file to read it; `flags` as H5Fopen takes them. Throws InputOutputError when the system
/// does not let us; gives an invalid id when that is no file of HDF5, or a damaged one.
[[nodiscard]] Hdf5Id open_hdf5(const std::filesystem::path& path, unsigned flags);

/// Why `open_hdf5` gave an invalid id.
[[nodiscard]] std::string why_not_opened(const std::filesystem::path& path);

/// Why the values of a dataset cannot be read.
[[nodiscard]] std::string why_not_read(hid_t dataset);

/// `64-bit float`, `text`, `compound (complex numbers are compounds)`, …
[[nodiscard]] std::string described_type(hid_t type);

/// Names of a group's links by alphabet; nothing when they cannot be listed.
[[nodiscard]] std::optional<std::vector<std::string>> links_of(hid_t group);

[[nodiscard]] std::vector<std::uint64_t> dims_of(hid_t space);

/// The elements of a dataset; empty when it claims more than what is stored can hold, as damaged
/// ones do. What takes no more than `unstored_bytes` need not be stored.
[[nodiscard]] std::optional<std::uint64_t> elements_of(hid_t dataset,
                                                       std::uint64_t unstored_bytes = 0);

}  // namespace superstep
