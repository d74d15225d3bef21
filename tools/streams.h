#pragma once

#include <string_view>

namespace superstep {

/// Makes sure that descriptors 0 to 2 are taken, so that no file of ours becomes standard output: a
/// stream that was closed gets one that can neither be read nor written.
void hold_standard_streams();

/// Writes to standard output; 0 or an errno. A reader that went away is no error.
[[nodiscard]] int write_output(std::string_view text);

/// The same for an output of a command that goes there; throws InputOutputError.
void write_whole_output(std::string_view bytes);

/// Writes to standard error; what cannot be written there is lost.
void write_error(std::string_view text);

}  // namespace superstep
