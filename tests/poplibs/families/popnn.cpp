#include "tests/poplibs/recipe.h"

namespace superstep::poplibs {
namespace {

void one_dimension(Case& run, std::size_t n) {
  run.value("n", double(n));
  fill_rest(run, n, -3, 3);
}

void two_dimensions(Case& run, std::size_t n) { fill_rest(run, n, -3, 3); }

void loss(Case& run, std::size_t n) {
  run.value("size", double(n));
  for (const char* scale : {"deltasScale", "modelOutputScaling"}) {
    if (run.has(scale)) run.elements(scale, {scale[0] == 'd' ? 1.0 : 2.0});
  }
  run.random("probs", {n}, 0.0625, 1);
  run.random("expected", {n}, 0.0625, 1);
  fill_rest(run, n, 0, 1);
}

void class_sparse(Case& run, std::size_t n) {
  run.random("labels", {n}, 0, 1000);
  fill_rest(run, n, -4, 4);
}

void class_gather(Case& run, std::size_t n) {
  const std::size_t each = 1 + n / 6;
  run.value("index", 3);
  run.value("size", double(n));
  run.value("workerSize", double(each));
  run.random("activations", {n}, -4, 4);
  const std::size_t results = (n + each - 1) / each;
  fill_rest(run, results, 0, 0);
}

}  // namespace

void add_popnn(Recipes& recipes) {
  const auto add = [&](const char* name, void (*function)(Case&, std::size_t)) {
    recipes[std::string("popnn::") + name] = {kSizes, function};
  };
  for (const char* name : {"NonLinearity1D", "NonLinearity1DInPlace", "NonLinearityGrad1D"}) {
    add(name, one_dimension);
  }
  for (const char* name : {"NonLinearity2D", "NonLinearity2DInPlace", "NonLinearityGrad2D"}) {
    add(name, two_dimensions);
  }
  add("LossSumSquaredTransform", loss);
  add("LossCrossEntropyTransform", loss);
  add("ReduceMaxClassSparse", class_sparse);
  add("ReduceMinClassSparse", class_sparse);
  add("ReduceMaxClassGather", class_gather);
  add("ReduceMinClassGather", class_gather);
}

}  // namespace superstep::poplibs
