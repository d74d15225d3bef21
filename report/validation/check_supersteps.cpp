#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>

#include "base/format_version.h"
#include "report/validation/checks.h"
#include "sim/trace/table_file.h"
#include "sim/trace/tables.h"
#include "sim/trace/wide_column.h"

namespace superstep {
namespace {

/// From this format on supersteps say when visits to the host end.
constexpr unsigned kVisitEnds = 5;

std::uint64_t length_of(const SuperstepRow& row) {
  return (row.exchange + row.compute + row.sync + row.host).value();
}

/// Rows that ascend by their superstep, and name ones that there are.
template <const auto& kTable>
void check_order(const TraceFile& trace, std::uint64_t first, std::uint64_t end,
                 TraceFindings& findings) {
  TraceRule& rule = findings.rule(kTable.path_of("superstep"));
  const std::uint64_t rows = trace.rows(kTable);
  std::uint64_t before = first;
  for (std::uint64_t begin = 0; begin < rows; begin += kSuperstepChunk) {
    const std::uint64_t count = std::min(kSuperstepChunk, rows - begin);
    const auto numbers =
        read_numbers<std::uint64_t>(trace.hdf5(), kTable.path_of("superstep"), begin, count);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t number = numbers[i];
      rule.check(number >= before && number < end, begin + i, [&] {
        return number < before ? fmt::format("is {}, below {} before it", number, before)
                               : fmt::format("is {}, but the last superstep is {}", number,
                                             static_cast<std::int64_t>(end) - 1);
      });
      before = std::max(before, number);
    }
  }
}

/// Cycles that a link is busy at least for each packet of one direction, shared by all links;
/// nothing if the machine of the trace does not say.
std::optional<double> least_of_packet(const std::vector<ParameterRow>& parameters) {
  std::optional<double> overhead, clock, links;
  for (const ParameterRow& row : parameters) {
    const auto value = static_cast<double>(row.value);
    if (row.key == "host.packet_overhead") overhead = value;
    if (row.key == "tile.clock") clock = value;
    if (row.key == "host.links") links = value;
  }
  if (!overhead || !clock || !links || *links == 0) return std::nullopt;
  return *overhead * *clock / 1e9 / *links;
}

/// Rules of one superstep after the other.
class SuperstepCheck {
 public:
  SuperstepCheck(const TraceFile& trace, const SoundColumns& sound, TraceFindings& findings)
      : findings_(findings) {
    const RootRow root = read_attributes(trace.hdf5(), kRootAttributes);
    tiles_ = root.tiles;
    minor_ = minor_of(root.format_version);
    if (sound.has_all(trace.hdf5(), kUsedTiles)) used_ = trace.read(kUsedTiles).size();
    if (sound.has_all(trace.hdf5(), kSteps)) steps_ = trace.read(kSteps);
    if (!steps_.empty() && sound.has_all(trace.hdf5(), kLiveness)) {
      live_ = live_bytes_by_step(groups_of(steps_), trace.read(kLiveness));
    }
    if (sound.has_all(trace.hdf5(), kStreams)) streams_ = trace.read(kStreams);
    if (sound.has_all(trace.hdf5(), kParameters)) {
      least_of_packet_ = least_of_packet(trace.read(kParameters));
    }
  }

  void add(const SuperstepInFile& superstep) {
    const SuperstepRow& row = superstep.row;
    if (before_) {
      number_.equal(at_, row.number, before_->number + 1, "the one behind the superstep before is");
      start_.equal(at_, row.begin.value(), before_->begin.value() + length_of(*before_),
                   "the superstep before ends at");
      call_.check(row.call >= before_->call, at_, [&] {
        return fmt::format("is {}, below {} before it", row.call, before_->call);
      });
    }
    check_row(row);
    check_launches(superstep);
    check_transfers(superstep);
    before_ = row;
    ++at_;
  }

 private:
  TraceRule& rule(std::string_view column) { return findings_.rule(kSupersteps.path_of(column)); }

  void check_row(const SuperstepRow& row) {
    critical_.below(at_, index(row.critical), tiles_, "tiles");
    if (!steps_.empty()) {
      step_.below(at_, row.step, steps_.size(), "steps");
      moved_.below(at_, row.exchange_step, steps_.size(), "steps");
      if (row.step < steps_.size()) {
        operation_.equal(at_, row.operation, steps_[row.step].operation_number,
                         "that of its step is");
      }
      if (row.exchange_step < steps_.size()) {
        const StepRow& moved = steps_[row.exchange_step];
        predicted_.equal(at_, row.predicted_cycles,
                         moved.is(StepInfo::Kind::kExchange) ? moved.predicted_cycles : 0,
                         "that of its exchange_step is");
      }
      if (row.step < live_.size()) {
        live_bytes_.equal(at_, row.live_bytes, live_[row.step],
                          "the most of /memory/liveness in its steps is");
      }
    }
    if (used_) active_.at_most(at_, row.active_tiles, *used_, "the tiles with a program,");
    if (used_) {
      sum_.at_most(at_, row.compute_sum, row.compute_max * *used_, "all tiles at the most of any,");
    }
  }

  void check_launches(const SuperstepInFile& superstep) {
    std::uint64_t sum = 0;
    for (const LaunchRow& launch : superstep.launches) {
      if (!steps_.empty()) {
        launch_step_.below(launch_, launch.step, steps_.size(), "steps");
      }
      sum += launch.cycles;
      ++launch_;
    }
    shares_.equal(at_, superstep.row.compute.value(), sum, "its launches sum to");
  }

  void check_transfers(const SuperstepInFile& superstep) {
    const SuperstepRow& row = superstep.row;
    const std::uint64_t end = (row.begin + row.host).value();
    std::uint64_t bytes = 0, last_of_all = 0;
    std::array<std::uint64_t, 2> packets{};  // by direction
    for (const TransferRow& transfer : superstep.transfers) {
      const std::uint64_t last = (transfer.start + transfer.length).value();
      last_of_all = std::max(last_of_all, last);
      transfer_start_.check(transfer.start >= row.begin && last <= end, transfer_, [&] {
        return fmt::format("is {}, to {} with its cycles: not inside of superstep {}, {} to {}",
                           transfer.start.value(), last, row.number, row.begin.value(), end);
      });
      if (!streams_.empty()) {
        stream_.below(transfer_, transfer.stream, streams_.size(), "streams");
        if (transfer.stream < streams_.size()) {
          direction_.equal(transfer_, transfer.direction, streams_[transfer.stream].direction,
                           "that of its stream is");
        }
      }
      if (minor_ >= 5) {
        packets_.check((transfer.packets == 0) == (transfer.bytes == 0), transfer_, [&] {
          return fmt::format("is {} for {} B", transfer.packets, transfer.bytes);
        });
      }
      bytes += transfer.bytes;
      if (transfer.direction < packets.size()) packets[transfer.direction] += transfer.packets;
      ++transfer_;
    }
    for (const std::uint64_t count : packets) {
      if (!least_of_packet_) break;
      const double least = std::floor(*least_of_packet_ * static_cast<double>(count));
      host_.check(static_cast<double>(row.host.value()) >= least, at_, [&] {
        return fmt::format("is {}, but {} packets in one direction take {:.0f} at least",
                           row.host.value(), count, least);
      });
    }
    host_bytes_.equal(at_, row.host_bytes, bytes, "its transfers sum to");
    if (minor_ >= kVisitEnds && !superstep.transfers.empty()) {
      visit_end_.equal(at_, row.visit_end.value(), end - std::min(end, last_of_all),
                       "behind its last transfer there are");
    }
  }

  TraceFindings& findings_;
  std::uint32_t tiles_ = 0;
  unsigned minor_ = 0;
  std::optional<std::uint64_t> used_;
  std::vector<StepRow> steps_;
  std::vector<std::uint64_t> live_;  ///< by step
  std::vector<StreamRow> streams_;
  std::optional<double> least_of_packet_;
  TraceRule &number_ = rule("superstep"), &start_ = rule("start_cycle"), &call_ = rule("iteration"),
            &critical_ = rule("critical_tile"), &step_ = rule("step"),
            &moved_ = rule("exchange_step"), &operation_ = rule("operation"),
            &active_ = rule("active_tiles"), &sum_ = rule("compute_cycles_sum"),
            &shares_ = rule("compute_cycles"), &predicted_ = rule("predicted_cycles"),
            &live_bytes_ = rule("live_bytes"), &visit_end_ = rule("visit_end_cycles"),
            &host_bytes_ = rule("host_bytes"), &host_ = rule("host_cycles");
  TraceRule& launch_step_ = findings_.rule(kLaunches.path_of("step"));
  TraceRule &transfer_start_ = findings_.rule(kTransfers.path_of("start_cycle")),
            &stream_ = findings_.rule(kTransfers.path_of("stream")),
            &direction_ = findings_.rule(kTransfers.path_of("direction")),
            &packets_ = findings_.rule(kTransfers.path_of("packets"));
  std::optional<SuperstepRow> before_;
  std::uint64_t at_ = 0, launch_ = 0, transfer_ = 0;  ///< rows
};

/// Rules of rows of tiles, and of supersteps that name them.
class ProfileCheck {
 public:
  ProfileCheck(const TraceFile& trace, std::uint64_t tiles, TraceFindings& findings)
      : findings_(findings),
        computes_(trace.rows(kComputePhases)),
        exchanges_(trace.rows(kExchangePhases)),
        cycles_(trace, kComputePhases.path_of("cycles"), computes_, tiles),
        waits_(trace, kComputePhases.path_of("wait_cycles"), computes_, tiles),
        moves_(trace, kExchangePhases.path_of("cycles"), exchanges_, tiles),
        sents_(trace, kExchangePhases.path_of("sent_bytes"), exchanges_, tiles),
        receiveds_(trace, kExchangePhases.path_of("received_bytes"), exchanges_, tiles) {}

  void add(const SuperstepInFile& superstep) {
    const ProfileNumbers& profiles = *superstep.profiles;
    const std::uint64_t at = at_++;
    const bool has_compute = is_there(compute_, at, profiles.compute, computes_);
    const bool has_exchange = is_there(exchange_, at, profiles.exchange, exchanges_);
    if (has_exchange) check_h(superstep.row, profiles.exchange, at);
    if (has_compute && has_exchange) check_lengths(superstep.row, profiles, at);
  }

 private:
  static bool is_there(TraceRule& rule, std::uint64_t at, std::uint32_t number,
                       std::uint64_t rows) {
    if (number == kNoProfile) return false;
    rule.below(at, number, rows, "rows of tiles");
    return number < rows;
  }

  void check_h(const SuperstepRow& row, std::uint32_t number, std::uint64_t at) {
    const auto [known, is_new] = most_.try_emplace(number);
    if (is_new) {
      for (WideColumn* bytes : {&sents_, &receiveds_}) {
        for (const std::uint64_t of_tile : bytes->row(number)) {
          known->second = std::max(known->second, of_tile);
        }
      }
    }
    h_.equal(at, row.h_bytes, known->second, "the most of its exchange_profile is");
  }

  /// Exchange, compute and waiting of each tile fill the superstep, but for visits to the host.
  void check_lengths(const SuperstepRow& row, const ProfileNumbers& numbers, std::uint64_t at) {
    if (row.host.value() != 0) return;
    const auto [known, is_new] = lengths_.try_emplace(std::pair(numbers.compute, numbers.exchange));
    if (is_new) {
      const auto moves = moves_.row(numbers.exchange), computes = cycles_.row(numbers.compute),
                 waits = waits_.row(numbers.compute);
      for (std::size_t t = 0; t < moves.size(); ++t) {
        const std::uint64_t length = moves[t] + computes[t] + waits[t];
        if (t == 0) known->second = {length, length};
        known->second.first = std::min(known->second.first, length);
        known->second.second = std::max(known->second.second, length);
      }
    }
    const std::uint64_t shortest = known->second.first, longest = known->second.second;
    const std::uint64_t length = length_of(row);
    length_.check(longest == 0 || (shortest == length && longest == length), at, [&] {
      return fmt::format("has a tile with {} cycles, but its superstep has {}",
                         shortest == length ? longest : shortest, length);
    });
  }

  TraceRule& rule(std::string_view column) { return findings_.rule(kSupersteps.path_of(column)); }

  TraceFindings& findings_;
  std::uint64_t computes_, exchanges_;
  WideColumn cycles_, waits_, moves_, sents_, receiveds_;
  std::map<std::uint32_t, std::uint64_t> most_;  ///< that a tile of an exchange profile moves
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::pair<std::uint64_t, std::uint64_t>>
      lengths_;  ///< the shortest and the longest tile of two profiles
  TraceRule &compute_ = rule("compute_profile"), &exchange_ = rule("exchange_profile"),
            &h_ = rule("h_bytes"), &length_ = rule("compute_profile");
  std::uint64_t at_ = 0;
};

}  // namespace

void check_supersteps(const TraceFile& trace, const SoundColumns& sound, TraceFindings& findings) {
  const Hdf5File& file = trace.hdf5();
  const std::uint64_t rows = trace.rows(kSupersteps);
  if (!sound.has_all(file, kSupersteps)) return;
  const auto number_of = [&](std::uint64_t row) {
    return trace.read(kSupersteps, row, 1).front().number;
  };
  const std::uint64_t first = rows == 0 ? 0 : number_of(0);
  const std::uint64_t end = rows == 0 ? 0 : number_of(rows - 1) + 1;
  const bool has_others = sound.has_all(file, kLaunches, kTransfers);
  if (sound.has_all(file, kLaunches)) check_order<kLaunches>(trace, first, end, findings);
  if (sound.has_all(file, kTransfers)) check_order<kTransfers>(trace, first, end, findings);
  std::optional<ProfileCheck> profiles;
  if (trace.has(kProfileNumbers) &&
      sound.has_all(file, kProfileNumbers, kComputePhases, kExchangePhases, kUsedTiles)) {
    profiles.emplace(trace, trace.read(kUsedTiles).size(), findings);
  }
  // Without their columns supersteps cannot be read one by one.
  if (!has_others) return;
  SuperstepCheck check(trace, sound, findings);
  trace.for_each_superstep(0, rows, [&](const SuperstepInFile& superstep) {
    check.add(superstep);
    if (profiles && superstep.profiles) profiles->add(superstep);
  });
}

}  // namespace superstep
