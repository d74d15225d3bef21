#include "isa/control_registers.h"

#include <algorithm>

#include "isa/registers.h"

namespace superstep::isa {

namespace {

constexpr Access kNo = Access::kAbsent, kTrap = Access::kUnmodelled, kRead = Access::kRead,
                 kBoth = Access::kReadWrite;

constexpr ControlRegister kControlRegisters[] = {
    {"PC", kPc, kRead, kRead, "Address of the instruction that reads it."},
    {"WSR", kWsr, kRead, kNo, "Number of the worker; no other bit is ever set."},
    {"SSR", kSsr, kNo, kRead, "0: an exception ends the run."},
    {"VERTEX_BASE", kVertexBaseCsr, kRead, kNo, "$mvertex_base."},
    {"CR", kCr, kNo, kBoth, "Bit 2 zeroes the common weights; other bits do nothing."},
    {"WORKER_BASE", kWorkerBaseCsr, kRead, kNo, "$mworker_base."},
    {"TILE_ID", kTileId, kNo, kRead, "Number of the tile."},
    {"REPEAT_COUNT", kRepeatCount, kRead, kNo, "0: no body of `rpt` can read it."},
    {"REPEAT_FIRST", kRepeatFirst, kRead, kNo, "Address of the body of the last `rpt`."},
    {"REPEAT_END", kRepeatEnd, kRead, kNo, "Address behind that body."},
    {"FP_ICTL", kFpIctl, kNo, kBoth, "$FP_CTL of workers at launch."},
    {"WORKER1_BASE", kFirstWorkerBase, kNo, kBoth, "$mworker_base of worker 0 at launch."},
    {"WORKER2_BASE", kFirstWorkerBase + 1, kNo, kBoth, "The same of worker 1."},
    {"WORKER3_BASE", kFirstWorkerBase + 2, kNo, kBoth, "The same of worker 2."},
    {"WORKER4_BASE", kFirstWorkerBase + 3, kNo, kBoth, "The same of worker 3."},
    {"WORKER5_BASE", kFirstWorkerBase + 4, kNo, kBoth, "The same of worker 4."},
    {"WORKER6_BASE", kFirstWorkerBase + 5, kNo, kBoth, "The same of worker 5."},
    {"FP_INFMT", kFpInfmt, kNo, kBoth, "$FP_NFMT of workers at launch."},
    {"FP_ISCL", kFpIscl, kNo, kBoth, "$FP_SCL of workers at launch."},
    {"CCCSLOAD", kCccsLoad, kNo, kBoth, "Address of `ld64putcs` and `ld128putcs`."},
    {"COUNT_L", kCountL, kRead, kNo, "Cycle of the `get`, the lower half."},
    {"SCOUNT_L", kCountL, kNo, kRead, "Cycle of the `get`, the lower half."},
    {"COUNT_U", kCountU, kRead, kNo, "Cycle of the `get`, the upper half."},
    {"SCOUNT_U", kCountU, kNo, kRead, "Cycle of the `get`, the upper half."},
    {"DBG_DATA", kDbgData, kTrap, kBoth, "What was written; nobody is at the debug bus."},
    {"DBG_BRK_ID", kDbgBrkId, kRead, kRead, "0: nothing breaks into a run."},
    {"CTXT_STS", kCtxtSts, kNo, kRead,
     "Two bits a context, the supervisor's lowest: 1 while it runs, else 0."},
    {"INCOMING_MUX", kIncomingMux, kNo, kBoth, "Source that the input selects."},
    {"INCOMING_MUXPAIR", kIncomingMuxPair, kNo, kTrap, "64-bit exchange."},
    {"INCOMING_DELTA", kIncomingDelta, kNo, kTrap, "Exchange."},
    {"INCOMING_FORMAT", kIncomingFormat, kNo, kTrap, "64-bit exchange."},
    {"INCOMING_BASE", kIncomingBase, kNo, kTrap, "Exchange."},
    {"INCOMING_SINIT", kIncomingSinit, kNo, kTrap, "Exchange."},
    {"INCOMING_DCOUNT", kIncomingDcount, kNo, kBoth, "Word address of the next incoming word."},
    {"OUTGOING_BASE", kOutgoingBase, kNo, kBoth, "Word address from which `sendoff` counts."},
    {"OUTGOING_DELTA", kOutgoingDelta, kNo, kTrap, "Exchange."},
    {"EXCHANGE_CTL", kExchangeCtl, kNo, kTrap, "Exchange."},
    {"ANS_DCOUNT", kAnsDcount, kNo, kTrap, "Exchange."},
    {"EXCHANGE_ADJ", kExchangeAdj, kNo, kTrap, "Exchange."},
    {"FP_STS", kFpSts, kRead, kNo,
     "Floating-point exceptions since launch or $FP_CLR: INV 0, DIV0 1, OFLO 2."},
    {"FP_CLR", kFpClr, kBoth, kNo, "Bits 0 to 2 clear $FP_STS, bit 3 the accumulators. Reads 0."},
    {"FP_CTL", kFpCtl, kBoth, kNo,
     "INV 0, DIV0 1, OFLO 2: trap; RND 18:16; ESR 19: stochastic rounding; NANOO 20: NaN on "
     "overflow of f16 and f8."},
    {"PRNG_0_0", kPrng00, kBoth, kNo, "Random generator, from its lowest word on."},
    {"PRNG_0_1", kPrng01, kBoth, kNo, "The same."},
    {"PRNG_1_0", kPrng10, kBoth, kNo, "The same."},
    {"PRNG_1_1", kPrng11, kBoth, kNo, "The same."},
    {"PRNG_SEED", kPrngSeed, kBoth, kNo, "Sets all of the generator. Reads 0."},
    {"TAS", kTas, kBoth, kNo, "Scale of `f32v2axpy`, scales of `f16v4mix`."},
    {"FP_NFMT", kFpNfmt, kBoth, kNo, "f8 formats: 1.4.3 of weights 0, of values 1."},
    {"FP_SCL", kFpScl, kBoth, kNo, "Signed exponent of the scale of f8, 5:0."},
};

/// Two registers may have one number: one a worker's, one the supervisor's.
Access access_of(std::uint32_t number, Access ControlRegister::*context) {
  for (const ControlRegister& known : kControlRegisters) {
    if (known.number == number && known.*context != Access::kAbsent) return known.*context;
  }
  return Access::kAbsent;
}

}  // namespace

Access worker_access(std::uint32_t number) { return access_of(number, &ControlRegister::worker); }

Access supervisor_access(std::uint32_t number) {
  return access_of(number, &ControlRegister::supervisor);
}

std::span<const ControlRegister> control_registers() { return kControlRegisters; }

const ControlRegister* find_control_register(std::string_view name) {
  const auto* const found =
      std::find_if(std::begin(kControlRegisters), std::end(kControlRegisters),
                   [&](const ControlRegister& known) { return known.name == name; });
  return found == std::end(kControlRegisters) ? nullptr : found;
}

}  // namespace superstep::isa
