#include "tests/poplibs/recipe.h"

namespace superstep::poplibs {
namespace {

void random_numbers(Case& run, std::size_t n) {
  const bool is_bernoulli = is_type(run, "Bernoulli");
  for (const auto& [name, number] :
       std::vector<std::pair<const char*, double>>{{"mean", 0.5},
                                                   {"stdDev", 2},
                                                   {"alpha", 2},
                                                   {"iterations", 4},
                                                   {"offset", -1},
                                                   {"scale", 2},
                                                   {"prob", is_bernoulli ? 16384 : 32768},
                                                   {"numElems", double(n)},
                                                   {"shift", 0}}) {
    if (run.has(name)) run.value(name, number);
  }
  fill_rest(run, n, -4, 4);
}

}  // namespace

void add_poprand(Recipes& recipes) {
  for (const char* name : {"Uniform", "Normal", "TruncatedNormal", "Bernoulli", "Dropout"}) {
    Recipe recipe{kSizes, random_numbers};
    recipe.host_is_reference = false;
    recipes[std::string("poprand::") + name] = recipe;
  }
}

}  // namespace superstep::poplibs
