#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "base/hdf5.h"
#include "isa/program_image.h"
#include "sim/host/feeds.h"

namespace superstep {

/// Element `i` as a number.
[[nodiscard]] double element_as_double(const HostTensor& tensor, std::size_t i);

/// Element `i` as text: integers whole, floats with so many digits.
[[nodiscard]] std::string element_text(const HostTensor& tensor, std::size_t i, int digits);

/// Numbers in (-1, 1) from a generator that is the same everywhere; integers are small and not
/// negative.
[[nodiscard]] HostTensor random_tensor(const TensorType& type, std::mt19937& random);

/// The seed of `random:SEED`; none when the text is something else.
[[nodiscard]] std::optional<std::uint32_t> random_seed(const std::string& input);

/// `arg0 …` of `inputs` (later files win); else `result0 …` of `parameters`, the results of an
/// earlier run; else made up when an input is `random:SEED`. Throws MalformedInput that says what
/// the program expects: its types, and what its streams call them.
[[nodiscard]] std::vector<HostTensor> load_arguments(const ProgramImage& program,
                                                     const std::vector<std::string>& inputs,
                                                     const TensorFile& parameters);

/// `infeed0 …` of a file, for all infeeds of a program. Throws MalformedInput for those that do not
/// fit it.
[[nodiscard]] FeedTensors load_infeeds(const ProgramImage& image,
                                       const std::optional<std::string>& file);

}  // namespace superstep
