#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace superstep::isa {

/// Register numbers with a role (graphcore/llvm-project-fork
/// llvm/test/MC/Colossus/assemble_register_alias.s).
inline constexpr std::uint32_t kBasePointer = 8, kFramePointer = 9, kLinkRegister = 10,
                               kStackPointer = 11, kWorkerBase = 12, kVertexBase = 13, kZero = 15;

/// $m14 cannot be written; it reads as 0 here (graphcore/ipu_assembly_support isa_doc_manual calls
/// its value specific to the implementation).
inline constexpr std::uint32_t kReadOnly = 14;

/// Control and status registers (graphcore/llvm-project-fork llvm/test/MC/Colossus/csrs_ipu2.s;
/// osmarks/ipu-stack for SSR, CR, TILE_ID and the exchange ones). Workers reach those above 255
/// with `uget` and `uput`.
enum Csr : std::uint32_t {
  kPc = 0,
  kWsr = 1,
  kVertexBaseCsr = 2,
  kWorkerBaseCsr = 3,
  kRepeatCount = 4,
  kRepeatFirst = 5,
  kRepeatEnd = 6,
  kSsr = 1,
  kCr = 2,
  kTileId = 3,
  kFpIctl = 32,
  kCccsLoad = 80,
  kCountL = 96,
  kCountU = 97,
  kDbgData = 112,
  kDbgBrkId = 113,
  kCtxtSts = 114,
  kIncomingMux = 0xa0,
  kIncomingMuxPair = 0xa1,
  kIncomingDelta = 0xa2,
  kIncomingFormat = 0xa3,
  kIncomingBase = 0xa4,
  kIncomingSinit = 0xa5,
  kIncomingDcount = 0xa6,
  kOutgoingBase = 0xa7,
  kOutgoingDelta = 0xa8,
  kExchangeCtl = 0xa9,
  kAnsDcount = 0xaa,
  kExchangeAdj = 0xab,
  kFpSts = 256,
  kFpClr = 257,
  kFpCtl = 258,
  kPrng00 = 259,
  kPrng01 = 260,
  kPrng10 = 261,
  kPrng11 = 262,
  kPrngSeed = 263,
  kTas = 264,
};

inline constexpr std::uint32_t kFpClrZaacc = 1U << 3;  ///< zeroes the accumulators
inline constexpr std::uint32_t kCrZcwei = 1U << 2;     ///< zeroes the common weights

/// Bits of FP_CTL and FP_ICTL that ask for what is not modelled: exceptions (0 to 2), a rounding
/// other than to nearest even (16 to 18), stochastic rounding (19), NaN on overflow (20). Bit
/// numbers: osmarks/ipu-stack; graphcore/poplibs agrees where it uses them.
inline constexpr std::uint32_t kFpCtlModes = 0x1f0007;
inline constexpr const char* kFpModeProblem =
    "a floating-point mode that is not modelled: only rounding to nearest even without exceptions "
    "is";

/// The number of a CSR or of a predefined constant (`WSR`, `CWEI_3_1`, `TAMP_F16V4_E4_P2`,
/// `TEXCH_SYNCZONE_LOCAL`, …); the name without `$`.
[[nodiscard]] std::optional<std::uint32_t> constant_of(std::string_view name);

}  // namespace superstep::isa
