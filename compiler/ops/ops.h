#pragma once

#include "compiler/ops/op.h"

namespace superstep {

#define SUPERSTEP_OP(name) extern const OpDefinition k##name##Op;
#include "compiler/ops/op_list.def"
#undef SUPERSTEP_OP

}  // namespace superstep
