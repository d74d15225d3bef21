#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/units.h"

namespace superstep {

/// Where a process stands among those that have events in one cycle: by chip, then by rank.
struct ProcessPlace {
  ChipId chip{};
  std::uint32_t rank = 0;

  auto operator<=>(const ProcessPlace&) const = default;
};

template <class Message>
class Outbox;

/// A logical process of a simulation: acts only when a message arrives.
template <class Message>
class Process {
 public:
  explicit Process(ProcessPlace place) : place_(place) {}
  virtual ~Process() = default;
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /// A message arrives at `out.now()`. Processes that handle definite events do so side by side.
  virtual void handle(const Message& message, Outbox<Message>& out) = 0;
  /// What it cannot go on without ("tile 3 waits in sync zone 3 …"); empty when it waits for
  /// nothing.
  [[nodiscard]] virtual std::string waits_for() const { return {}; }

  [[nodiscard]] ProcessPlace place() const { return place_; }
  /// An event of it is handled at `time`. One before another that was is an error of who sent them.
  void reach(Cycles time) {
    SUPERSTEP_CHECK(time >= reached_, "an event at cycle " + std::to_string(time.value()) +
                                          " of a process that has come to cycle " +
                                          std::to_string(reached_.value()));
    reached_ = time;
  }

 private:
  ProcessPlace place_;
  Cycles reached_;
};

/// A message to a process at a time. Definite: the receiver can get no earlier one, whatever the
/// others do.
template <class Message>
struct Event {
  Cycles time = {};
  Process<Message>* to = nullptr;
  std::uint64_t source = 0;  ///< orders the events of a process in one cycle: a tile, a zone …
  bool is_definite = false;
  Message message;
  std::uint64_t sequence = 0;  ///< in which it was sent

  /// Events are handled in this order where one may depend on the other.
  [[nodiscard]] bool before(const Event& other) const {
    const auto key = [](const Event& event) {
      return std::tuple(event.time, event.to->place(), event.source, event.sequence);
    };
    return key(*this) < key(other);
  }
};

/// What a process sends while it handles an event.
template <class Message>
class Outbox {
 public:
  explicit Outbox(Cycles now) : now_(now) {}

  [[nodiscard]] Cycles now() const { return now_; }

  /// An event in the past is an error of the process.
  void send(Event<Message> event) {
    SUPERSTEP_CHECK(event.time >= now_, "an event in the past, at cycle " +
                                            std::to_string(event.time.value()) +
                                            ", is sent in cycle " + std::to_string(now_.value()));
    events_.push_back(std::move(event));
  }
  [[nodiscard]] std::vector<Event<Message>>& events() { return events_; }

 private:
  Cycles now_;
  std::vector<Event<Message>> events_;
};

/// A conservative parallel discrete-event kernel, by the conditional events of Chandy and Sherman
/// (The conditional event approach to distributed simulation, 1989): definite events are handled
/// at once, side by side, however far ahead they are; when there are none, the first of all becomes
/// definite. What happens does not depend on threads.
template <class Message>
class Kernel {
 public:
  /// Calls a body for 0 … count - 1, on several threads if it likes.
  using ForEach = std::function<void(std::size_t count, const std::function<void(std::size_t)>&)>;

  explicit Kernel(ForEach side_by_side) : side_by_side_(std::move(side_by_side)) {}

  /// `process` outlives the kernel.
  void add(Process<Message>& process) { processes_.push_back(&process); }

  /// From outside of all processes, between two steps.
  void send(Event<Message> event) {
    Outbox<Message> out(now_);
    out.send(std::move(event));
    take(out);
  }

  /// Handles what can be handled next; false when there is no event left.
  bool step() {
    if (!definite_.empty()) {
      handle_definite();
      return true;
    }
    if (conditional_.empty()) return false;
    Event<Message> event = conditional_.top();
    conditional_.pop();
    SUPERSTEP_CHECK(event.time >= now_, "events out of order");
    now_ = event.time;
    Outbox<Message> out(event.time);
    handle(event, out);
    take(out);
    return true;
  }

  /// The time that every process has reached.
  [[nodiscard]] Cycles now() const { return now_; }

  /// Whether something is handled next whatever the others do.
  [[nodiscard]] bool has_definite() const { return !definite_.empty(); }
  /// When the first of those is sent for.
  [[nodiscard]] Cycles first_definite() const {
    return std::ranges::min(definite_, {}, &Event<Message>::time).time;
  }
  /// When the first of the other events is handled, if there is one.
  [[nodiscard]] std::optional<Cycles> next() const {
    return conditional_.empty() ? std::nullopt : std::optional(conditional_.top().time);
  }
  /// Whether `holds(event)` for that one.
  template <class Holds>
  [[nodiscard]] bool next_is(const Holds& holds) const {
    return !conditional_.empty() && holds(conditional_.top());
  }
  /// Whether `holds(event)` for all events that are left.
  template <class Holds>
  [[nodiscard]] bool all_of(const Holds& holds) const {
    return std::ranges::all_of(definite_, holds) && std::ranges::all_of(conditional_.list(), holds);
  }

  /// Time and events. Those that are added to it are the same at both ends.
  template <class Archive>
  void state(Archive& archive) {
    archive(now_, next_sequence_);
    state_of_events(archive, definite_);
    state_of_events(archive, conditional_.list());
  }

  /// When no event is left: who waits for what, in order of their places; empty when nobody does.
  [[nodiscard]] std::string deadlock() const {
    std::vector<Process<Message>*> processes = processes_;
    std::ranges::sort(processes, {}, &Process<Message>::place);
    std::string text;
    for (const Process<Message>* process : processes) {
      const std::string wait = process->waits_for();
      if (!wait.empty()) text += (text.empty() ? "" : "; ") + wait;
    }
    return text;
  }

 private:
  struct Later {
    bool operator()(const Event<Message>& a, const Event<Message>& b) const { return b.before(a); }
  };

  /// A priority queue whose events can be looked at.
  class Queue : public std::priority_queue<Event<Message>, std::vector<Event<Message>>, Later> {
   public:
    [[nodiscard]] std::vector<Event<Message>>& list() { return this->c; }
    [[nodiscard]] const std::vector<Event<Message>>& list() const { return this->c; }
  };

  template <class Archive>
  void state_of_events(Archive& archive, std::vector<Event<Message>>& events) {
    std::uint64_t count = events.size();
    archive(count);
    if (Archive::kReads) events.clear();
    for (std::uint64_t i = 0; i < count; ++i) {
      Event<Message> event = Archive::kReads ? Event<Message>() : events[i];
      auto to =
          static_cast<std::uint32_t>(std::ranges::find(processes_, event.to) - processes_.begin());
      archive(event.time, to, event.source, event.is_definite, event.message, event.sequence);
      if constexpr (Archive::kReads) {
        if (to >= processes_.size()) throw std::runtime_error("an event of an unknown process");
        event.to = processes_[to];
        events.push_back(std::move(event));
      }
    }
  }

  static void handle(const Event<Message>& event, Outbox<Message>& out) {
    event.to->reach(event.time);
    event.to->handle(event.message, out);
  }

  /// The first definite event of each process.
  void handle_definite() {
    std::vector<Event<Message>> events = std::exchange(definite_, {});
    std::ranges::sort(events, [](const auto& a, const auto& b) { return a.before(b); });
    std::vector<Event<Message>> first;
    for (Event<Message>& event : events) {
      const bool is_first =
          std::ranges::none_of(first, [&](const auto& other) { return other.to == event.to; });
      (is_first ? first : definite_).push_back(std::move(event));
    }
    std::vector<Outbox<Message>> out;
    out.reserve(first.size());
    for (const Event<Message>& event : first) out.emplace_back(event.time);
    side_by_side_(first.size(), [&](std::size_t i) { handle(first[i], out[i]); });
    for (Outbox<Message>& sent : out) take(sent);
  }

  void take(Outbox<Message>& out) {
    for (Event<Message>& event : out.events()) {
      event.sequence = next_sequence_++;
      if (event.is_definite) {
        definite_.push_back(std::move(event));
      } else {
        conditional_.push(std::move(event));
      }
    }
  }

  ForEach side_by_side_;
  std::vector<Process<Message>*> processes_;
  std::vector<Event<Message>> definite_;
  Queue conditional_;
  std::uint64_t next_sequence_ = 0;
  Cycles now_;
};

}  // namespace superstep
