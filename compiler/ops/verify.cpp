#include "compiler/ops/verify.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace superstep {
namespace {

std::vector<Problem> located(const Op& op, const std::string& message) {
  const std::string_view name = op.definition != nullptr ? op.definition->name : "op";
  return {Problem{op.location.module, fmt::format("{}: {}", name, message)}};
}

std::string names_of(DTypeSet set) {
  std::vector<std::string_view> names;
  const bool has_narrow_floats = (set & kNarrowFloats) == kNarrowFloats;
  for (const DType dtype : kAllDTypes) {
    if (has_narrow_floats && is_narrow_float(dtype)) continue;
    if ((set & only(dtype)) != 0) names.push_back(name_of(dtype));
  }
  if (has_narrow_floats) names.insert(names.end(), {"f4", "f6", "f8"});
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

void malformed(const Op& op, const std::string& message) {
  throw MalformedInput(located(op, message));
}

void unsupported(const Op& op, const std::string& message) {
  throw Unsupported(located(op, message));
}

const Indices& index_list(const Op& op, std::string_view name, std::size_t count) {
  const Indices& list = attribute<Indices>(op, name);
  if (list.size() != count) {
    malformed(op, fmt::format("{} has {} entries, expected {}", name, list.size(), count));
  }
  return list;
}

Indices dimension_list(const Op& op, std::string_view name, std::size_t rank) {
  if (!op.attributes.contains(name)) return {};
  const Indices& list = attribute<Indices>(op, name);
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i] < 0 || list[i] >= static_cast<std::int64_t>(rank)) {
      malformed(op,
                fmt::format("{} names dimension {} of a tensor of rank {}", name, list[i], rank));
    }
    if (std::count(list.begin(), list.end(), list[i]) != 1) {
      malformed(op, fmt::format("{} names dimension {} twice", name, list[i]));
    }
  }
  return list;
}

std::size_t dimension(const Op& op, std::string_view name, std::size_t rank) {
  const std::int64_t found = attribute<std::int64_t>(op, name);
  if (found < 0 || found >= static_cast<std::int64_t>(rank)) {
    malformed(op, fmt::format("{} is {}, but the tensor has rank {}", name, found, rank));
  }
  return static_cast<std::size_t>(found);
}

void require_dtype(const Op& op, DType found, DTypeSet allowed) {
  if ((only(found) & allowed) != 0) return;
  const std::string message =
      fmt::format("element type {} is not one of {}", name_of(found), names_of(allowed));
  // StableHLO has more functions of complex numbers.
  if (is_complex(found) && (allowed & kFloats) != 0) unsupported(op, message);
  malformed(op, message);
}

const TensorType& required_result(const Op& op) {
  if (op.declared.empty()) malformed(op, "needs a result type");
  return op.declared[0];
}

std::vector<TensorType> infer_types(const Op& op, std::span<const TensorType> operands) {
  const Traits& traits = op.definition->traits;
  const bool repeats = traits.operands.repeats();
  if (operands.size() < traits.operands.size() ||
      (operands.size() > traits.operands.size() && !repeats)) {
    malformed(op, fmt::format("has {} operands, expected {}{}", operands.size(),
                              repeats ? "at least " : "", traits.operands.size()));
  }
  for (std::size_t i = 0; i < operands.size(); ++i) {
    require_dtype(op, operands[i].dtype, traits.operands.of(i));
  }
  if (traits.regions == kSomeRegions && op.regions.empty()) {
    malformed(op, "has no region, expected one or more");
  }
  const bool is_count = traits.regions != kSomeRegions && traits.regions != kAnyRegions;
  if (is_count && op.regions.size() != traits.regions) {
    malformed(op, fmt::format("has {} regions, expected {}", op.regions.size(), traits.regions));
  }
  std::vector<TensorType> types = op.definition->infer(op, operands);
  if (op.declared.empty()) return types;
  if (op.declared.size() != types.size()) {
    malformed(op, fmt::format("declares {} results, but has {}", op.declared.size(), types.size()));
  }
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (op.declared[i] == types[i]) continue;
    malformed(op, fmt::format("declares result {}, but its operands give {}", op.declared[i].text(),
                              types[i].text()));
  }
  return types;
}

}  // namespace superstep
