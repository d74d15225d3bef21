#include <algorithm>

#include "tests/poplibs/recipe.h"

namespace superstep::poplibs {
namespace {

void fill(Case& run, std::size_t n) {
  const Element element = run.state("in").field->element;
  run.random("in", {1}, element == Element::kBool ? 0 : -100, element == Element::kBool ? 1 : 100);
  fill_rest(run, n, -100, 100);
}

void unary(Case& run, std::size_t n) {
  if (run.has("n")) run.value("n", double(n));
  const bool positive = is_type(run, "SQRT") || is_type(run, "LOGARITHM");
  fill_rest(run, n, positive ? 0.125 : -4, 4);
}

void binary(Case& run, std::size_t n) {
  // In place, there is work only where the selector is false.
  if (run.whole() && is_type(run, "BroadcastSelectorSelect")) run.elements("in3", {0});
  fill_rest(run, n, -4, 4);
}

/// A variance or an inverse deviation, and a small epsilon.
void scalar(Case& run, std::size_t n) {
  if (is_type(run, "STD_DEV")) {
    run.elements("B", {0.0078125});
    fill_rest(run, n, 0.5, 4);
  } else {
    fill_rest(run, n, -4, 4);
  }
}

void outer(Case& run, std::size_t n) {
  const bool any_alignment = is_type(run, ",true>");
  const std::size_t rows = run.whole() ? 8 : 1 + n % 9;
  const std::size_t columns = run.whole() ? n / rows : any_alignment ? n : 8 * n;
  run.value("rows", double(rows));
  run.value("columns", double(columns));
  run.random("B", {rows}, -4, 4);
  fill_rest(run, rows * columns, -4, 4);
}

void clamp(Case& run, std::size_t n) {
  const bool broadcast = run.state("in2").field->shape == Shape::kPointer;
  const std::vector<std::size_t> sizes =
      broadcast ? std::vector<std::size_t>{1} : row_lengths(run, n);
  run.random("in2", sizes, -2, 0);
  run.random("in3", sizes, 0, 2);
  fill_rest(run, n, -4, 4);
}

void scaled(Case& run, std::size_t n) {
  if (run.has("size")) run.value("size", double(n));
  if (run.has("tolerance")) run.value("tolerance", 1e-6);
  for (const char* scale : {"scaleA", "scaleB"}) {
    if (run.has(scale)) run.random(scale, {1}, -2, 2);
  }
  fill_rest(run, n, -4, 4);
}

void scalar_multiply(Case& run, std::size_t n) {
  run.value("tolerance", 1e-6);
  run.random("in2", {1}, -2, 2);
  fill_rest(run, n, -4, 4);
}

void loop_counter(Case& run, std::size_t n) {
  run.value("increment", 3);
  run.elements("count", {double(n)});
  run.elements("limit", {double(n % 2 == 0 ? n + 3 : n + 40)});
  fill_rest(run, 1, 0, 1);
}

void has_nan_2d(Case& run, std::size_t n) {
  fill_rest(run, n, -4, 4);
  if (n % 3 == 0 && !run.whole()) run.state("in").rows.back().bytes.back() = 0x7f;
}

void has_nan_1d(Case& run, std::size_t n) {
  const std::size_t per_eight = run.state("in").field->element_bytes == 2 ? 4 : 2;
  const std::size_t eights = n / per_eight;
  run.value("sizeIn8BytesPerWorker", double(eights / 6));
  run.value("remWorkerId", double(eights % 6));
  run.value("remWorkerExtras", double(n % per_eight));
  run.elements("outSetIfFound", {0});
  run.random("in", {n}, -4, 4);
  if (n % 3 == 0 && !run.whole()) {
    std::vector<std::uint8_t>& bytes = run.state("in").rows[0].bytes;
    bytes[bytes.size() - 1] = 0x7f;
    bytes[bytes.size() - 2] = 0xff;
  }
}

void one_hot(Case& run, std::size_t n) {
  run.value("offset", 2);
  const std::size_t rows = 3;
  run.random("indices", {rows}, 0, double(n));
  run.value("sliceLength", double(n));
  run.random("out", {rows * n}, 0, 0);
}

void histogram(Case& run, std::size_t n) {
  const std::size_t bins = 7;
  run.value("histogramCount", double(bins));
  run.elements("limits", {-3, -2, -1, 0, 1, 2});
  run.random("histogram", {bins}, 0, 0);
  if (is_type(run, "Histogram1D") && type_argument(run, 2) == "false") {
    // Workers that share the data have a row each; the first one is the result.
    run.random("histogram", {kWorkers * bins}, 0, 0);
    run.state("histogram").compared = bins;
  }
  fill_rest(run, n, -4, 4);
}

/// Slices of 8-bit elements are whole words.
std::size_t slice_length(Case& run, std::size_t n) {
  return run.state("baseT").field->element_bytes == 1 ? (n + 3) / 4 * 4 : n;
}

void slice_1d(Case& run, std::size_t size) {
  const std::size_t n = slice_length(run, size);
  const std::size_t base = 6;
  const std::size_t sub = 1 + n % 3;
  run.elements("offset", {double(n % base)});
  run.value("numBaseElements", double(base));
  run.value("numSubElements", double(sub));
  run.value("regionSize", double(n));
  run.random("baseT", {base * n}, 0, 100);
  run.random("subT", {sub * n}, 0, 100);
}

void slice_2d(Case& run, std::size_t size) {
  // The length of rows of 8 bits has 11.
  const bool too_long = run.whole() && run.state("baseT").field->element_bytes == 1;
  const std::size_t n = too_long ? size / 2 - kWorkers * 8 : slice_length(run, size);
  const std::size_t base = 6;
  const std::size_t sub = 1 + n % 3;
  run.elements("offset", {double(n % base)});
  run.value("numBaseElements", double(base));
  run.value("numSubElements", double(sub));
  const std::vector<std::size_t> regions =
      run.whole() ? row_lengths(run, n) : std::vector<std::size_t>{n, 1, n + 4, 8};
  run.value("numRegions", double(regions.size()));
  std::vector<std::size_t> bases;
  std::vector<std::size_t> subs;
  for (const std::size_t region : regions) {
    bases.insert(bases.end(), base, region);
    subs.insert(subs.end(), sub, region);
  }
  run.random("baseT", bases, 0, 100);
  run.random("subT", subs, 0, 100);
}

void multi_slice(Case& run, std::size_t size) {
  // Updates of f16 work on pairs.
  const bool operation = is_type(run, "UpdateOp");
  const bool pairs = operation && run.state("baseT").field->element_bytes == 2;
  // Offsets, of 4 bytes, count for the size of a case.
  const std::size_t whole_slice = size / kWorkers * 4 / run.state("baseT").field->element_bytes;
  const std::size_t n = run.whole() ? whole_slice
                        : pairs     ? (size + 1) / 2 * 2
                                    : slice_length(run, size);
  const std::size_t base = 9;
  const std::size_t indices = 13;
  run.value("baseOffset", 2);
  run.value("numBaseElements", double(base));
  run.value("regionSize", double(n));
  if (run.has("splitSingleRegion")) run.value("splitSingleRegion", 0);
  if (run.has("maxElementsPerWorker")) {
    const std::size_t shared = is_type(run, "MultiSlice") ? indices : base;
    // Estimators charge one worker with all.
    const std::size_t sharing = run.whole() ? 1 : kWorkers;
    run.value("maxElementsPerWorker", double((shared + sharing - 1) / sharing));
  }
  std::vector<double> offsets;
  for (std::size_t i = 0; i < indices; ++i) {
    offsets.push_back(run.whole() ? double(2 + run.pick(base)) : double(run.pick(base + 4)));
  }
  const bool sorted = size % 2 == 0 && !run.whole();
  if (sorted) std::sort(offsets.begin(), offsets.end());
  run.value("indicesAreSorted", sorted ? 1 : 0);
  run.elements("offsets", offsets);
  if (run.has("scale")) run.random("scale", {1}, -2, 2);
  run.random("baseT", {base * n}, 0, 4);
  run.random("subT", {indices * n}, 0, 4);
}

/// Of a whole case: a group of channels.
constexpr std::size_t kWholeSlice = 16;

/// B is added to (or multiplies, divides) each slice of the data.
void inner_1d(Case& run, std::size_t size) {
  const std::size_t n = run.whole() ? kWholeSlice : size;
  const std::size_t factor = run.whole() ? std::max<std::size_t>(size / n, 1)
                             : n > 1000  ? 12
                                         : 1 + n % 7;
  run.value("bBroadcastFactor", double(factor));
  run.value("bSliceLen", double(n));
  run.value("bSlicesM1", 0);
  run.random("B", {n}, 0.5, 4);
  fill_rest(run, n * factor, -4, 4);
}

void inner_2d(Case& run, std::size_t n) {
  std::vector<std::size_t> lengths = {n, 1, n + 5};
  std::vector<std::size_t> factors = {3, 5, 2};
  if (run.whole()) {
    lengths.assign(run.whole_rows, kWholeSlice);
    factors.assign(run.whole_rows, std::max<std::size_t>(n / kWorkers / kWholeSlice, 1));
  }
  std::vector<std::size_t> sizes;
  std::vector<double> work = {double(lengths.size() - 1)};
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    work.push_back(double(lengths[i]));
    work.push_back(double(factors[i]));
    sizes.push_back(lengths[i] * factors[i]);
  }
  run.elements("workList", work);
  run.random("B", lengths, 0.5, 4);
  run.random("data", sizes, -4, 4);
  if (run.has("out")) run.random("out", sizes, -4, 4);
}

/// Part of a bitonic sort: pairs of elements at a distance, whose order changes every so many.
void compare_and_swap(Case& run, std::size_t n) {
  const std::size_t distance = std::size_t{1} << n % 4;
  const std::size_t period = distance << n % 3;
  run.value("distanceToChangeOrder", double(period));
  std::vector<std::vector<double>> lists;
  for (std::size_t worker = 0; worker < kWorkers; ++worker) {
    const auto [begin, pairs] = worker_share(n, worker);
    if (pairs == 0) break;
    const std::size_t inside = begin % distance;
    // Entries after those of the work list may be read.
    lists.push_back({0, double(begin / distance * 2 * distance + inside),
                     double(begin % period << 1 | (begin / period) % 2), 0,
                     double(std::min(distance - inside, pairs)), double(distance), double(pairs), 1,
                     1});
  }
  run.element_rows("worklists", lists);
  const std::size_t elements = (n + distance - 1) / distance * 2 * distance;
  run.random("keys", {elements}, -4, 4);
  run.random("values", {elements}, -4, 4);
}

void normalise(Case& run, std::size_t n) {
  run.value("inScale", 0.5);
  run.value("packedNPixels", double(n / 6 << 3 | n % 6));
  run.random("scales", {4}, -2, 2);
  run.random("offsets", {4}, -2, 2);
  run.random("in", {3 * n}, 0, 255);
  run.random("out", {4 * n}, 0, 0);
}

}  // namespace

void add_popops(Recipes& recipes) {
  const auto add_small = [&](const char* name, void (*function)(Case&, std::size_t)) {
    recipes[std::string("popops::") + name] = {kSizes, function};
  };
  const auto add = [&](const char* name, void (*function)(Case&, std::size_t)) {
    add_small(name, function);
    recipes[std::string("popops::") + name].has_whole_cases = true;
  };
  add("Fill", fill);
  add("Fill2d", fill);
  for (const char* name : {"UnaryOp1D", "UnaryOp1DInPlace", "UnaryOp2D", "UnaryOp2DInPlace"}) {
    add(name, unary);
  }
  for (const char* name :
       {"BinaryOp1D", "BinaryOp1DInPlace", "BinaryOp2D", "BinaryOp2DInPlace", "Select",
        "BroadcastSelect", "BroadcastSelectorSelect", "BroadcastSelectorSelectInPlace"}) {
    add(name, binary);
  }
  for (const char* name : {"BroadcastScalar1D", "BroadcastScalar1DInPlace", "BroadcastScalar2DData",
                           "BroadcastScalar2DDataInPlace", "BroadcastScalar2Types1D",
                           "BroadcastScalar2Types1DInPlace", "BroadcastScalar2Types2DData"}) {
    add(name, scalar);
  }
  for (const char* name :
       {"BroadcastVectorOuterByColumn1D", "BroadcastVectorOuterByColumn1DInPlace",
        "BroadcastVectorOuterByRow1D", "BroadcastVectorOuterByRow1DInPlace"}) {
    add(name, outer);
    recipes[std::string("popops::") + name].sizes = {1, 2, 3, 5, 8, 13, 24, 31, 64, 96};
  }
  for (const char* name : {"BroadcastVectorInner1D", "BroadcastVectorInner1DInPlace"}) {
    add(name, inner_1d);
  }
  for (const char* name : {"BroadcastVectorInner2D", "BroadcastVectorInner2DInPlace"}) {
    add(name, inner_2d);
  }
  add("Clamp", clamp);
  add("BroadcastClamp", clamp);
  for (const char* name :
       {"ScaledAddSupervisor", "ScaledAdd2D", "ScaledSubtractSupervisor", "ScaledSubtract2D",
        "aXPlusbYSupervisor", "aXPlusbY2D", "aXMinusbYSupervisor", "aXMinusbY2D",
        "XMinusaXPlusbYSupervisor", "XMinusaXPlusbY2D"}) {
    add(name, scaled);
  }
  for (const char* name : {"ScalarMultiply1D", "ScalarMultiply1DInplace", "ScalarMultiply2D",
                           "ScalarMultiply2DInplace"}) {
    add(name, scalar_multiply);
  }
  add_small("ForLoopCounter", loop_counter);
  add("HasNaNOrInf1D", has_nan_1d);
  add("HasNaNOrInf2D", has_nan_2d);
  add_small("EncodeOneHot", one_hot);
  add("Histogram1D", histogram);
  add("Histogram2D", histogram);
  add("DynamicSlice1D", slice_1d);
  add("DynamicUpdateSlice1D", slice_1d);
  add("DynamicSlice2D", slice_2d);
  add("DynamicUpdateSlice2D", slice_2d);
  for (const char* name : {"MultiSlice", "MultiUpdate", "MultiUpdateOp", "ScaledMultiUpdateOp"}) {
    add(name, multi_slice);
  }
  add_small("NormaliseImage", normalise);
  add_small("CompareAndSwapAtDistanceKeyVal", compare_and_swap);
}

}  // namespace superstep::poplibs
