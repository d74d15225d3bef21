#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "isa/program_image.h"

namespace superstep {

/// Throws MalformedInput with every argument that does not fit the program: one too few or too
/// many, a wrong shape or element type, or data of another size than its type.
void check_arguments(const ProgramImage& image, const std::vector<HostTensor>& arguments,
                     std::uint32_t calls);

/// True when `argument` carries a leading axis of `calls` and goes to the device slice by slice.
[[nodiscard]] bool is_sliced(const TensorType& expected, const TensorType& argument,
                             std::uint32_t calls);

/// Throws MalformedInput when the program has no such argument.
void check_argument(const ProgramImage& image, std::uint32_t position);
/// Likewise when it has another type, or the value has other bytes than its type.
void check_argument(const ProgramImage& image, std::uint32_t position, const HostTensor& value);

/// What is wrong with a value of so many bytes; empty when its type has as many.
[[nodiscard]] std::string bytes_problem(const std::string& name, std::size_t bytes,
                                        const TensorType& type);
/// Throws it as MalformedInput.
void check_bytes(const std::string& name, std::size_t bytes, const TensorType& type);

/// Whether the program keeps an argument from call to call, and gets it before the first only.
[[nodiscard]] bool is_state(const ProgramImage& image, std::size_t argument);

}  // namespace superstep
