#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/error.h"
#include "tools/codelet_run.h"

namespace superstep {

/// A vector in tile memory that fields of the vertex state point to.
struct CodeletTensor {
  std::string name;
  SourceLocation where;
  HostTensor value;
  std::uint32_t region = 1;
  std::uint32_t alignment = 8;  ///< bytes
  std::uint32_t offset = 0;     ///< bytes beyond a multiple of `alignment`
  std::optional<std::uint32_t> address;
  std::vector<std::string> apart;  ///< tensors that must share no memory element with it
};

/// A field of the vertex state: numbers, one vector, or a vector of vectors.
struct CodeletField {
  std::string name;
  SourceLocation where;
  std::string type;
  std::vector<std::uint64_t> numbers;  ///< their bits
  std::size_t number_bytes = 0;        ///< 0 for a pointer
  std::vector<std::string> tensors;
  std::string inner;  ///< layout of the vectors of a vector
};

/// What `superstep run-codelet` reads (docs/run-codelet.md).
struct CodeletSpec {
  std::string machine = "gc200";
  std::vector<std::filesystem::path> sources;
  std::vector<std::string> includes;
  std::vector<std::string> defines;
  std::string entry;
  CodeletKind kind = CodeletKind::kWorker;
  std::uint32_t fp_control = 0;
  std::vector<CodeletField> fields;
  std::vector<CodeletTensor> tensors;  ///< in the order of the file
  std::vector<std::string> print;      ///< tensors; those that changed when it is empty
};

/// Throws MalformedInput with every problem of the file, located.
[[nodiscard]] CodeletSpec read_codelet_spec(const std::filesystem::path& path);

}  // namespace superstep
