#pragma once

#include <hdf5.h>

#include <cstddef>
#include <optional>

#include "base/hdf5_file.h"
#include "base/hdf5_id.h"

namespace superstep {

/// A number as the host has it; not for text.
[[nodiscard]] hid_t memory_type(Hdf5Type type);

/// A number as our files have it; not for text.
[[nodiscard]] hid_t file_type(Hdf5Type type);

/// Text of a fixed length, at least 1.
[[nodiscard]] Hdf5Id text_type(std::size_t bytes);

/// Which of ours a stored type is, if any. An enumeration counts as its numbers.
[[nodiscard]] std::optional<Hdf5Type> our_type(Hdf5Id stored);

}  // namespace superstep
