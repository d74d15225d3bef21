#pragma once

#include <set>
#include <string>

#include "report/validation/findings.h"
#include "sim/trace/rows.h"
#include "sim/trace/schema.h"

namespace superstep {

/// What of a trace can be read: the columns that are there as the schema has them.
class SoundColumns {
 public:
  void add(const std::string& path) { paths_.insert(path); }
  [[nodiscard]] bool has(const std::string& path) const { return paths_.contains(path); }
  /// Whether the columns of tables are, but for those that the format got later and the file lacks.
  template <class... Tables>
  [[nodiscard]] bool has_all(const Hdf5File& file, const Tables&... tables) const {
    return (has_table(file, tables) && ...);
  }

 private:
  template <class Table>
  [[nodiscard]] bool has_table(const Hdf5File& file, const Table& table) const {
    bool all = true;
    table.for_each_column([&](const auto& column) {
      const std::string path = table.path_of(column.name);
      all = all && (has(path) || (column.minor != 0 && !file.exists(path)));
    });
    return all;
  }

  std::set<std::string> paths_;
};

/// Checks datasets and attributes one by one: that they are there, their types, units, meanings,
/// axes, lengths and scales.
[[nodiscard]] SoundColumns check_structure(const Hdf5File& file, const RootRow& root,
                                           TraceFindings& findings);

}  // namespace superstep
