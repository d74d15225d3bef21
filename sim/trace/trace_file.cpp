#include "sim/trace/trace_file.h"

#include <fmt/format.h>

#include <new>
#include <stdexcept>
#include <utility>

#include "base/error.h"
#include "sim/trace/progress.h"
#include "sim/trace/schema.h"
#include "sim/trace/trace.h"

namespace superstep {
namespace {

UserError damaged(const std::filesystem::path& path, std::string_view why) {
  return {ExitCode::kDamagedTrace, {Problem{{path.string(), 0, 0}, std::string(why)}}};
}

/// Opens a trace, finished or not, and makes sure that it is one of ours.
Hdf5File open_ours(const std::filesystem::path& path) {
  const std::filesystem::path part = trace_part(path);
  if (!std::filesystem::exists(path) && std::filesystem::exists(part)) {
    throw InputOutputError(path.string(),
                           fmt::format("is not there, but {} is: the run lasts, or was killed; "
                                       "that can be read, and repaired by `superstep trace repair`",
                                       part.string()));
  }
  const auto open = [&] {
    try {
      return Hdf5File::open(path, Hdf5File::Access::kRead);
    } catch (const std::runtime_error&) {
      // A file that a writer has open, or had when it was killed, opens this way only.
      return Hdf5File::open(path, Hdf5File::Access::kSwmrRead);
    }
  };
  Hdf5File file = open();
  const RootRow root = read_attributes(file, kRootAttributes);
  if (root.format != kTraceFormat) {
    throw damaged(path, "is an HDF5 file but not a Superstep trace");
  }
  const std::string& version = root.format_version;
  const auto major = [](std::string_view v) { return v.substr(0, v.find('.')); };
  if (major(version) != major(kTraceVersion)) {
    throw damaged(path, fmt::format("has trace format {}, this version reads {}.x", version,
                                    major(kTraceVersion)));
  }
  return file;
}

/// What a trace of its level lacks is damage, not a lower level.
void check_has_columns(const Hdf5File& file) {
  const RootRow root = read_attributes(file, kRootAttributes);
  for (const TraceColumn& column : trace_columns()) {
    const bool is_missing = is_due(root, column.path, column.level, column.minor, column.grows) &&
                            !file.exists(column.path);
    if (is_missing) throw Hdf5Error("is damaged: " + column.path + " is missing");
  }
}

}  // namespace

void guard_trace(const std::filesystem::path& path, const std::function<void()>& body) {
  try {
    body();
  } catch (const UserError&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    std::string why = error.what();
    const std::string prefix = path.string() + ": ";
    if (why.starts_with(prefix)) why.erase(0, prefix.size());
    throw damaged(path, why);
  }
}

Hdf5File open_trace(const std::filesystem::path& path) {
  std::optional<Hdf5File> file;
  guard_trace(path, [&] { file = open_ours(path); });
  return std::move(*file);
}

TraceFile::TraceFile(std::filesystem::path path, bool may_lack)
    : TraceFile(path, open_trace(path), may_lack) {}

TraceFile::TraceFile(std::filesystem::path path, Hdf5File file, bool may_lack)
    : path_(std::move(path)), file_(std::move(file)) {
  guard_trace(path_, [&] {
    if (!may_lack) check_has_columns(file_);
    rows_ = whole_rows(file_);
  });
}

void TraceFile::for_each_superstep(std::uint64_t first, std::uint64_t count,
                                   const std::function<void(const SuperstepInFile&)>& visit) const {
  guard_trace(path_, [&] { superstep::for_each_superstep(file_, rows_, first, count, visit); });
}

std::vector<std::string> TraceFile::read_text(const std::string& column) const {
  std::vector<std::string> text;
  guard_trace(path_, [&] { text = file_.read_text(column); });
  return text;
}

}  // namespace superstep
