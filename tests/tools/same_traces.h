#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "base/hdf5_file.h"
#include "sim/trace/schema.h"

namespace superstep {

inline std::vector<std::byte> bytes_of(const Hdf5File& file, const std::string& path) {
  const Hdf5Type type = file.type(path);
  const std::vector<std::uint64_t> dims = file.dims(path);
  std::size_t bytes = size_of(type);
  for (const std::uint64_t extent : dims) bytes *= extent;
  std::vector<std::byte> out(bytes);
  if (bytes != 0) file.read_rows(path, type, 0, dims.empty() ? 1 : dims[0], out);
  return out;
}

/// Two traces with all of a level are equal, but for the attributes of /provenance.
inline void expect_same_traces(const std::filesystem::path& a, const std::filesystem::path& b,
                               TraceLevel level) {
  const Hdf5File one = Hdf5File::open(a, Hdf5File::Access::kRead);
  const Hdf5File other = Hdf5File::open(b, Hdf5File::Access::kRead);
  for (const TraceColumn& column : trace_columns()) {
    if (column.level > level) continue;
    const std::string path(column.path);
    if (column.type == Hdf5Type::kText) {
      EXPECT_EQ(one.read_text(path), other.read_text(path)) << path;
    } else {
      EXPECT_EQ(bytes_of(one, path), bytes_of(other, path)) << path;
    }
  }
  for (const char* group : {"/", "/summary"}) {
    for (const std::string& name : one.attributes(group))
      EXPECT_EQ(one.attribute(group, name), other.attribute(group, name)) << group << " " << name;
  }
}

}  // namespace superstep
