#include "report/validation/structure.h"

#include <algorithm>
#include <map>

#include "base/format_version.h"
#include "sim/trace/table_file.h"

namespace superstep {
namespace {

/// Whether values of a type are read as those of the schema's: earlier formats had narrower ones.
bool is_read_as(const std::string& type, Hdf5Type schema) {
  for (const Hdf5Type unsigned_type :
       {Hdf5Type::kU8, Hdf5Type::kU16, Hdf5Type::kU32, Hdf5Type::kU64}) {
    if (type == name_of(unsigned_type) && name_of(schema).starts_with('u')) {
      return size_of(unsigned_type) <= size_of(schema);
    }
  }
  return type == name_of(schema);
}

/// The length that most columns have along each axis.
std::map<std::string, std::uint64_t> lengths_of(const Hdf5File& file) {
  std::map<std::string, std::map<std::uint64_t, unsigned>> counts;
  for (const TraceColumn& column : trace_columns()) {
    if (!file.exists(column.path) || !is_read_as(file.type_text(column.path), column.type))
      continue;
    const std::vector<std::string> axes = axes_of(column.axes);
    const std::vector<std::uint64_t> dims = file.dims(column.path);
    for (std::size_t a = 0; a < std::min(axes.size(), dims.size()); ++a) ++counts[axes[a]][dims[a]];
  }
  std::map<std::string, std::uint64_t> lengths;
  for (const auto& [axis, of_axis] : counts) {
    lengths[axis] = std::ranges::max_element(of_axis, {}, [](const auto& count) {
                      return count.second;
                    })->first;
  }
  return lengths;
}

class StructureCheck {
 public:
  StructureCheck(const Hdf5File& file, const RootRow& root, TraceFindings& findings)
      : file_(file), root_(root), findings_(findings), lengths_(lengths_of(file)) {}

  SoundColumns columns() {
    SoundColumns sound;
    for (const TraceColumn& column : trace_columns()) {
      if (!file_.exists(column.path)) {
        const bool is_missing =
            is_due(root_, column.path, column.level, column.minor, column.grows);
        findings_.expect(!is_missing, [&] { return column.path + " is missing"; });
        continue;
      }
      // What cannot be read is one problem, whatever else is wrong with it.
      try {
        if (check(column)) sound.add(column.path);
      } catch (const std::exception& error) {
        findings_.add_failure(column.path, error);
      }
    }
    return sound;
  }

  void attributes() {
    for (const TraceAttribute& attribute : trace_attributes()) {
      if (!is_due(root_, attribute.object, TraceLevel::kSummary, attribute.minor, false)) continue;
      const std::string object(attribute.object), name(attribute.name);
      const bool is_there = file_.exists(object) && file_.attribute(object, name);
      const auto named = [&] { return fmt::format("attribute {} of {}", name, object); };
      if (!findings_.expect(is_there, [&] { return named() + " is missing"; })) continue;
      try {
        const Hdf5Type type = file_.attribute_type(object, name);
        findings_.expect(type == attribute.type, [&] {
          return fmt::format("{} has the type {}, not {}", named(), name_of(type),
                             name_of(attribute.type));
        });
      } catch (const std::exception& error) {
        findings_.add_failure(named(), error);
      }
    }
  }

 private:
  /// Whether values can be read as the schema has them.
  bool check(const TraceColumn& column) {
    const std::string& path = column.path;
    const std::string type = file_.type_text(path);
    const bool has_type = findings_.expect(is_read_as(type, column.type), [&] {
      return fmt::format("{} has the type {}, not {}", path, type, name_of(column.type));
    });
    const std::vector<std::string> axes = axes_of(column.axes);
    const std::vector<std::uint64_t> dims = file_.dims(path);
    const bool has_rank = findings_.expect(dims.size() == axes.size(), [&] {
      return fmt::format("{} has {} axes, not {}: {}", path, dims.size(), axes.size(), column.axes);
    });
    describe(column);
    if (!has_type || !has_rank) return false;
    (void)file_.shape(path, axes.size());  // throws where it claims more than is stored
    if (column.type == Hdf5Type::kText) (void)file_.read_text(path);
    bool has_lengths = true;
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
      has_lengths = check_length(column, axes[axis], dims[axis], axis == 0) && has_lengths;
      if (root_.complete) check_scale(column, axes[axis], static_cast<unsigned>(axis));
    }
    return has_lengths;
  }

  void describe(const TraceColumn& column) {
    const std::string& path = column.path;
    const auto check_text = [&](const char* name, std::string_view expected) {
      const std::string found = file_.text_attribute(path, name);
      findings_.expect(found == expected, [&] {
        return fmt::format("{} has {} '{}', not '{}'", path, name, found, expected);
      });
    };
    check_text("units", column.unit.empty() ? "1" : column.unit);
    check_text("axes", column.axes);
    findings_.expect(!file_.text_attribute(path, "long_name").empty(),
                     [&] { return path + " has no long_name"; });
  }

  /// Columns along an axis are as long as most of them. What grows and is not finished is written
  /// one column after the other.
  bool check_length(const TraceColumn& column, const std::string& axis, std::uint64_t length,
                    bool is_first) {
    if (column.grows && is_first && !root_.complete) return true;
    return findings_.expect(length == lengths_[axis], [&] {
      return fmt::format("{} has {} along {}, which others have {} of", column.path, length, axis,
                         lengths_[axis]);
    });
  }

  void check_scale(const TraceColumn& column, const std::string& axis, unsigned number) {
    const std::string scale(scale_of(axis));
    if (scale.empty() || scale == column.path || !file_.exists(scale)) return;
    findings_.expect(file_.has_scale(column.path, number, scale), [&] {
      return fmt::format("{} does not have {} as the dimension scale of its axis {}", column.path,
                         scale, axis);
    });
    // netCDF looks for it in the group of the data, where later formats have it too.
    constexpr unsigned kScalesBeside = 2;
    if (minor_of(root_.format_version) < kScalesBeside) return;
    const std::string beside =
        column.path.substr(0, column.path.rfind('/')) + scale.substr(scale.rfind('/'));
    const bool is_beside = file_.exists(beside) && file_.identity(beside) == file_.identity(scale);
    findings_.expect(is_beside, [&] {
      return fmt::format("{} has no scale of its axis {} beside it: {} is not {}", column.path,
                         axis, beside, scale);
    });
  }

  const Hdf5File& file_;
  const RootRow& root_;
  TraceFindings& findings_;
  std::map<std::string, std::uint64_t> lengths_;
};

}  // namespace

SoundColumns check_structure(const Hdf5File& file, const RootRow& root, TraceFindings& findings) {
  StructureCheck check(file, root, findings);
  check.attributes();
  return check.columns();
}

}  // namespace superstep
