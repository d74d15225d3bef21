#pragma once

#include "poplar/VertexIntrospector.hpp"
#include "tests/poplibs/case.h"

namespace superstep::poplibs {

/// A case as PopLibs' estimators see it.
poplar::VertexIntrospector introspect(const Case& run);

}  // namespace superstep::poplibs
