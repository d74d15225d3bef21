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

/// Numbers of control and status registers; what they are: control_registers.h. Workers reach those
/// above 255 with `uget` and `uput`.
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
  kFirstWorkerBase = 33,
  kFpInfmt = 49,
  kFpIscl = 51,
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
  kFpNfmt = 265,
  kFpScl = 266,
};

inline constexpr std::uint32_t kUpperCsrs = 256;       ///< what `uget` and `uput` add
inline constexpr std::uint32_t kFpClrZaacc = 1U << 3;  ///< zeroes the accumulators
inline constexpr std::uint32_t kCrZcwei = 1U << 2;     ///< zeroes the common weights

/// Bits of FP_CTL and FP_ICTL (osmarks/ipu-stack; graphcore/poplibs agrees where it uses them), and
/// of FP_STS and FP_CLR, whose lowest three are the same.
inline constexpr std::uint32_t kFpInvalid = 1U << 0, kFpDivisionByZero = 1U << 1,
                               kFpOverflow = 1U << 2, kFpCtlEsr = 1U << 19, kFpCtlNanoo = 1U << 20;
inline constexpr std::uint32_t kFpExceptions = kFpInvalid | kFpDivisionByZero | kFpOverflow;
inline constexpr unsigned kFpCtlRndShift = 16;
/// Bits that ask for anything but rounding to nearest even without exceptions.
inline constexpr std::uint32_t kFpCtlModes = 0x1f0007;
/// The rounding modes, numbered as `f32int` numbers them.
enum : std::uint32_t { kRoundNearest, kRoundUp, kRoundDown, kRoundToZero };
/// Why a value of FP_CTL or FP_ICTL cannot be; null when it can.
[[nodiscard]] constexpr const char* fp_control_problem(std::uint32_t value) {
  return (value >> kFpCtlRndShift & 7U) > kRoundToZero
             ? "a rounding mode of FP_CTL.RND above 3, which is not modelled"
             : nullptr;
}

/// Flags of the slim convolutions; their numbers are not public: our own. The slice of the common
/// weights, whether there are three stages and not four, and which of the two f32 inputs of a step.
inline constexpr std::uint32_t kSlicSlice = 3, kSlic1x3 = 4, kSlicSecondInput = 8;

/// The number of a CSR or of a predefined constant (`WSR`, `CWEI_3_1`, `TAMP_F16V4_E4_P2`,
/// `TEXCH_SYNCZONE_LOCAL`, …); the name without `$`.
[[nodiscard]] std::optional<std::uint32_t> constant_of(std::string_view name);

}  // namespace superstep::isa
