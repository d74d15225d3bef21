#include "sim/exchange/port_row.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "isa/bundle.h"
#include "isa/exchange_ports.h"
#include "isa/instructions/exchange.h"
#include "isa/operands.h"

namespace superstep {
namespace {

/// Executes exchange instructions that need nothing of their tile, and gives their events to a
/// function of an event.
template <class Tell>
class Decoder {
 public:
  Decoder(Encoding encoding, const ExchangeItem& item, std::uint32_t pc, std::uint64_t cycle,
          Tell tell)
      : encoding_(encoding), item_(item), pc_(pc), cycle_(cycle), tell_(std::move(tell)) {}

  /// The bytes of the instruction that `code` begins with; 0 when it needs more, or is another one.
  std::size_t step(std::span<const std::byte> code) {
    const std::size_t bytes = std::min(sizeof(words_), code.size());
    std::memcpy(words_.data(), code.data(), bytes);
    ahead_ = bytes / sizeof(words_[0]);
    needs_more_ = false;
    const std::uint32_t count = ahead_ == 0 ? 0 : step(isa::ExchangeInstructions{});
    if (needs_more_) return 0;
    pc_ += 4 * count;
    return std::size_t{4} * count;
  }

  [[nodiscard]] std::uint64_t cycle() const { return cycle_; }
  [[nodiscard]] std::optional<std::uint32_t> outgoing() const { return outgoing_; }
  [[nodiscard]] std::optional<std::uint32_t> send_control() const { return send_control_; }

  void exchange_mux(std::uint32_t event, std::uint32_t source) {
    tell(PortEvent::Kind::kMux, event, source, 0, 0);
  }
  void exchange_pointer(std::uint32_t event, std::uint32_t address) {
    tell(PortEvent::Kind::kPointer, event, address, 0, 0);
  }
  std::uint64_t exchange_send(std::uint32_t words, std::uint32_t address, std::uint32_t control) {
    needs_more_ |= (control & kSendPairedBit) != 0;
    send_control_ = control;
    if (control == kSendNowhere) return words;
    tell(PortEvent::Kind::kSend, 0, address, words, control);
    outgoing_ = address + 4 * words;
    return item_.cycles_of(words);
  }
  std::uint64_t exchange_send_on(std::uint32_t words, std::uint32_t skipped_words,
                                 std::uint32_t control) {
    needs_more_ |= !outgoing_;
    return needs_more_ ? 0 : exchange_send(words, *outgoing_ + 4 * skipped_words, control);
  }
  std::uint64_t exchange_send_on(std::uint32_t words, std::uint32_t skipped_words) {
    needs_more_ |= !send_control_;
    return needs_more_ ? 0 : exchange_send_on(words, skipped_words, *send_control_);
  }
  void exchange_events(std::uint64_t events) { cycle_ += events; }
  [[nodiscard]] std::uint32_t inline_word() const { return words_[1]; }
  [[nodiscard]] Encoding encoding() const { return encoding_; }

 private:
  template <class... Records>
  std::uint32_t step(isa::List<Records...>) {
    std::uint32_t count = 0;
    static_cast<void>((is_executed<Records>(count) || ...));
    return count;
  }

  /// Whether this is the instruction; `count` becomes its words.
  template <class R>
  bool is_executed(std::uint32_t& count) {
    constexpr isa::Pattern kPattern = isa::pattern_of(R::spec.encoding);
    const std::uint32_t word = words_[0];
    if ((word & (kPattern.mask | isa::kCoIssue)) != kPattern.value) return false;
    if (R::spec.words == 2 && (pc_ % 8 != 0 || ahead_ < 2)) return true;
    execute_record<R>(*this, gather(typename R::Operands{}, [&]<class Operand, std::size_t>() {
      return isa::immediate_of<R, Operand>(word);
    }));
    count = R::spec.words;
    return true;
  }

  void tell(PortEvent::Kind kind, std::uint32_t event, std::uint32_t value, std::uint32_t words,
            std::uint32_t direction) {
    tell_(PortEvent{.kind = kind,
                    .direction = static_cast<std::uint8_t>(direction),
                    .pc = pc_,
                    .cycle = cycle_ + event,
                    .value = value,
                    .words = words});
  }

  Encoding encoding_;
  ExchangeItem item_;
  std::array<std::uint32_t, 2> words_{};  ///< as many as an instruction has
  std::size_t ahead_ = 0;                 ///< of them in the code
  std::uint32_t pc_;
  std::uint64_t cycle_;
  std::optional<std::uint32_t> outgoing_, send_control_;
  bool needs_more_ = false;
  Tell tell_;
};

}  // namespace

PortRow::PortRow(std::uint64_t id, Encoding encoding, const ExchangeItem& item, std::uint32_t pc,
                 std::span<const std::byte> code)
    : id_(id), encoding_(encoding), item_(item), pc_(pc) {
  bool was_told = false;
  std::uint32_t lowest_address = lowest_address_;
  Decoder decoder(encoding, item, pc, 0, [&](const PortEvent& event) {
    was_told = true;
    lowest_address = std::min(lowest_address, event.lowest_address());
  });
  std::size_t end = 0;
  while (const std::size_t bytes = decoder.step(code.subspan(end))) {
    end += bytes;
    cycles_ = decoder.cycle();
    has_events_ = was_told;
    lowest_address_ = lowest_address;
    outgoing_ = decoder.outgoing();
    send_control_ = decoder.send_control();
  }
  code_ = code.first(end);
}

void PortRow::append_events(std::uint64_t cycle, std::vector<PortEvent>& events) const {
  Decoder decoder(encoding_, item_, pc_, cycle,
                  [&](const PortEvent& event) { events.push_back(event); });
  std::size_t at = 0;
  while (at < code_.size()) at += decoder.step(code_.subspan(at));
}

}  // namespace superstep
