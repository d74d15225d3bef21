#include "compiler/schedule/row_encoder.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "isa/exchange_ports.h"
#include "isa/instructions/exchange.h"
#include "isa/instructions/supervisor.h"
#include "isa/timing.h"

namespace superstep {
namespace {

template <class Record, class Operand>
struct FieldOf {
  static constexpr isa::Field kField = isa::field_of(Record::spec.encoding, Operand::kLetter);
};

template <class Record, class... Operands, class... Values>
std::uint32_t insert_operands(isa::List<Operands...>, Values... values) {
  static_assert(sizeof...(Operands) == sizeof...(Values));
  constexpr std::uint32_t kFixed = isa::pattern_of(Record::spec.encoding).value;
  const auto insert = [](const isa::Field& field, std::uint32_t value) {
    SUPERSTEP_CHECK(value <= field.mask(), "an exchange operand fits its field");
    return field.insert(value);
  };
  return (kFixed | ... |
          insert(FieldOf<Record, Operands>::kField, static_cast<std::uint32_t>(values)));
}

/// The word of an instruction known at compile time: rows are long and looked up by no name.
template <class Record, class... Values>
std::uint32_t word_of(Values... values) {
  return insert_operands<Record>(typename Record::Operands{}, values...);
}

constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

/// A change of the incoming port and its state from then on.
struct PortControl {
  std::uint64_t cycle = 0;  ///< in which the row has it
  std::uint64_t begin = 0;  ///< in which the first item it is about begins
  bool set_mux = false, set_pointer = false;
  std::uint32_t mux = kMuxIdle;
  std::uint32_t pointer = 0;  ///< at `begin`
  bool receiving = false;     ///< the pointer advances with each item

  [[nodiscard]] std::uint32_t pointer_at(std::uint64_t t, const ExchangeItem& item) const {
    return receiving ? pointer + static_cast<std::uint32_t>(item.words_in(t - begin)) * 4 : pointer;
  }
};

std::vector<PortControl> controls_of(std::span<const RowReceive> receives,
                                     const ExchangeItem& item) {
  std::vector<PortControl> controls;
  controls.reserve(2 * receives.size());
  std::uint32_t mux = kMuxIdle, reached = 0;
  std::uint64_t free_from = 0;
  bool ends_whole = true;  // the words received last
  const auto add_idle = [&] {
    controls.push_back({free_from, free_from, true, false, kMuxIdle, reached, false});
    mux = kMuxIdle;
  };
  for (const RowReceive& receive : receives) {
    SUPERSTEP_CHECK(receive.cycle >= free_from, "receives of a row do not overlap");
    if (receive.cycle > free_from && mux != kMuxIdle) add_idle();
    const bool from_tile = receive.source < kMuxHost;
    const std::uint32_t pointer = from_tile ? receive.address : reached;
    // Behind an item that is not full, cycles do not tell where the pointer is.
    const bool set_pointer = pointer != reached || (from_tile && !ends_whole);
    if (mux != receive.source || set_pointer) {
      controls.push_back({receive.cycle, receive.cycle, mux != receive.source, set_pointer,
                          receive.source, pointer, from_tile});
    }
    mux = receive.source;
    reached = from_tile ? pointer + receive.words * 4 : pointer;
    ends_whole = !from_tile || item.is_whole(receive.words);
    free_from = receive.cycle + (from_tile ? item.cycles_of(receive.words) : receive.words);
  }
  if (mux != kMuxIdle && mux != kMuxHost) add_idle();
  return controls;
}

/// Puts controls that fall into items that leave behind these. What arrives takes as long as an
/// item, and its mux and pointer count in the last of its cycles: that is not too late.
void put_between_items(std::vector<PortControl>& controls, std::span<const RowSend> sends,
                       const ExchangeItem& item) {
  if (item.cycles() == 1) return;
  std::size_t kept = 0, next = 0;
  for (PortControl control : controls) {
    const auto end = [&] { return sends[next].cycle + item.cycles_of(sends[next].words); };
    while (next < sends.size() && end() <= control.cycle) ++next;
    if (next < sends.size() && sends[next].cycle < control.cycle) {
      const std::uint64_t before = control.cycle - sends[next].cycle;
      control.cycle += (item.cycles() - before % item.cycles()) % item.cycles();
    }
    // The pause between two receives may be shorter than an item.
    if (kept > 0 && controls[kept - 1].cycle == control.cycle) --kept;
    controls[kept++] = control;
  }
  controls.resize(kept);
}

/// A number of which one bit lies apart from the others.
struct Split {
  std::uint32_t low, high;

  Split(std::uint32_t value, unsigned bits)
      : low(value & ((1U << bits) - 1)), high(value >> bits) {}
};

/// One instruction of a row.
struct Piece {
  enum class Kind : std::uint8_t {
    kDelay,         ///< nothing happens
    kDelayMux,      ///< mux at the last event
    kDelayPointer,  ///< pointer at the last event
    kSend,          ///< from `address`
    kSendOn,        ///< goes on where the last send ended
    kSendMux,       ///< goes on, mux at the first event
    kSendPointer,   ///< goes on, pointer at the first event
    kBoth,          ///< two words: both controls at the first event, sends if `sending`
  };
  Kind kind = Kind::kDelay;
  std::uint32_t count = 0;  ///< words of a send, else events
  bool sending = false;
  std::uint32_t address = 0;  ///< of the first word sent
  std::uint32_t mux = kMuxIdle,
                pointer = 0;  ///< in force at the event of a control, else at the first
};

class Row {
 public:
  /// Of about so many words.
  Row(const MachineConfig& machine, std::uint32_t zone, std::size_t words)
      : encoding_(machine.isa.encoding), item_(machine) {
    code_.reserve(words);
    code_.push_back(word_of<isa::Sync>(zone));
  }

  void add(const Piece& piece) {
    if (piece.kind == Piece::Kind::kBoth) align();
    next();
    last_ = piece;
    words_ += piece.kind == Piece::Kind::kBoth ? 2 : 1;
  }

  /// Makes the number of words even without a change of timing.
  void align() {
    if (words_ % 2 == 0) return;
    SUPERSTEP_CHECK(!empty(), "a row has an instruction before its first aligned one");
    Piece& last = last_;
    ++words_;
    const std::uint32_t least = last.sending ? item_.words() : 1;
    if (last.count <= least) {
      last.kind = Piece::Kind::kBoth;
      return;
    }
    Piece rest = last;
    if (last.sending) {
      rest.kind = Piece::Kind::kSendOn;
      rest.count -= least;
      rest.address += 4 * least;
      last.count = least;
    } else {
      last.kind = Piece::Kind::kDelay;
      last.count -= least;
      rest.count = least;
    }
    next();
    last_ = rest;
  }

  [[nodiscard]] bool empty() const { return last_.count == 0; }

  [[nodiscard]] std::vector<std::uint32_t> code() {
    next();
    return {code_.begin(), code_.end()};
  }

 private:
  /// What comes last may still change; what is before it does not.
  void next() {
    if (!empty()) append(last_);
    last_.count = 0;
  }

  /// What is high is 0 in mk2.
  void append(const Piece& piece) {
    const std::uint32_t count = piece.count - 1;
    const Split from(piece.address / 4, kMk2PointerBits);
    const Split pointer(piece.pointer / 4, kMk2PointerBits);
    const std::uint32_t mux = mux_code(encoding_, piece.mux);
    const auto with_count = [&](std::uint32_t high) { return count | high << kWideCountBits; };
    switch (piece.kind) {
      case Piece::Kind::kDelay:
        code_.push_back(word_of<isa::Delay>(count));
        return;
      case Piece::Kind::kDelayMux: {
        const Split source(mux, kMk2MuxBits);
        code_.push_back(word_of<isa::Delayxpic>(count, source.high, source.low));
        return;
      }
      case Piece::Kind::kDelayPointer:
        code_.push_back(word_of<isa::Delaypic>(count, pointer.high, pointer.low));
        return;
      case Piece::Kind::kSend:
        code_.push_back(word_of<isa::Send>(with_count(from.high), from.low, kSendBothWays));
        return;
      case Piece::Kind::kSendOn:
        code_.push_back(word_of<isa::Sendoff>(count % 64, count / 64, 0, kSendBothWays));
        return;
      case Piece::Kind::kSendMux:
        code_.push_back(word_of<isa::Sendpic>(count, kSendPicMux, mux));
        return;
      case Piece::Kind::kSendPointer:
        code_.push_back(word_of<isa::Sendpic>(count, kSendPicPointer | pointer.high, pointer.low));
        return;
      case Piece::Kind::kBoth:
        code_.push_back(piece.sending
                            ? word_of<isa::Sendpicp>(with_count(pointer.high), from.low,
                                                     kSendBothWays, from.high)
                            : word_of<isa::Sendpicp>(with_count(pointer.high), 0, kSendNowhere, 0));
        code_.push_back(mux << kMk2PointerBits | pointer.low);
        return;
    }
  }

  Encoding encoding_;
  ExchangeItem item_;
  std::vector<std::uint32_t> code_;
  Piece last_;
  std::size_t words_ = 1;  ///< with the sync and what comes last
};

/// Walks the cycles between the events of one row and picks the instructions.
class RowBuilder {
 public:
  RowBuilder(const MachineConfig& machine, std::uint32_t zone, std::span<const RowSend> sends,
             std::vector<PortControl> controls)
      : row_(machine, zone, 2 * (1 + sends.size() + 2 * controls.size())),
        item_(machine),
        max_send_(std::min(machine.exchange.max_send_words, max_send(machine.isa.encoding))),
        sends_(sends),
        controls_(std::move(controls)) {}

  std::vector<std::uint32_t> build() {
    std::uint64_t cycle = 0;
    while (next_send_ < sends_.size() || next_control_ < controls_.size()) {
      const bool sending = next_send_ < sends_.size() && sends_[next_send_].cycle <= cycle;
      const bool control =
          next_control_ < controls_.size() && controls_[next_control_].cycle == cycle;
      if (control) {
        before_ = now_;
        now_ = &controls_[next_control_++];
      }
      const std::uint64_t end = boundary(cycle, sending);
      if (sending) {
        send(cycle, end, control);
      } else {
        wait(cycle, end, control);
      }
      cycle = end;
    }
    if (row_.empty()) row_.add(piece(Piece::Kind::kDelay, 1, 0));
    row_.align();
    return row_.code();
  }

 private:
  /// Where the state next changes after `cycle`.
  [[nodiscard]] std::uint64_t boundary(std::uint64_t cycle, bool sending) const {
    std::uint64_t end = kNever;
    if (next_control_ < controls_.size()) end = controls_[next_control_].cycle;
    if (next_send_ < sends_.size()) {
      const RowSend& send = sends_[next_send_];
      end = std::min(end, sending ? end_of(send) : send.cycle);
    }
    return end == kNever ? cycle + 1 : end;
  }

  [[nodiscard]] std::uint64_t end_of(const RowSend& send) const {
    return send.cycle + item_.cycles_of(send.words);
  }

  [[nodiscard]] Piece piece(Piece::Kind kind, std::uint64_t count, std::uint64_t control_cycle,
                            bool sending = false, std::uint32_t address = 0) const {
    return {kind,      static_cast<std::uint32_t>(count),     sending, address,
            now_->mux, now_->pointer_at(control_cycle, item_)};
  }

  void flush_idle(std::uint64_t cycle) {
    while (idle_ > 0) {
      const std::uint64_t part = std::min<std::uint64_t>(idle_, kMaxDelay);
      row_.add(piece(Piece::Kind::kDelay, part, cycle - idle_));
      idle_ -= part;
    }
  }

  void wait(std::uint64_t cycle, std::uint64_t end, bool control) {
    if (!control) {
      idle_ += end - cycle;
      return;
    }
    if (now_->set_mux && now_->set_pointer) {
      flush_before_control(cycle);
      const std::uint64_t part = std::min<std::uint64_t>(end - cycle, max_send_);
      row_.add(piece(Piece::Kind::kBoth, part, cycle));
      idle_ = end - cycle - part;
      return;
    }
    if (idle_ >= (now_->set_mux ? kMaxMuxDelay : kMaxPointerDelay)) flush_before_control(cycle);
    row_.add(piece(now_->set_mux ? Piece::Kind::kDelayMux : Piece::Kind::kDelayPointer, idle_ + 1,
                   cycle));
    idle_ = end - cycle - 1;
  }

  /// The delay before a control still sees the state before it.
  void flush_before_control(std::uint64_t cycle) {
    std::swap(now_, before_);
    flush_idle(cycle);
    std::swap(now_, before_);
  }

  void send(std::uint64_t cycle, std::uint64_t end, bool control) {
    const RowSend& send = sends_[next_send_];
    const bool start = cycle == send.cycle;
    if (control) {
      flush_before_control(cycle);
    } else {
      flush_idle(cycle);
    }
    const auto sent = static_cast<std::uint32_t>(item_.words_in(cycle - send.cycle));
    std::uint32_t address = send.address + sent * 4;
    std::uint64_t words = std::min<std::uint64_t>(send.words - sent, item_.words_in(end - cycle));
    Piece::Kind kind = Piece::Kind::kSend;
    if (control && (start || (now_->set_mux && now_->set_pointer))) {
      kind = Piece::Kind::kBoth;
    } else if (control) {
      kind = now_->set_mux ? Piece::Kind::kSendMux : Piece::Kind::kSendPointer;
    }
    std::uint64_t part = std::min<std::uint64_t>(words, max_send_);
    row_.add(piece(kind, part, cycle, true, address));
    while (part < words) {
      words -= part;
      cycle += item_.cycles_of(part);
      address += static_cast<std::uint32_t>(part) * 4;
      part = std::min<std::uint64_t>(words, kMaxSendOffset);
      row_.add(piece(Piece::Kind::kSendOn, part, cycle, true, address));
    }
    if (end == end_of(send)) ++next_send_;
  }

  Row row_;
  ExchangeItem item_;
  std::uint64_t max_send_;
  std::span<const RowSend> sends_;
  std::vector<PortControl> controls_;
  std::size_t next_send_ = 0, next_control_ = 0;
  static constexpr PortControl kNoPortControl{};
  const PortControl *now_ = &kNoPortControl,
                    *before_ = now_;  ///< since the last control, and until it
  std::uint64_t idle_ = 0;
};

}  // namespace

std::vector<std::uint32_t> encode_row(const MachineConfig& machine, std::uint32_t zone,
                                      std::span<const RowSend> sends,
                                      std::span<const RowReceive> receives) {
  const ExchangeItem item(machine);
  std::vector<PortControl> controls = controls_of(receives, item);
  put_between_items(controls, sends, item);
  return RowBuilder(machine, zone, sends, std::move(controls)).build();
}

}  // namespace superstep
