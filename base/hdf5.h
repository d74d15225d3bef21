#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"

namespace superstep {

/// Orders names by what stands in front of the number at their end, then by that: `result9` before
/// `result10`.
struct TensorNameLess {
  bool operator()(std::string_view a, std::string_view b) const;
};

/// Named tensors of one file, `arg0`, `result3`, …; f16 is stored as IEEE half, i1 as h5py's
/// boolean enumeration. Strings and groups of other names are ignored.
using TensorFile = std::map<std::string, HostTensor, TensorNameLess>;

/// Whether the data of a dataset of this name and type are of use.
using TensorFilter = std::function<bool(const std::string& name, const TensorType& type)>;

/// Reads the datasets of the root group whose names are `prefix` and a number, as in `arg0`; with
/// an empty prefix every dataset. Those that are not `wanted` come without data. Throws
/// MalformedInput naming the file, the dataset and its type when one of them is of no supported
/// type, or cannot be read, and why; InputOutputError when the file cannot be.
[[nodiscard]] TensorFile read_tensors(const std::filesystem::path& path,
                                      std::string_view prefix = {},
                                      const TensorFilter& wanted = {});

/// Replaces the file, whole or not at all. Throws InputOutputError.
void write_tensors(const std::filesystem::path& path, const TensorFile& tensors);

/// `arg0`, `arg1`, … of a file, for the prefix `arg`, in the order of their numbers. Throws what
/// `read_tensors` throws, and MalformedInput when a number is left out.
[[nodiscard]] std::vector<HostTensor> read_tensor_list(const std::filesystem::path& path,
                                                       std::string_view prefix);
/// What `read_tensor_list` reads, as `write_tensors`.
void write_tensor_list(const std::filesystem::path& path, std::string_view prefix,
                       std::vector<HostTensor> tensors);

}  // namespace superstep
