#include "tests/poplibs/recipe.h"

namespace superstep::poplibs {

void add_popsparse(Recipes& recipes) { (void)recipes; }

}  // namespace superstep::poplibs
