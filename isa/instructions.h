#pragma once

#include "isa/instructions/accumulate.h"
#include "isa/instructions/amp.h"
#include "isa/instructions/bitwise.h"
#include "isa/instructions/control.h"
#include "isa/instructions/delta_load.h"
#include "isa/instructions/exchange.h"
#include "isa/instructions/float.h"
#include "isa/instructions/float_arithmetic.h"
#include "isa/instructions/float_comparison.h"
#include "isa/instructions/half.h"
#include "isa/instructions/integer.h"
#include "isa/instructions/memory_load.h"
#include "isa/instructions/memory_store.h"
#include "isa/instructions/pace.h"
#include "isa/instructions/permute.h"
#include "isa/instructions/quarter.h"
#include "isa/instructions/random.h"
#include "isa/instructions/slic.h"
#include "isa/instructions/supervisor.h"

namespace superstep::isa {

/// Every instruction. Of several with one mnemonic, the first that fits its operands is meant.
using Isa =
    Joined<IntegerInstructions, BitwiseInstructions, PermuteInstructions, LoadInstructions,
           StoreInstructions, DeltaLoadInstructions, PaceInstructions, ControlInstructions,
           SupervisorInstructions, ArithmeticInstructions, ComparisonInstructions,
           FloatInstructions, HalfInstructions, AmpInstructions, AccumulatorInstructions,
           SlicInstructions, RandomInstructions, QuarterInstructions, ExchangeInstructions>::Type;
/// `InstructionInfo::number` of a record.
template <class R>
inline constexpr std::size_t kNumberOf = position_of<R>(Isa{});

}  // namespace superstep::isa
