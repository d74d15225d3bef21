#pragma once

#include "poplar/Vertex.hpp"

namespace poplar {

using rptsize_t = unsigned;

}  // namespace poplar
