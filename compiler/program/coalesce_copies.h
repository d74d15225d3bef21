#pragma once

#include "compiler/program/program.h"

namespace superstep {

/// Copy coalescing in a program with loops or branches: buffers of which one is a copy of the
/// other, or made of it element by element, become one where that changes nothing. So a loop
/// carries an argument that the program may change where it is, arms of a branch change what it
/// carries there, and a value that is made for a loop is made where the loop carries it.
void coalesce_copies(LoweredProgram& program);

}  // namespace superstep
