// Stack use of functions. The simulator gives every context the stack of the machine description,
// so the numbers are read and not used.
#ifndef SUPERSTEP_POPLAR_STACK_SIZE_DEFS_HPP
#define SUPERSTEP_POPLAR_STACK_SIZE_DEFS_HPP

#ifdef __ASSEMBLER__

#define FUNCTION_IS_WORKER "ax"

.macro DEF_STACK_USAGE bytes name
.endm

.macro DEF_STACK_SIZE_OWN bytes name
.endm

#endif  // __ASSEMBLER__

#endif  // SUPERSTEP_POPLAR_STACK_SIZE_DEFS_HPP
