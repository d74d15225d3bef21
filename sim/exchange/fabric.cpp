#include "sim/exchange/fabric.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

#include "base/error.h"
#include "base/each_index.h"
#include "isa/timing.h"
#include "sim/exchange/phase_cache.h"
#include "sim/exchange/phase_resolver.h"

namespace superstep {
namespace {

/// For all kept phases of a machine: no more than tile memory takes anyway, of which a bow has
/// 900 MiB.
constexpr std::size_t kMostKeptBytes = std::size_t{1} << 30;
/// So many copies ahead the host is asked to fetch their bytes.
constexpr std::size_t kCopiesAhead = 16;

}  // namespace

std::vector<PortEvent> FabricPort::events() const {
  std::vector<PortEvent> all;
  log->append_events(all);
  return all;
}

class Fabric::Impl {
 public:
  Impl(const MachineConfig& machine, std::uint32_t check_period, LatencyLaw law)
      : item_(machine),
        memory_base_(machine.tile.memory_base),
        resolver_(machine, std::move(law)),
        cache_(kMostKeptBytes),
        check_period_(check_period) {}

  const FabricResult& resolve(std::span<const FabricPort> ports) {
    result_.fault.reset();
    const ResolvedPhase* const kept = cache_.find(ports);
    const std::uint64_t begin = cache_.begin();
    if (kept != nullptr) {
      ++repeats_;
      if (check_period_ != 0 && repeats_ % check_period_ == 0) check(*kept, ports, begin);
      play(*kept, ports, begin);
      return result_;
    }
    result_.fault = resolver_.resolve(ports, begin, phase_);
    play(phase_, ports, begin);
    if (!result_.fault) cache_.keep(phase_);
    return result_;
  }

  [[nodiscard]] std::uint64_t repeats() const { return repeats_; }

 private:
  void check(const ResolvedPhase& kept, std::span<const FabricPort> ports, std::uint64_t begin) {
    const std::optional<FabricFault> fault = resolver_.resolve(ports, begin, phase_);
    SUPERSTEP_CHECK(!fault, "a phase that was kept has a fault");
    SUPERSTEP_CHECK(phase_ == kept, "a phase that was kept is another one");
  }

  /// Of the ports of one tile.
  void report(const ResolvedPhase& phase, std::span<const FabricPort> ports, std::size_t p,
              std::uint64_t begin) {
    PortResult& port = result_.ports[p];
    port = phase.ports[p];
    if (!ports[p].log->empty()) port.last_event += begin;
  }

  /// Moves the words of a phase, and reports of its ports.
  void play(const ResolvedPhase& phase, std::span<const FabricPort> ports, std::uint64_t begin) {
    result_.ports.resize(ports.size());
    memories_.clear();
    for (const FabricPort& port : ports) memories_.push_back(port.memory.data());
    result_.bytes = result_.last_event = 0;
    const bool has_changed =
        std::ranges::any_of(ports, [](const FabricPort& port) { return !port.sent.empty(); });
    const bool is_staged = phase.overwrites || has_changed;
    if (is_staged) stage_words(phase, ports, begin);
    std::mutex adding;
    each_part(ports.size(), kPortsARange, [&](std::size_t first, std::size_t end) {
      std::uint64_t bytes = 0, last_event = 0;
      for (std::size_t p = first; p != end; ++p) {
        if (is_staged) {
          unstage_words(phase, ports, p);
        } else {
          copy_words(phase, p);
        }
        report(phase, ports, p, begin);
        bytes += result_.ports[p].traffic.received_bytes;
        last_event = std::max(last_event, result_.ports[p].last_event);
      }
      const std::scoped_lock lock(adding);
      result_.bytes += bytes;
      result_.last_event = std::max(result_.last_event, last_event);
    });
  }

  static std::span<const WordCopy> copies_of(const ResolvedPhase& phase, std::size_t port) {
    const std::size_t first = port == 0 ? 0 : phase.copies_end[port - 1];
    return {phase.copies.data() + first, phase.copies_end[port] - first};
  }

  /// The words that a port receives. They come from all over the machine, which no host foresees.
  void copy_words(const ResolvedPhase& phase, std::size_t p) const {
    std::byte* const memory = memories_[p];
    const std::span<const WordCopy> copies = copies_of(phase, p);
    for (std::size_t i = 0; i < copies.size(); ++i) {
      const WordCopy& copy = copies[i];
      const WordCopy& later = copies[std::min(i + kCopiesAhead, copies.size() - 1)];
      __builtin_prefetch(memories_[later.source] + later.from);
      __builtin_prefetch(memory + later.to, 1);
      std::memcpy(memory + copy.to, memories_[copy.source] + copy.from, copy.bytes);
    }
  }

  /// The same, of those that were staged.
  void unstage_words(const ResolvedPhase& phase, std::span<const FabricPort> ports,
                     std::size_t p) const {
    const std::byte* from = staged_[p].data();
    for (const WordCopy& copy : copies_of(phase, p)) {
      std::memcpy(ports[p].memory.data() + copy.to, from, copy.bytes);
      from += copy.bytes;
    }
  }

  /// Of the words of a copy, those that memory may no longer hold.
  void copy_sent(std::span<const SentWord> sent, const WordCopy& copy, std::uint64_t begin,
                 std::byte* to) const {
    const std::uint64_t first = begin + copy.sent, end = first + item_.cycles_of(copy.bytes / 4);
    for (auto word = std::ranges::lower_bound(sent, first, {}, &SentWord::cycle);
         word != sent.end() && word->cycle < end; ++word) {
      const std::uint32_t at = word->address - memory_base_ - copy.from;
      if (at < copy.bytes) std::memcpy(to + at, &word->value, sizeof(word->value));
    }
  }

  /// Every word is read before the first is written, where a tile sends what it later overwrites.
  void stage_words(const ResolvedPhase& phase, std::span<const FabricPort> ports,
                   std::uint64_t begin) {
    if (staged_.size() < ports.size()) staged_.resize(ports.size());
    each_index(ports.size(), kPortsARange, [&](std::size_t p) {
      staged_[p].resize(phase.ports[p].traffic.received_bytes);
      std::byte* to = staged_[p].data();
      for (const WordCopy& copy : copies_of(phase, p)) {
        std::memcpy(to, ports[copy.source].memory.data() + copy.from, copy.bytes);
        copy_sent(ports[copy.source].sent, copy, begin, to);
        to += copy.bytes;
      }
    });
  }

  ExchangeItem item_;
  std::uint32_t memory_base_;
  PhaseResolver resolver_;
  PhaseCache cache_;
  std::uint32_t check_period_;
  std::uint64_t repeats_ = 0;
  ResolvedPhase phase_;
  std::vector<std::byte*> memories_;            ///< by port: side by side, as copies look them up
  std::vector<std::vector<std::byte>> staged_;  ///< by port: the words received, in their order
  FabricResult result_;
};

Fabric::Fabric(const MachineConfig& machine, std::uint32_t check_period, LatencyLaw law) {
  std::vector<Problem> found;
  for (const BrokenRule& rule : problems(machine)) found.push_back({{}, rule.message});
  if (!found.empty()) throw MalformedInput(std::move(found));
  impl_ = std::make_unique<Impl>(machine, check_period, std::move(law));
}
Fabric::~Fabric() = default;

const FabricResult& Fabric::resolve(std::span<const FabricPort> ports) {
  return impl_->resolve(ports);
}

std::uint64_t Fabric::repeats() const { return impl_->repeats(); }

}  // namespace superstep
