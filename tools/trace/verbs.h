#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "tools/answer.h"
#include "tools/options.h"

namespace superstep {

// What `superstep trace` does, a verb each. `files` are the words behind the verb.

ExitCode trace_info(const Options& options, const std::vector<std::string>& files, Answer& answer);
ExitCode trace_list(const Options& options, const std::vector<std::string>& files, Answer& answer);
ExitCode trace_validate(const Options& options, const std::vector<std::string>& files,
                        Answer& answer);
ExitCode trace_export(const Options& options, const std::vector<std::string>& files,
                      Answer& answer);
ExitCode trace_repair(const Options& options, const std::vector<std::string>& files,
                      Answer& answer);
ExitCode trace_schema(const Options& options, const std::vector<std::string>& files,
                      Answer& answer);

}  // namespace superstep
