#pragma once

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "isa/instructions/exchange.h"
#include "isa/instructions/supervisor.h"
#include "sim/exchange/port_event.h"
#include "tests/gc200.h"

namespace superstep::test {

/// Executes a row's exchange instructions by their records, from `release` on, without a tile.
class RowDecoder {
 public:
  explicit RowDecoder(std::uint64_t release, const MachineConfig& machine = gc200())
      : cycle_(release), encoding_(machine.isa.encoding), width_(machine.exchange.width_bytes) {}

  std::vector<PortEvent> run(const std::vector<std::uint32_t>& code) {
    for (at_ = 0; at_ < code.size();) {
      const std::uint32_t word = code[at_];
      if (word >> 4 == 0x4180000) {
        ++at_;
        continue;
      }
      inline_word_ = at_ + 1 < code.size() ? code[at_ + 1] : 0;
      if (!step(word, isa::ExchangeInstructions{})) {
        throw std::runtime_error("no exchange instruction");
      }
    }
    return events_;
  }

  /// The cycle after the last instruction.
  [[nodiscard]] std::uint64_t cycle() const { return cycle_; }

  [[nodiscard]] Encoding encoding() const { return encoding_; }
  void exchange_mux(std::uint32_t event, std::uint32_t source) {
    events_.push_back({PortEvent::Kind::kMux, 0, 0, cycle_ + event, source, 0});
  }
  void exchange_pointer(std::uint32_t event, std::uint32_t address) {
    events_.push_back({PortEvent::Kind::kPointer, 0, 0, cycle_ + event, address, 0});
  }
  std::uint32_t exchange_send(std::uint32_t words, std::uint32_t address, std::uint32_t control) {
    if (control % 4 == 0) return words;
    outgoing_ = address;
    control_ = control;
    events_.push_back(
        {PortEvent::Kind::kSend, static_cast<std::uint8_t>(control), 0, cycle_, outgoing_, words});
    outgoing_ += words * 4;
    return (words * 4 + width_ - 1) / width_;
  }
  std::uint32_t exchange_send_on(std::uint32_t words, std::uint32_t skipped) {
    return exchange_send(words, outgoing_ + skipped * 4, control_);
  }
  std::uint32_t exchange_send_on(std::uint32_t words, std::uint32_t skipped,
                                 std::uint32_t control) {
    return exchange_send(words, outgoing_ + skipped * 4, control);
  }
  void exchange_events(std::uint32_t count) { cycle_ += count; }
  [[nodiscard]] std::uint32_t inline_word() const { return inline_word_; }

 private:
  template <class... Records>
  bool step(std::uint32_t word, isa::List<Records...>) {
    return (try_record<Records>(word, typename Records::Operands{}) || ...);
  }

  template <class Record, class... Operands>
  bool try_record(std::uint32_t word, isa::List<Operands...>) {
    const isa::Pattern pattern = isa::pattern_of(Record::spec.encoding);
    if ((word & pattern.mask) != pattern.value) return false;
    if (Record::spec.words == 2 && at_ % 2 != 0) {
      throw std::runtime_error("a two-word instruction is not aligned");
    }
    Record::execute(*this,
                    isa::field_of(Record::spec.encoding, Operands::kLetter).extract(word)...);
    at_ += Record::spec.words;
    return true;
  }

  std::uint64_t cycle_;
  Encoding encoding_;
  std::uint32_t width_;
  std::size_t at_ = 0;
  std::uint32_t inline_word_ = 0;
  std::uint32_t outgoing_ = 0, control_ = 0;
  std::vector<PortEvent> events_;
};

}  // namespace superstep::test
