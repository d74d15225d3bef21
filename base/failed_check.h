#pragma once

namespace superstep {

/// Whether `fail_check` (base/error.h) is why the process is being aborted.
[[nodiscard]] bool has_failed_check();

}  // namespace superstep
