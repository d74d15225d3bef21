#pragma once

#include "isa/instructions/amp.h"
#include "isa/instructions/control.h"
#include "isa/instructions/exchange.h"
#include "isa/instructions/float.h"
#include "isa/instructions/half.h"
#include "isa/instructions/integer.h"
#include "isa/instructions/logic.h"
#include "isa/instructions/memory.h"
#include "isa/instructions/pace.h"
#include "isa/instructions/supervisor.h"

namespace superstep::isa {

/// Every instruction. Of several with one mnemonic, the first that fits its operands is meant.
using Isa = Joined<IntegerInstructions, MemoryInstructions, PaceInstructions, ControlInstructions,
                   SupervisorInstructions, FloatInstructions, LogicInstructions, HalfInstructions,
                   AmpInstructions, ExchangeInstructions>::Type;

}  // namespace superstep::isa
