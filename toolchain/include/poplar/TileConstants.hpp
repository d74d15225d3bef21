// Names that codelets in assembly expect, with the values of IPU2 and IPU21. For the assembler and for C++. AMP phases (TAMP_…) and the like are known to the
// assembler itself.
#ifndef SUPERSTEP_POPLAR_TILE_CONSTANTS_HPP
#define SUPERSTEP_POPLAR_TILE_CONSTANTS_HPP

// What depends on the machine: `superstep asm -m` and `superstep run-codelet` define these; elsewhere
// they are those of Mk2.
#ifndef SUPERSTEP_WORKERS
#define SUPERSTEP_WORKERS 6
#define SUPERSTEP_WORKER_MASK 7
#define SUPERSTEP_MEMORY_BASE 0x4c000
#define SUPERSTEP_REGION1_BASE 0x80000
#define SUPERSTEP_ELEMENT_BYTES 0x4000
#endif

// Contexts: graphcore/poplibs (estimators and work division: six workers).
#define CTXT_WORKERS SUPERSTEP_WORKERS
#define NUM_WORKERS CTXT_WORKERS

// Control and status registers: graphcore/llvm-project-fork llvm/test/MC/Colossus/csrs_ipu2.s; bit
// positions where graphcore/poplibs and osmarks/ipu-stack agree.
#define CSR_W_WSR__CTXTID_M1__SHIFT 0
#define CSR_W_WSR__CTXTID_M1__MASK SUPERSTEP_WORKER_MASK
#define CSR_W_REPEAT_COUNT__VALUE__SHIFT 0
#define CSR_W_REPEAT_COUNT__VALUE__MASK 0xffff
#define CSR_W_FP_CLR__INDEX 257
#define CSR_W_FP_CLR__ZAACC__SHIFT 3
#define CSR_W_FP_CLR__ZAACC__MASK 1
#define CSR_W_FP_CTL__INDEX 258
#define CSR_S_FP_ICTL__INDEX 32
#define CSR_S_FP_ICTL__INV__SHIFT 0
#define CSR_S_FP_ICTL__INV__MASK 1
#define CSR_S_FP_ICTL__DIV0__SHIFT 1
#define CSR_S_FP_ICTL__DIV0__MASK 1
#define CSR_S_FP_ICTL__OFLO__SHIFT 2
#define CSR_S_FP_ICTL__OFLO__MASK 1
#define CSR_S_FP_ICTL__ESR__SHIFT 19
#define CSR_S_FP_ICTL__ESR__MASK 1
#define CSR_S_FP_ICTL__NANOO__SHIFT 20
#define CSR_S_FP_ICTL__NANOO__MASK 1

// Memory: graphcore/poplibs include/poplibs_support/TileConstants.hpp of 2019; the region from
// graphcore/llvm-project-fork lld (image base of ipu2).
#define TMEM_REGION0_BASE_ADDR SUPERSTEP_MEMORY_BASE
#define TMEM_ELEMSIZE SUPERSTEP_ELEMENT_BYTES
#define TMEM_BYTE_MAX_ADDRESS_WIDTH 21
#define TMEM_FULL_ADDRESS_MASK 0x1fffff

// Strides of the paced accesses, and inputs of one AMP instruction.
#define NUM_STRIDE_BITS 10
#define CONV_UNIT_INPUT_LOAD_ELEMS_FLOAT 2
#define CONV_UNIT_INPUT_LOAD_ELEMS_HALF 4

// What comparisons of floating-point values give: graphcore/poplibs unaryOpsOps.h.S.
#define TFPU_FP16_TRUE 0xffff
#define TFPU_FP16_FALSE 0
#define TFPU_FP32_TRUE 0xffffffff
#define TFPU_FP32_FALSE 0

// osmarks/ipu-stack: the zone of a tile's own workers.
#define TEXCH_SYNCZONE_LOCAL 2

// 64 bits of the common weights: output channel and slice of the input channels.
#define CCCS_CWEI_0_0 0
#define CCCS_CWEI_0_1 1
#define CCCS_CWEI_0_2 2
#define CCCS_CWEI_0_3 3
#define CCCS_CWEI_1_0 4
#define CCCS_CWEI_1_1 5
#define CCCS_CWEI_1_2 6
#define CCCS_CWEI_1_3 7
#define CCCS_CWEI_2_0 8
#define CCCS_CWEI_2_1 9
#define CCCS_CWEI_2_2 10
#define CCCS_CWEI_2_3 11
#define CCCS_CWEI_3_0 12
#define CCCS_CWEI_3_1 13
#define CCCS_CWEI_3_2 14
#define CCCS_CWEI_3_3 15
#define CCCS_CWEI_4_0 16
#define CCCS_CWEI_4_1 17
#define CCCS_CWEI_4_2 18
#define CCCS_CWEI_4_3 19
#define CCCS_CWEI_5_0 20
#define CCCS_CWEI_5_1 21
#define CCCS_CWEI_5_2 22
#define CCCS_CWEI_5_3 23
#define CCCS_CWEI_6_0 24
#define CCCS_CWEI_6_1 25
#define CCCS_CWEI_6_2 26
#define CCCS_CWEI_6_3 27
#define CCCS_CWEI_7_0 28
#define CCCS_CWEI_7_1 29
#define CCCS_CWEI_7_2 30
#define CCCS_CWEI_7_3 31
#define CCCS_CWEI_8_0 32
#define CCCS_CWEI_8_1 33
#define CCCS_CWEI_8_2 34
#define CCCS_CWEI_8_3 35
#define CCCS_CWEI_9_0 36
#define CCCS_CWEI_9_1 37
#define CCCS_CWEI_9_2 38
#define CCCS_CWEI_9_3 39
#define CCCS_CWEI_10_0 40
#define CCCS_CWEI_10_1 41
#define CCCS_CWEI_10_2 42
#define CCCS_CWEI_10_3 43
#define CCCS_CWEI_11_0 44
#define CCCS_CWEI_11_1 45
#define CCCS_CWEI_11_2 46
#define CCCS_CWEI_11_3 47
#define CCCS_CWEI_12_0 48
#define CCCS_CWEI_12_1 49
#define CCCS_CWEI_12_2 50
#define CCCS_CWEI_12_3 51
#define CCCS_CWEI_13_0 52
#define CCCS_CWEI_13_1 53
#define CCCS_CWEI_13_2 54
#define CCCS_CWEI_13_3 55
#define CCCS_CWEI_14_0 56
#define CCCS_CWEI_14_1 57
#define CCCS_CWEI_14_2 58
#define CCCS_CWEI_14_3 59
#define CCCS_CWEI_15_0 60
#define CCCS_CWEI_15_1 61
#define CCCS_CWEI_15_2 62
#define CCCS_CWEI_15_3 63

#endif  // SUPERSTEP_POPLAR_TILE_CONSTANTS_HPP
