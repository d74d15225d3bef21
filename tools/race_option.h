#pragma once

#include <string>

#include "sim/tile/race_checks.h"
#include "tools/options.h"

namespace superstep {

/// What option `--check-races` of a command says. Throws UserError (usage) for another word than it
/// takes.
[[nodiscard]] RaceChecks race_checks_of(const Options& options, RaceChecks otherwise);
/// Its help.
[[nodiscard]] std::string race_checks_help(RaceChecks otherwise);

}  // namespace superstep
