#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/dtype.h"

namespace superstep {

/// Named tensors of one file, `arg0`, `result3`, …; f16 is stored as IEEE half, i1 as h5py's
/// boolean enumeration, strings and groups are ignored.
using TensorFile = std::map<std::string, HostTensor>;

/// Reads every dataset of the root group. Throws MalformedInput naming the file, the dataset and
/// its type when one is of no supported type.
[[nodiscard]] TensorFile read_tensors(const std::filesystem::path& path);

/// Replaces the file.
void write_tensors(const std::filesystem::path& path, const TensorFile& tensors);

}  // namespace superstep
