#include "sim/tile/amp_line_handlers.h"

#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>

#include "isa/instructions.h"
#include "sim/tile/worker_execution.h"

namespace superstep {

namespace {

/// Addresses that an access can be packed for.
constexpr std::int64_t kMostPacked = std::int64_t{1} << 21;

/// Whether all accesses of a line, in so many turns from these addresses on, are possible without
/// a wait.
template <std::size_t... kNumbers>
[[gnu::always_inline]] inline bool is_possible(std::index_sequence<kNumbers...> /*addresses*/,
                                               const MemoryPort& port, const AmpLine& line,
                                               const AmpCourse& course,
                                               const std::array<std::uint32_t, 3>& from,
                                               std::uint32_t turns) {
  std::array<MemoryPort::Range, 3> ranges;
  const auto reaches = [&](std::size_t number) {
    if (!line.reaches[number]) return true;
    const std::int64_t last_turn = course.end[number] * (turns - 1);
    const std::int64_t begin = std::int64_t{from[number]};
    ranges[number] = {begin + course.low[number] + std::min<std::int64_t>(last_turn, 0),
                      begin + course.high[number] + std::max<std::int64_t>(last_turn, 0)};
    return ranges[number].last < kMostPacked && port.possible(ranges[number]);
  };
  const auto is_apart = [&](const AmpLine::Pair& pair, std::size_t one, std::size_t other) {
    if (!pair.meet) return true;
    const std::uint32_t distance = from[one] - from[other];
    return port.apart(ranges[one], ranges[other],
                      pair.step_alike ? std::min(distance, -distance) : 0);
  };
  return (reaches(kNumbers) && ...) &&
         !(line.reaches[2] && port.below_code_end(static_cast<std::uint32_t>(ranges[2].first))) &&
         (is_apart(line.pairs[kNumbers], AmpLine::kPairs[kNumbers].first,
                   AmpLine::kPairs[kNumbers].second) &&
          ...);
}

/// Notes possible accesses of a line that begins with `first`, up to one that is a race: whether
/// there is none.
bool has_no_race(WorkerContext& context, const WorkerStep* first, const AmpCourse& course,
                 std::array<std::uint32_t, 3> addresses, std::uint32_t turns) {
  for (; turns > 0; --turns) {
    const WorkerStep* at = first;
    for (const AmpCourse::Step& step : course.steps) {
      for (std::size_t number = 0; number < addresses.size(); ++number) {
        if ((step.bundle.accesses >> number & 1U) == 0) continue;
        if (context.races->access(context.race_run, at->pc, addresses[number], 8, number == 2) !=
            nullptr) {
          return false;
        }
        addresses[number] += static_cast<std::uint32_t>(step.by[number]);
      }
      at = at->next;
    }
  }
  return true;
}

/// What the AMP instruction R sees of its tile in a line.
template <class R>
class LineEnvironment {
 public:
  explicit LineEnvironment(WorkerContext& context)
      : sums_(context.accumulators.data()),
        context_(context),
        weights_(kIsF32 ? context.weights->singles(0) : context.weights->halves(0)) {}

  isa::SumsInLanes<R::block.channels>& even_sums() { return sums_; }
  [[nodiscard]] float* odd_accumulators() { return context_.accumulators.data() + 16; }
  [[nodiscard]] const float* f32_weights(std::uint32_t phase) const {
    return weights_ + 16 * phase;
  }
  [[nodiscard]] const float* f16_weights(std::uint32_t phase) const {
    return weights_ + 64 * phase;
  }
  /// The sums are those of the worker again.
  void leave() { sums_.leave(context_.accumulators.data()); }

 private:
  static constexpr bool kIsF32 = R::block.phases == 8;

  isa::SumsInLanes<R::block.channels> sums_;
  WorkerContext& context_;
  const float* weights_;  ///< of all phases
};

template <class R, class Env>
[[gnu::always_inline]] inline void run_phase(WorkerContext& context, Env& env,
                                             const AmpBundle& bundle) {
  if (bundle.phase >= R::block.phases) __builtin_unreachable();
  auto inputs = inputs_of<R>(context, bundle.operands, 0);
  std::get<std::tuple_size_v<decltype(inputs)> - 1>(inputs) = bundle.phase;
  write_outputs<R>(context, bundle.operands, execute_record<R>(env, inputs));
}

std::uint64_t pair_at(const WorkerContext& context, std::uint8_t place) {
  std::uint64_t value;
  std::memcpy(&value, &context.registers[place], sizeof(value));
  return value;
}
void put_pair(WorkerContext& context, std::uint8_t place, std::uint64_t value) {
  std::memcpy(&context.registers[place], &value, sizeof(value));
}

/// Executes so many turns of a line that begins with `begin`, one at least, if all their accesses
/// are possible and no race.
template <class R>
SUPERSTEP_FLAT bool run_bundles(WorkerContext& context, const AmpLine& line,
                                const WorkerStep* begin, std::uint32_t turns) {
  const isa::PackedAddresses packed{pair_at(context, line.registers->addresses)};
  const AmpCourse* course =
      line.courses.with(context.registers[line.registers->strides], line.bundles);
  const std::array<std::uint32_t, 3> addresses{packed.first(), packed.second(), packed.third()};
  if (course == nullptr ||
      !is_possible(std::make_index_sequence<3>(), context.port, line, *course, addresses, turns)) {
    return false;
  }
  if (context.races != nullptr && !has_no_race(context, begin, *course, addresses, turns)) {
    return false;
  }
  LineEnvironment<R> env(context);
  // No sum leaves that was not added to: NaN that is not the canonical one may.
  if (line.bundles.front().phase == 0 && env.even_sums().has_nan()) return false;
  const MemoryPort& port = context.port;
  const std::array<std::byte*, 3> from{port.at(packed.first()), port.at(packed.second()),
                                       port.at(packed.third())};
  // Variables of their own, and so registers of the host.
  std::byte *first = from[0], *second = from[1], *third = from[2];
  /// Executes steps that access alike; what follows them.
  const auto run = [&]<unsigned kAccesses>(const AmpCourse::Step* step) {
    constexpr bool kLoadsFirst = (kAccesses & AmpBundle::kLoadFirst) != 0;
    constexpr bool kLoadsSecond = (kAccesses & AmpBundle::kLoadSecond) != 0;
    constexpr bool kStoresThird = (kAccesses & AmpBundle::kStoreThird) != 0;
    for (const AmpCourse::Step* const end = step + step->alike; step != end; ++step) {
      const AmpBundle& bundle = step->bundle;
      std::uint64_t loaded = 0, also_loaded = 0;
      if constexpr (kLoadsFirst) {
        // The first field mostly steps from row to row, which a host does not foresee in few rows:
        // it hears of the row after the next.
        __builtin_prefetch(first + 2 * step->by[0]);
        std::memcpy(&loaded, first, sizeof(loaded));
        first += step->by[0];
      }
      if constexpr (kLoadsSecond) {
        std::memcpy(&also_loaded, second, sizeof(also_loaded));
        second += step->by[1];
      }
      if constexpr (kStoresThird) {
        const std::uint64_t value = pair_at(context, bundle.third_from);
        std::memcpy(third, &value, sizeof(value));
        third += step->by[2];
      }
      run_phase<R>(context, env, bundle);
      if constexpr (kLoadsFirst) put_pair(context, bundle.first_to, loaded);
      if constexpr (kLoadsSecond) put_pair(context, bundle.second_to, also_loaded);
    }
    return step;
  };
  constexpr unsigned kFirst = AmpBundle::kLoadFirst, kSecond = AmpBundle::kLoadSecond,
                     kThird = AmpBundle::kStoreThird;
  const AmpCourse::Step* const end = course->steps.data() + course->steps.size();
  do {
    for (const AmpCourse::Step* step = course->steps.data(); step != end;) {
      switch (step->bundle.accesses) {
        case kFirst | kSecond | kThird:
          step = run.template operator()<kFirst | kSecond | kThird>(step);
          break;
        case kFirst | kThird:
          step = run.template operator()<kFirst | kThird>(step);
          break;
        case kFirst | kSecond:
          step = run.template operator()<kFirst | kSecond>(step);
          break;
        case kThird:
          step = run.template operator()<kThird>(step);
          break;
        default:
          step = run.template operator()<0>(step);
      }
    }
  } while (--turns > 0);
  env.leave();
  const auto moved = [](const std::byte* to, const std::byte* begin) {
    return static_cast<std::uint32_t>(to - begin);
  };
  put_pair(context, line.registers->addresses,
           packed
               .step(moved(first, from[0]), moved(second, from[1]),
                     packed.third() + moved(third, from[2]))
               .pair);
  ++context.lines_at_once;
  return true;
}

template <class R>
const WorkerStep* run_line(WorkerContext& context, const WorkerStep* step) {
  const AmpLine& line = *step->line;
  if (!run_bundles<R>(context, line, step, 1)) [[unlikely]]
    return line.alone(context, step);
  return line.last->then(context, line.last->next);
}

template <class R>
std::uint32_t run_turns(WorkerContext& context, const WorkerStep* rpt, std::uint32_t turns) {
  return turns == 0 || run_bundles<R>(context, *rpt->body->line, rpt->next, turns) ? 0 : turns;
}

template <class R>
AmpLineHandlers handlers_of() {
  if constexpr (requires { R::block; }) {
    return {R::block.phases, run_line<R>, run_turns<R>};
  } else {
    return {};
  }
}

template <class... Records>
AmpLineHandlers handlers_of(isa::List<Records...>, std::size_t number) {
  AmpLineHandlers handlers;
  ((isa::kNumberOf<Records> == number ? void(handlers = handlers_of<Records>()) : void()), ...);
  return handlers;
}

}  // namespace

AmpLineHandlers amp_line_handlers(const isa::InstructionInfo& amp) {
  return handlers_of(isa::AmpInstructions{}, amp.number);
}

}  // namespace superstep
