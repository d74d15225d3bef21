// Which layouts of vectors in vertex state exist on IPU2: a pointer and a length in one word, and
// 16-bit pointers to 16 bytes (docs.graphcore.ai, Poplar vertex vectors).
#ifndef SUPERSTEP_POPLAR_AVAILABLE_VTYPES_H
#define SUPERSTEP_POPLAR_AVAILABLE_VTYPES_H

#define VECTOR_AVAIL_SHORT_SPAN 1
#define VECTOR_AVAIL_SCALED_PTR128 1

#endif  // SUPERSTEP_POPLAR_AVAILABLE_VTYPES_H
