#include <algorithm>

#include "tests/poplibs/recipe.h"

// Meta-information is laid out as in lib/popsparse/SparseMetaInfo.hpp, for random sparse matrices.
namespace superstep::poplibs {
namespace {

constexpr double kOwnGroup = 5;     ///< sub-group that the vertex works on
constexpr double kOtherGroup = 9;   ///< one that it has to skip
constexpr double kOwnColumns = 17;  ///< partition of columns that a slice works on
constexpr double kFirstRow = 2;     ///< row that a slice's meta-information starts at

/// What is not zero in one row of a sparse matrix: columns, in blocks.
struct Line {
  std::size_t row;
  std::vector<std::size_t> columns;
};
using Lines = std::vector<Line>;

std::size_t ceil_div(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

std::size_t count(const Lines& lines) {
  std::size_t values = 0;
  for (const Line& line : lines) values += line.columns.size();
  return values;
}

/// About half of a matrix, the first row and its first column in any case.
Lines random_lines(Case& run, std::size_t rows, std::size_t columns) {
  Lines lines;
  for (std::size_t row = 0; row < rows; ++row) {
    Line line{row, {}};
    for (std::size_t column = 0; column < columns; ++column) {
      if (run.pick(2) == 0 || row + column == 0) line.columns.push_back(column);
    }
    if (!line.columns.empty()) lines.push_back(line);
  }
  return lines;
}

/// The rows in as many parts.
std::vector<Lines> split(const Lines& lines, std::size_t parts) {
  const std::size_t each = ceil_div(lines.size(), parts);
  std::vector<Lines> found;
  for (std::size_t from = 0; from < lines.size(); from += each) {
    const auto begin = lines.begin() + std::ptrdiff_t(from);
    found.emplace_back(begin, begin + std::ptrdiff_t(std::min(each, lines.size() - from)));
  }
  return found;
}

/// Which meta-information a vertex reads, and what it counts in.
struct Format {
  std::size_t z = 4;           ///< inner dimension of the dense matrices
  std::size_t z_grain = 2;     ///< what workers share it in
  std::size_t bytes = 4;       ///< of inputs: element-wise offsets count bytes
  std::size_t block_rows = 1;  ///< 1 and 1: element-wise
  std::size_t block_columns = 1;
  bool with_gradient_workers = false;  ///< work lists of GradW
  bool with_value_offsets = false;     ///< each column with the place of its value (GradA)

  [[nodiscard]] bool in_blocks() const { return block_rows * block_columns > 1; }
  [[nodiscard]] std::size_t block() const { return block_rows * block_columns; }
};

/// The rows of one sub-group.
struct Entries {
  Entries(const Lines& lines, const Format& format) {
    for (const Line& line : lines) {
      places.push_back(data.size());
      first_values.push_back(values);
      data.push_back(double(line.row * format.block_rows));
      data.push_back(double(line.columns.size() - (format.in_blocks() ? 1 : 0)));
      for (const std::size_t column : line.columns) {
        if (format.with_value_offsets) data.push_back(double(values * format.bytes));
        data.push_back(format.in_blocks() ? double(column * format.block_columns)
                                          : double(column * format.z * format.bytes));
        ++values;
      }
    }
  }
  std::vector<double> data;
  std::vector<std::size_t> places;        ///< of rows in data
  std::vector<std::size_t> first_values;  ///< of rows
  std::size_t values = 0;
};

std::size_t gradient_workers(const Entries& entries) {
  return ceil_div(entries.values, ceil_div(entries.values, kWorkers));
}

/// Work lists of GradW: all values in equal shares. `first` is where the rows start.
void append_gradient_workers(std::vector<double>& group, const Entries& entries, std::size_t first,
                             std::size_t block) {
  const std::size_t each = ceil_div(entries.values, kWorkers);
  for (std::size_t from = 0; from < entries.values; from += each) {
    const auto after =
        std::upper_bound(entries.first_values.begin(), entries.first_values.end(), from);
    const auto line = std::size_t(after - entries.first_values.begin()) - 1;
    const std::vector<double> worker = {
        double(from * block), double(first + entries.places[line] - group.size()),
        double(from - entries.first_values[line]), double(std::min(each, entries.values - from))};
    group.insert(group.end(), worker.begin(), worker.end());
  }
}

std::vector<double> block_group(const Lines& lines, const Format& format) {
  const Entries entries(lines, format);
  const std::size_t workers = format.with_gradient_workers ? gradient_workers(entries) : 0;
  const std::size_t first = 7 + 4 * workers;
  std::vector<double> group = {kOwnGroup,
                               kFirstRow,
                               kOwnColumns,
                               double(entries.values * format.block()),
                               double(first + entries.data.size()),
                               double(lines.size() - 1),
                               double(workers)};
  if (workers > 0) append_gradient_workers(group, entries, first, format.block());
  group.insert(group.end(), entries.data.begin(), entries.data.end());
  return group;
}

std::vector<double> element_group(const Lines& lines, const Format& format) {
  const Entries entries(lines, format);
  // Rows in up to three parts, the inner dimension in up to two.
  const std::size_t rows_each = ceil_div(lines.size(), 3);
  const std::size_t row_parts = ceil_div(lines.size(), rows_each);
  const std::size_t z_each = ceil_div(ceil_div(format.z, format.z_grain), 2) * format.z_grain;
  const std::size_t workers = row_parts * ceil_div(format.z, z_each);
  const std::size_t first =
      9 + 5 * workers + (format.with_gradient_workers ? 1 + 4 * gradient_workers(entries) : 0);
  std::vector<double> group = {kOwnGroup,
                               kFirstRow,
                               kOwnColumns,
                               double(entries.values),
                               double(first + entries.data.size()),
                               double(format.z),
                               double(lines.size() - 1),
                               double(first),
                               double(workers)};
  for (std::size_t z = 0; z < format.z; z += z_each) {
    for (std::size_t row = 0; row < lines.size(); row += rows_each) {
      const std::vector<double> worker = {
          double(format.with_value_offsets ? 0 : entries.first_values[row]),
          double(std::min(z_each, format.z - z)), double(z),
          double(std::min(rows_each, lines.size() - row) - 1),
          double(first + entries.places[row] - group.size())};
      group.insert(group.end(), worker.begin(), worker.end());
    }
  }
  if (format.with_gradient_workers) {
    group.push_back(double(gradient_workers(entries)));
    append_gradient_workers(group, entries, first, 1);
  }
  group.insert(group.end(), entries.data.begin(), entries.data.end());
  return group;
}

/// Meta-information and number of values of one bucket.
struct Bucket {
  std::vector<double> meta;
  std::size_t values = 0;
};

void append_other_group(Case& run, Bucket& bucket, std::size_t values, const Format& format) {
  const std::vector<double> head = {kOtherGroup, 0xffff, 0xffff, double(values * format.block()),
                                    double(values + 5)};
  bucket.meta.insert(bucket.meta.end(), head.begin(), head.end());
  for (std::size_t i = 0; i < values; ++i) bucket.meta.push_back(double(run.pick(0x10000)));
  bucket.values += values * format.block();
}

/// Buckets with sub-groups of others between one or two of the own.
std::vector<Bucket> buckets(Case& run, const Lines& lines, const Format& format, std::size_t number,
                            std::size_t own_groups) {
  std::vector<Bucket> found;
  for (const Lines& part : split(lines, number)) {
    Bucket& bucket = found.emplace_back();
    for (const Lines& own : split(part, own_groups)) {
      append_other_group(run, bucket, 4 + 2 * run.pick(4), format);
      const std::vector<double> group =
          format.in_blocks() ? block_group(own, format) : element_group(own, format);
      bucket.meta.insert(bucket.meta.end(), group.begin(), group.end());
      bucket.values += count(own) * format.block();
    }
    append_other_group(run, bucket, 2, format);
    bucket.meta.push_back(0);
  }
  return found;
}

/// Gives two fields the meta-information and small values.
void fill_buckets(Case& run, const char* meta, const char* values,
                  const std::vector<Bucket>& found) {
  std::vector<std::vector<double>> lists;
  std::vector<std::size_t> sizes;
  for (const Bucket& bucket : found) {
    lists.push_back(bucket.meta);
    sizes.push_back(bucket.values);
  }
  run.element_rows(meta, lists);
  small_integers(run, values, sizes);
}

std::size_t bytes_of(Case& run, const char* field) { return run.state(field).field->element_bytes; }

/// Every third case clears all of a result of so many elements first.
void zeroing(Case& run, std::size_t n, std::size_t elements, const char* field) {
  run.value("zeroInfo", n % 3 == 0 ? double(elements * bytes_of(run, field) / 8) : 0);
}

void elements_product(Case& run, std::size_t n) {
  const bool is_gradient_of_values = run.has("rGrad");
  Format format;
  format.bytes = bytes_of(run, is_gradient_of_values || !is_type(run, "Transpose") ? "s" : "q");
  format.z_grain = 8 / format.bytes;
  format.z = format.z_grain * (1 + n % 5);
  format.with_gradient_workers = is_gradient_of_values;
  format.with_value_offsets = is_type(run, "GradAElementWise");
  const std::size_t rows = 2 + n;
  const std::size_t columns = 4 + n;
  const std::vector<Bucket> found = buckets(run, random_lines(run, rows, columns), format,
                                            is_gradient_of_values ? 1 : 1 + n % 2, 1 + n / 2 % 2);
  small_integers(run, "s", {columns * format.z});
  if (is_gradient_of_values) {
    fill_buckets(run, "metaInfo", "rGrad", found);
    small_integers(run, "qGrad", {rows * format.z});
    run.elements("subGroupIdToProcess", {kOwnGroup});
    run.value("numZ", double(format.z));
    zeroing(run, n, found[0].values / 2 * 2, "rGrad");
    return;
  }
  fill_buckets(run, "metaInfo", "r", found);
  small_integers(run, "q", {rows * format.z});
  run.value("subGroupIdToProcess", kOwnGroup);
  const bool transposed = is_type(run, "Transpose");
  zeroing(run, n, (transposed ? columns : rows) * format.z, transposed ? "s" : "q");
}

Format block_format(Case& run, std::size_t z) {
  Format format;
  format.z = z;
  format.block_rows = type_number(run, 2);
  format.block_columns = type_number(run, 3);
  return format;
}

void blocks_product(Case& run, std::size_t n) {
  const Format format = block_format(run, 1 + n);
  const std::size_t rows = 2 + n % 3;
  const std::size_t columns = 2 + n % 4;
  // The product of the transposed matrix reads what the other writes.
  const bool transposed = is_type(run, "GradA");
  const std::size_t out = transposed ? columns * format.block_columns : rows * format.block_rows;
  const std::size_t in = transposed ? rows * format.block_rows : columns * format.block_columns;
  fill_buckets(run, "metaInfo", "r",
               buckets(run, random_lines(run, rows, columns), format, 1 + n % 2, 1 + n / 2 % 2));
  small_integers(run, "q", {out * format.z});
  small_integers(run, "s", {in * format.z});
  run.value("subGroupIdToProcess", kOwnGroup);
  zeroing(run, n, out * format.z, "q");
  run.value("zStrideInQ", double(out * bytes_of(run, "q") / 8));
  run.value("zStrideInS", double(in * bytes_of(run, "s") / 8));
  std::vector<double> work;
  for (std::size_t worker = 0; worker < kWorkers; ++worker) {
    const WorkerShare share = worker_share(format.z, worker);
    work.insert(work.end(), {double(share.begin), double(share.count)});
  }
  run.elements("offsetAndNumZByWorker", work);
}

void blocks_gradient(Case& run, std::size_t n) {
  const bool amp = is_type(run, "AmpGradW");
  const std::size_t bytes = bytes_of(run, "s");
  Format format = block_format(run, amp ? 32 / bytes * (1 + n % 3) : 1 + n);
  format.with_gradient_workers = true;
  const std::size_t rows = 2 + n % 3;
  const std::size_t columns = 2 + n % 4;
  const std::vector<Bucket> found =
      buckets(run, random_lines(run, rows, columns), format, 1, 1 + n / 2 % 2);
  fill_buckets(run, "metaInfo", "rGrad", found);
  small_integers(run, "qGrad", {rows * format.block_rows * format.z});
  small_integers(run, "s", {columns * format.block_columns * format.z});
  run.elements("subGroupIdToProcess", {kOwnGroup});
  run.value("numZ", double(format.z));
  zeroing(run, n, found[0].values, "rGrad");
  if (!amp) {
    run.value("zStrideInQ", double(rows * format.block_rows * bytes / 8));
    run.value("zStrideInS", double(columns * format.block_columns * bytes / 8));
  }
}

void block_transpose(Case& run, std::size_t n) {
  const std::size_t side = std::size_t{4} << n % 3;
  const std::size_t blocks = 1 + n % 8;
  const std::size_t z = 32 / bytes_of(run, "in") * (1 + n % 2);
  run.value("blockSizeXOrY", double(side));
  run.value("numXOrYBlocks", double(blocks));
  run.value("numZ", double(z));
  run.value("maxXOrYBlocksPerWorker", double(ceil_div(blocks, kWorkers)));
  run.random("in", {z * side * blocks}, -4, 4);
  run.random("out", {z * side * blocks}, -4, 4);
}

/// Rows of a sparse matrix to a dense one, or the other way round.
void slice(Case& run, std::size_t n, const Format& format, std::size_t block_columns_of_matrix) {
  const std::size_t rows = 2 + n % 7;
  const bool update = is_type(run, "UpdateAdd");
  fill_buckets(run, "baseTMetaInfo", "baseTNZ",
               buckets(run, random_lines(run, rows, block_columns_of_matrix), format, 1 + n % 2,
                       1 + n / 2 % 2));
  const std::size_t columns = block_columns_of_matrix * format.block_columns;
  const std::size_t slices = 1 + n % 9;
  run.random("offsets", {slices}, kFirstRow, kFirstRow + double(rows * format.block_rows) - 1);
  small_integers(run, "subT", {slices * columns});
  run.value("rowsPerPartition", 1);
  run.value("subColumns", double(columns));
  run.value("numOffsets", double(slices));
  if (update) {
    run.elements("yPartitionToProcess", {kOwnColumns});
    run.elements("scale", {2});
  } else {
    run.value("yPartitionToProcess", kOwnColumns);
  }
}

void element_slice(Case& run, std::size_t n) {
  Format format;
  format.bytes = bytes_of(run, "subT");
  format.with_gradient_workers = true;
  run.value("nzScaleFactor", double(1 + 0x10000 / format.z));
  slice(run, n, format, 4 + 2 * n);
}

void block_slice(Case& run, std::size_t n) {
  Format format;
  format.with_gradient_workers = true;
  format.block_rows = 2 + n % 3;
  const bool update = is_type(run, "UpdateAdd");
  // How many columns decides which of the vertices is used.
  const std::size_t bytes = bytes_of(run, "baseTNZ");
  const bool vectors = update && type_argument(run, 1) == "true";
  const std::size_t align = update ? (vectors ? 8 : 4) : type_number(run, 1);
  format.block_columns = align / bytes * (align == 8 ? 1 + n % 4 : 1 + n % 4 * 2);
  run.value("blockRows", double(format.block_rows));
  run.value("blockColumns", double(format.block_columns));
  slice(run, n, format, 2 + 2 * (n % 5));
}

void gather(Case& run, std::size_t n) {
  const std::size_t bytes = bytes_of(run, "rIn");
  const std::size_t vector = 8 / bytes;
  const std::size_t vectors = n / vector;
  run.value("numIndices", double(vectors / kWorkers * vector + n % vector));
  // One bit a worker that has one vector more, the first worker's last.
  double more = 0;
  for (std::size_t worker = 0; worker < kWorkers; ++worker) {
    more = 2 * more + (worker < vectors % kWorkers ? 1 : 0);
  }
  run.value("workerOffsets", more);
  std::vector<double> indices;
  for (std::size_t i = 0; i < n; ++i) indices.push_back(double(run.pick(n) * bytes));
  run.elements("indices", indices);
  run.random("rIn", {n}, -4, 4);
  run.random("rOut", {n}, -4, 4);
}

/// Rows are shared among the workers, the inner dimension of few rows too.
void static_elements(Case& run, std::size_t n) {
  const std::size_t bytes = bytes_of(run, "in");
  const std::size_t z = 8 / bytes * (1 + n % 5);
  const std::size_t columns = 4 + n;
  const Lines lines = random_lines(run, 1 + n, columns);
  const std::size_t z_parts = lines.size() <= 3 && z % 8 == 0 ? 2 : 1;
  const std::size_t groups = kWorkers / z_parts;
  const std::size_t rows_each = ceil_div(lines.size(), groups);
  std::vector<double> work(6 * kWorkers);
  std::size_t values = 0;
  for (std::size_t group = 0; group * rows_each < lines.size(); ++group) {
    const std::size_t begin = group * rows_each;
    const std::size_t end = std::min(begin + rows_each, lines.size());
    for (std::size_t part = 0; part < z_parts; ++part) {
      const std::vector<double> head = {
          double(end - begin), double(work.size()),        double(values),
          double(z / z_parts), double(part * z / z_parts), double(begin)};
      const std::size_t worker = part * groups + group;
      std::copy(head.begin(), head.end(), work.begin() + std::ptrdiff_t(6 * worker));
    }
    for (std::size_t row = begin; row < end; ++row) {
      work.push_back(double(lines[row].columns.size() - (bytes == 2 ? 1 : 0)));
      for (const std::size_t column : lines[row].columns) {
        work.push_back(double(column * z * bytes));
      }
      values += lines[row].columns.size();
    }
  }
  run.elements("workList", work);
  run.value("numZ", double(z));
  small_integers(run, "in", {columns * z});
  small_integers(run, "nz", {values});
  small_integers(run, "out", {lines.size() * z});
}

/// Offsets count 8 bytes of one row of blocks.
/// A size with 16 columns of the result for each worker, as the planner would have them.
constexpr std::size_t kWideStatic = 96;

void static_blocks(Case& run, std::size_t n) {
  const bool wide = n == kWideStatic;
  const std::size_t side = type_number(run, 2);
  const std::size_t bytes = bytes_of(run, "s");
  // Rows begin at whole offsets.
  const std::size_t z = wide ? n : 8 / bytes * (1 + n % 5);
  const std::size_t columns = wide ? 8 : 2 + n % 4;
  const Lines lines = random_lines(run, wide ? 8 : 2 + n % 3, columns);
  std::vector<double> work;
  for (std::size_t worker = 0; worker < kWorkers; ++worker) {
    const WorkerShare share = worker_share(z, worker);
    work.insert(work.end(), {double(share.begin), double(share.count)});
  }
  work.push_back(double(lines.size() - 1));
  for (std::size_t row = 0; row < lines.size(); ++row) {
    work.push_back(double(row * z * bytes_of(run, "q") / 8));
    work.push_back(double(lines[row].columns.size() - 1));
    for (const std::size_t column : lines[row].columns) {
      work.push_back(double(column * z * bytes / 8));
    }
  }
  run.elements("metaInfo", work);
  const std::size_t out = lines.size() * side * z;
  const std::size_t in = columns * side * z;
  run.value("zeroInfo", double(out * bytes_of(run, "q") / 8));
  run.value("sSize", double(in * bytes / 8));
  small_integers(run, "r", {count(lines) * side * side});
  // Vertices clear 16 bytes behind s, which they may read, and may write behind q
  // (lib/popsparse/StaticMatMul.cpp).
  small_integers(run, "s", {in + 16 / bytes});
  std::vector<std::uint8_t>& padded = run.state("s").rows[0].bytes;
  std::fill(padded.end() - 16, padded.end(), std::uint8_t{0});
  small_integers(run, "q", {out + side * 8 / bytes_of(run, "q")});
}

}  // namespace

void add_popsparse(Recipes& recipes) {
  const std::vector<std::size_t> sizes = {1, 2, 3, 5, 8, 13, 24, 28};
  const auto add = [&](const char* name, void (*fill)(Case&, std::size_t)) {
    recipes[std::string("popsparse::") + name] = {sizes, fill};
  };
  for (const char* name :
       {"SparseDenseMatMulElementWise", "SparseDenseMatMulElementWiseTranspose",
        "SparseDenseMatMulGradAElementWise", "SparseDenseMatMulGradWElementWise"}) {
    add(name, elements_product);
  }
  add("SparseDenseMatMulBlock", blocks_product);
  add("SparseDenseMatMulBlockGradA", blocks_product);
  add("SparseDenseMatMulBlockGradW", blocks_gradient);
  add("SparseDenseMatMulBlockAmpGradW", blocks_gradient);
  add("BlockTransposeGradW", block_transpose);
  add("SparseDenseMultiSliceElementWise", element_slice);
  add("SparseDenseMultiUpdateAddElementWise", element_slice);
  add("SparseDenseMultiSliceBlock", block_slice);
  add("SparseDenseMultiUpdateAddBlock", block_slice);
  add("StaticSparseDenseElementWise", static_elements);
  add("StaticSparseDenseMatMulBlock", static_blocks);
  recipes["popsparse::StaticSparseDenseMatMulBlock"].sizes.push_back(kWideStatic);
  recipes["popsparse::SparseGatherElementWise"] = {kSizes, gather};
}

}  // namespace superstep::poplibs
