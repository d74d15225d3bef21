#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace superstep {

/// A dataset as a trace has it, by its own attributes.
struct ListedDataset {
  std::string path, type;
  std::vector<std::uint64_t> shape;
  std::string axes, unit, meaning;
  std::string same_as;  ///< the first path of the same dataset, or empty
};

/// A part of the schema that a trace does not have.
struct MissingPart {
  std::string name;    ///< a path; of an attribute `GROUP@NAME`
  std::string reason;  ///< of its format or level; empty where nothing explains it
};

/// What is in a trace, finished or not.
struct TraceListing {
  std::string format_version, level;
  bool complete = false;
  std::vector<ListedDataset> datasets;  ///< groups one after the other, names in order
  std::vector<MissingPart> missing;     ///< in the order of the schema
};

/// Throws UserError (damaged trace) for a file that is none of ours.
[[nodiscard]] TraceListing list_trace(const std::filesystem::path& path);

/// A listing as text: groups as a tree, then what is missing.
[[nodiscard]] std::string listing_text(const TraceListing& listing);
/// The same as fields of a document.
[[nodiscard]] nlohmann::ordered_json listing_document(const TraceListing& listing);

}  // namespace superstep
