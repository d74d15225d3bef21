#include "sim/trace/table_file.h"

#include <algorithm>
#include <iterator>
#include <sstream>

namespace superstep {
namespace {

void describe(Hdf5File& file, const TraceColumn& column) {
  // Texts have a unit too, so that every dataset can be asked for one.
  file.set_attribute(column.path, "units", std::string(column.unit.empty() ? "1" : column.unit));
  file.set_attribute(column.path, "long_name", std::string(column.meaning));
  file.set_attribute(column.path, "axes", std::string(column.axes));
}

/// Rows of a chunk of so many rows, 0 for a dataset in one piece.
std::uint64_t chunk_rows_of(const TraceColumn& column, std::uint64_t rows) {
  if (column.grows && column.level >= TraceLevel::kVertex) return kDetailChunk;
  if (column.grows) return column.is_profile() ? kProfileChunk : kSuperstepChunk;
  // Long tables are worth compressing.
  constexpr std::uint64_t kLong = 4096;
  return rows > kLong ? kLong : 0;
}

void make(Hdf5File& file, const TraceColumn& column, std::vector<std::uint64_t> dims,
          std::uint64_t chunk_rows) {
  Hdf5Layout layout{.type = column.type, .chunk_rows = chunk_rows};
  if (column.grows) dims[0] = 0;
  layout.dims = std::move(dims);
  for (std::size_t n = 0; n < column.names.size(); ++n) {
    layout.names.emplace_back(column.names[n], static_cast<std::uint8_t>(n));
  }
  layout.text_bytes = kTextBytes;
  file.make_dataset(column.path, layout);
  describe(file, column);
}

}  // namespace

void make_dataset(Hdf5File& file, const TraceColumn& column, std::vector<std::uint64_t> dims) {
  const std::uint64_t chunk_rows = chunk_rows_of(column, dims[0]);
  make(file, column, std::move(dims), chunk_rows);
}

void make_unfinished(Hdf5File& file, const TraceColumn& column, std::size_t used_tiles) {
  if (!column.axes.ends_with("used_tile")) return make(file, column, {0}, kSuperstepChunk);
  // A flush compresses the whole of a chunk that it adds to: no more than one of a superstep column
  // has, but eight rows, since those that are alike take less together.
  constexpr std::uint64_t kLeast = 8;
  const std::uint64_t rows = kSuperstepChunk / std::max<std::uint64_t>(used_tiles, 1);
  make(file, column, {0, used_tiles}, std::clamp(rows, kLeast, kProfileChunk));
}

void write_text(Hdf5File& file, const TraceColumn& column, const std::vector<std::string>& text) {
  file.write_text(column.path, text);
  describe(file, column);
}

void copy_column(const Hdf5File& from, Hdf5File& to, const TraceColumn& column,
                 std::uint64_t rows) {
  if (column.type == Hdf5Type::kText && !column.grows) {
    return write_text(to, column, from.read_text(column.path));
  }
  const std::vector<std::uint64_t> dims = from.shape(column.path, axes_of(column.axes).size());
  make_dataset(to, column, dims);
  std::size_t row_bytes = column.type == Hdf5Type::kText ? kTextBytes : size_of(column.type);
  for (std::size_t axis = 1; axis < dims.size(); ++axis) row_bytes *= dims[axis];
  std::vector<std::byte> block;
  const auto read = [&](std::uint64_t first, std::uint64_t count) {
    block.resize(count * row_bytes);
    from.read_rows(column.path, column.type, first, count, block);
  };
  if (!column.grows) {
    if (dims[0] * row_bytes == 0) return;
    read(0, dims[0]);
    to.write(column.path, block.data());
    return;
  }
  const std::uint64_t chunk = chunk_rows_of(column, rows);
  for (std::uint64_t first = 0; first < rows; first += chunk) {
    const std::uint64_t count = std::min(chunk, rows - first);
    read(first, count);
    to.append(column.path, block.data(), count);
  }
}

std::vector<std::string> axes_of(std::string_view text) {
  std::istringstream in{std::string(text)};
  return {std::istream_iterator<std::string>(in), {}};
}

}  // namespace superstep
