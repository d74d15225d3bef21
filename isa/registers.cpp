#include "isa/registers.h"

#include <map>
#include <string>

namespace superstep::isa {

namespace {

std::map<std::string, std::uint32_t, std::less<>> build_constants() {
  std::map<std::string, std::uint32_t, std::less<>> names = {
      {"PC", kPc},
      {"WSR", kWsr},
      {"VERTEX_BASE", kVertexBaseCsr},
      {"WORKER_BASE", kWorkerBaseCsr},
      {"REPEAT_COUNT", kRepeatCount},
      {"REPEAT_FIRST", kRepeatFirst},
      {"REPEAT_END", kRepeatEnd},
      {"SSR", kSsr},
      {"CR", kCr},
      {"TILE_ID", kTileId},
      {"FP_ICTL", kFpIctl},
      {"FP_INFMT", kFpInfmt},
      {"FP_ISCL", kFpIscl},
      {"CCCSLOAD", kCccsLoad},
      {"COUNT_L", kCountL},
      {"COUNT_U", kCountU},
      {"DBG_DATA", kDbgData},
      {"DBG_BRK_ID", kDbgBrkId},
      {"CTXT_STS", kCtxtSts},
      {"INCOMING_MUX", kIncomingMux},
      {"INCOMING_MUXPAIR", kIncomingMuxPair},
      {"INCOMING_DELTA", kIncomingDelta},
      {"INCOMING_FORMAT", kIncomingFormat},
      {"INCOMING_BASE", kIncomingBase},
      {"INCOMING_SINIT", kIncomingSinit},
      {"INCOMING_DCOUNT", kIncomingDcount},
      {"OUTGOING_BASE", kOutgoingBase},
      {"OUTGOING_DELTA", kOutgoingDelta},
      {"EXCHANGE_CTL", kExchangeCtl},
      {"ANS_DCOUNT", kAnsDcount},
      {"EXCHANGE_ADJ", kExchangeAdj},
      // The upper space of workers; `uget` and `uput` add 256 themselves.
      {"FP_STS", kFpSts - 256},
      {"FP_CLR", kFpClr - 256},
      {"FP_CTL", kFpCtl - 256},
      {"PRNG_0_0", kPrng00 - 256},
      {"PRNG_0_1", kPrng01 - 256},
      {"PRNG_1_0", kPrng10 - 256},
      {"PRNG_1_1", kPrng11 - 256},
      {"PRNG_SEED", kPrngSeed - 256},
      {"TAS", kTas - 256},
      {"FP_NFMT", kFpNfmt - 256},
      {"FP_SCL", kFpScl - 256},
      {"TEXCH_SYNCZONE_LOCAL", 2},
  };
  for (std::uint32_t channel = 0; channel < 16; ++channel) {
    for (std::uint32_t slice = 0; slice < 4; ++slice) {
      names["CWEI_" + std::to_string(channel) + "_" + std::to_string(slice)] = 4 * channel + slice;
    }
  }
  // The numbers of AMP phases are not public: our own.
  for (std::uint32_t phase = 0; phase < 8; ++phase) {
    names["TAMP_F32_E4_P" + std::to_string(phase)] = phase;
    if (phase < 4) names["TAMP_F16V4_E4_P" + std::to_string(phase)] = phase;
  }
  // Fewer engines: told apart from four by bits 4 and 5 (docs/isa-gaps.md).
  for (std::uint32_t phase = 0; phase < 4; ++phase) {
    const std::string suffix = "_P" + std::to_string(phase);
    names["TAMP_F32_E2" + suffix] = 16 + phase;
    names["TAMP_F32_E1" + suffix] = 32 + phase;
    if (phase < 2) names["TAMP_F16V4_E2" + suffix] = 16 + phase;
    if (phase < 1) names["TAMP_F16V4_E1" + suffix] = 32 + phase;
  }
  // So are those of permutations through the accumulators and of slim convolutions.
  for (std::uint32_t phase = 0; phase < 2; ++phase) {
    names["TSTACC_P" + std::to_string(phase)] = phase;
    names["TISTACC_P" + std::to_string(phase)] = phase;
  }
  for (std::uint32_t slice = 0; slice < 4; ++slice) {
    const std::string suffix = "_W" + std::to_string(slice);
    names["TSLIC_F16V4_1x4" + suffix] = slice;
    names["TSLIC_F16V4_1x3" + suffix] = slice | kSlic1x3;
    for (std::uint32_t input = 0; input < 2; ++input) {
      const std::uint32_t flags = slice | (input == 0 ? 0 : kSlicSecondInput);
      const std::string phase = suffix + "_P" + std::to_string(input);
      names["TSLIC_F32_1x4" + phase] = flags;
      names["TSLIC_F32_1x3" + phase] = flags | kSlic1x3;
    }
  }
  return names;
}

}  // namespace

std::optional<std::uint32_t> constant_of(std::string_view name) {
  static const std::map<std::string, std::uint32_t, std::less<>> names = build_constants();
  const auto found = names.find(name);
  if (found == names.end()) return std::nullopt;
  return found->second;
}

}  // namespace superstep::isa
