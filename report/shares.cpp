#include "report/shares.h"

#include <fmt/format.h>

namespace superstep {

std::vector<Share> shares_of(std::span<const FusedOperation> operations) {
  std::uint64_t whole = 0;
  for (const FusedOperation& operation : operations) whole += operation.cycles_alone;
  if (whole == 0) return {};
  std::vector<Share> shares;
  std::uint64_t begin = 0;
  for (const FusedOperation& operation : operations) {
    shares.push_back({begin, begin + operation.cycles_alone, whole});
    begin += operation.cycles_alone;
  }
  return shares;
}

std::string shares_text(std::span<const FusedOperation> operations) {
  const std::vector<Share> shares = shares_of(operations);
  std::string text;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    text += (text.empty() ? "" : ", ") + operations[i].name;
    if (shares.empty()) continue;
    text += fmt::format(" {:.0f} %", 100.0 * static_cast<double>(operations[i].cycles_alone) /
                                         static_cast<double>(shares[i].whole));
  }
  return text;
}

}  // namespace superstep
