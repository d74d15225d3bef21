#include "sim/host/visit_ports.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
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

VisitPorts::VisitPorts(const ExchangeItem& item, std::span<const PortEvent> events,
                       std::uint64_t opening)
    : item_(item), last_cycle_(opening) {
  for (const PortEvent& event : events) {
    if (event.kind == PortEvent::Kind::kMux) {
      selections_.push_back({event.cycle, event.value, event.pc});
    } else if (event.kind == PortEvent::Kind::kSend && event.words != 0 &&
               (event.direction & kSendBothWays) != kSendNowhere) {
      sends_.push_back({event.cycle, event.value, event.words});
      const bool is_selected = !selections_.empty() && selections_.back().source == kMuxHost;
      if (is_selected || fault_) continue;
      fault_ = {event.cycle, event.pc,
                "a send in a host phase while the input mux does not select the host"};
    }
  }
  if (events.empty()) return;
  last_cycle_ = events.back().cycle;
  last_pc_ = events.back().pc;
}

std::optional<PortFault> VisitPorts::check_sends(const std::vector<SentRange>& expected) const {
  if (fault_) return fault_;
  std::vector<SentRange> sent;
  for (const Send& send : sends_) add_sent(sent, send.address, std::uint64_t{send.words} * 4);
  if (sent == expected) return std::nullopt;
  return PortFault{last_cycle_, last_pc_,
                   fmt::format("the tile sends {} to the host, but the stream table expects {}",
                               text_of(sent), text_of(expected))};
}

std::optional<PortFault> VisitPorts::check_arrival(std::uint64_t cycle) const {
  const auto next = std::ranges::upper_bound(selections_, cycle, {}, &Selection::cycle);
  const Selection mux = next == selections_.begin() ? Selection{0, kMuxIdle, last_pc_} : next[-1];
  if (mux.source == kMuxHost) return std::nullopt;
  return PortFault{
      cycle, mux.pc,
      fmt::format("arrives while the input mux {}; at the end of each packet it must select the "
                  "host",
                  mux.source == kMuxIdle ? "is idle" : fmt::format("selects {:#x}", mux.source))};
}

std::uint64_t VisitPorts::sent_by(std::uint32_t address, std::uint32_t bytes) const {
  std::uint64_t end = 0;
  for (const Send& send : sends_) {
    const std::uint32_t last = std::min(send.address + 4 * send.words, address + bytes);
    if (std::max(send.address, address) < last) {
      end = send.cycle + item_.cycles_of((last - send.address) / 4);
    }
  }
  return end;
}

std::uint64_t VisitPorts::take(std::uint32_t bytes) {
  std::uint64_t end = 0;
  for (std::uint32_t words = bytes / 4; words > 0;) {
    SUPERSTEP_CHECK(next_ < sends_.size(), "a packet has words that no send has");
    const Send& send = sends_[next_];
    const std::uint32_t part = std::min(send.words - taken_, words);
    taken_ += part;
    words -= part;
    end = send.cycle + item_.cycles_of(taken_);
    if (taken_ < send.words) continue;
    ++next_;
    taken_ = 0;
  }
  return end;
}

}  // namespace superstep
