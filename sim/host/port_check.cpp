#include "sim/host/port_check.h"

#include <fmt/format.h>

#include "isa/exchange_ports.h"

namespace superstep {
namespace {

std::string text_of(const std::vector<SentRange>& ranges) {
  std::string text;
  for (const SentRange& range : ranges) {
    if (!text.empty()) text += ", ";
    text += fmt::format("{} B at {:#x}", range.bytes, range.address);
  }
  return text.empty() ? "nothing" : text;
}

}  // namespace

void add_sent(std::vector<SentRange>& ranges, std::uint32_t address, std::uint64_t bytes) {
  if (bytes == 0) return;
  if (!ranges.empty() && ranges.back().address + ranges.back().bytes == address) {
    ranges.back().bytes += bytes;
  } else {
    ranges.push_back({address, bytes});
  }
}

std::optional<PortFault> check_port(std::span<const PortEvent> events,
                                    const std::vector<SentRange>& sends, bool receives) {
  std::vector<SentRange> sent;
  bool selected = false;
  bool ever_selected = false;
  for (const PortEvent& event : events) {
    if (event.kind == PortEvent::Kind::kMux) {
      selected = event.value == kMuxHost;
      ever_selected = ever_selected || selected;
    } else if (event.kind == PortEvent::Kind::kSend &&
               (event.direction & kSendBothWays) != kSendNowhere) {
      if (!selected) {
        return PortFault{event.cycle, event.pc,
                         "a send in a host phase while the input mux does not select the host"};
      }
      add_sent(sent, event.value, std::uint64_t{event.words} * 4);
    }
  }
  const std::uint64_t cycle = events.empty() ? 0 : events.back().cycle;
  const std::uint32_t pc = events.empty() ? 0 : events.back().pc;
  if (sent != sends) {
    return PortFault{cycle, pc,
                     fmt::format("the tile sends {} to the host, but the stream table expects {}",
                                 text_of(sent), text_of(sends))};
  }
  if (receives && !ever_selected) {
    return PortFault{cycle, pc,
                     "arguments arrive but the input mux never selects the host in this phase"};
  }
  return std::nullopt;
}

}  // namespace superstep
