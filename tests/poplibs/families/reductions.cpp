#include "tests/poplibs/recipe.h"

namespace superstep::poplibs {
namespace {

double low(const Case& run) { return is_type(run, "ReduceMul") ? 0.75 : -4; }
double high(const Case& run) { return is_type(run, "ReduceMul") ? 1.25 : 4; }

/// A field that PopLibs declares wider for the host than for the device.
void as_short(Case& run, const char* name) { run.state(name).device_bytes = 2; }

/// Outputs of a region in a whole case.
constexpr std::size_t kWholeOutputs = 16;

void strided(Case& run, std::size_t n) {
  const std::size_t grain = run.state("partials").field->element_bytes == 2 ? 4 : 2;
  const bool whole = run.whole();
  const std::size_t outputs = whole ? kWholeOutputs / grain : 1 + n % 5;  // in grains
  const std::size_t width = outputs + (whole ? 0 : n % 3);                // in grains
  // Sums of logarithms in f16, as the C++ codelet has them, stay meaningful for few partials.
  const bool half_logarithms = is_type(run, "ReduceLogAdd,half");
  const bool outer = is_type(run, "STRIDED_REDUCE_OUTER");
  const std::size_t outers = !outer ? 1 : whole ? run.whole_rows : 1 + n % 4;
  const std::size_t partials = whole ? std::max<std::size_t>(n / kWholeOutputs / outers, 2)
                               : half_logarithms ? 1 + n % 64
                                                 : 1 + n;
  std::vector<double> counts = {double(outputs - 1), double(partials - 1), double(width)};
  // From the last partial of a stride to the first of the next.
  const std::size_t stride = 2 * width + 1;
  if (outer) counts.insert(counts.end(), {double(outers - 1), double(stride)});
  run.elements("countsAndStrides", counts);
  as_short(run, "countsAndStrides");
  const std::size_t length = outers * ((partials - 1) * width + stride) + outputs;
  run.random("partials", {length * grain}, low(run), high(run));
  run.random("out", {outputs * grain}, low(run), high(run));
  if (half_logarithms) run.state("out").tolerance = 0.01;
}

void regions(Case& run, std::size_t n) {
  const bool scalars = is_type(run, "SCALAR_OUTPUT_REGIONS");
  std::vector<std::size_t> outs =
      scalars ? std::vector<std::size_t>{1, 1, 1} : std::vector<std::size_t>{8, 4 + n / 8 * 8, 16};
  std::vector<std::size_t> counts = {1 + n % 4, 2, 1};
  std::vector<std::size_t> partials;
  if (run.whole()) {
    outs.assign(run.whole_rows, scalars ? 1 : std::min(kWholeOutputs, n / kWorkers));
    counts.assign(run.whole_rows, 1);
    partials = row_lengths(run, n);
  }
  for (std::size_t i = 0; i < outs.size() && !run.whole(); ++i) {
    for (std::size_t j = 0; j < counts[i]; ++j) {
      partials.push_back(outs[i] * (scalars ? n + j : 1 + (n + j) % 3));
    }
  }
  run.elements("numPartials", {counts.begin(), counts.end()});
  run.random("partials", partials, low(run), high(run));
  run.random("out", outs, low(run), high(run));
}

void reduce(Case& run, std::size_t n) {
  if (run.has("k")) run.random("k", {1}, 0.5, 2);
  if (run.has("countsAndStrides")) return strided(run, n);
  if (run.state("out").field->shape == Shape::kVectorList) return regions(run, n);
  run.value("numPartials", double(n));
  as_short(run, "numPartials");
  run.random("partials", {n}, low(run), high(run));
  run.random("out", {1}, low(run), high(run));
}

void continuous(Case& run, std::size_t size) {
  if (run.has("k")) run.random("k", {1}, 0.5, 2);
  const std::size_t outputs = run.whole() ? run.whole_rows : 1 + size % 6;
  const std::size_t n = run.whole() ? size / kWorkers : size;
  run.value("numOutputsM1", double(outputs - 1));
  run.value("numPartials", double(n));
  as_short(run, "numOutputsM1");
  as_short(run, "numPartials");
  run.random("partials", {outputs * n}, low(run), high(run));
  run.random("out", {outputs}, low(run), high(run));
}

}  // namespace

void add_popops_reductions(Recipes& recipes) {
  for (const char* name : {"popops::Reduce", "popops::ScaledReduce"}) {
    recipes[name] = {kSizes, reduce};
    recipes[name].has_whole_cases = true;
  }
  for (const char* name : {"popops::ContinuousReduce", "popops::ScaledContinuousReduce"}) {
    recipes[name] = {kSizes, continuous};
    recipes[name].has_whole_cases = true;
  }
}

}  // namespace superstep::poplibs
