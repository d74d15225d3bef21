#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/rules/rules.h"
#include "report/stream_totals.h"
#include "sim/trace/schema.h"

namespace superstep {
namespace {

constexpr std::string_view kRepeat = "a longer `--repeat`, whose calls share what moves once a run";
/// Of such a run it is not known what moves once.
constexpr std::string_view kRepeatOfOneCall =
    "a longer `--repeat`, which tells what moves once a run, and whose calls share it";

/// `arg4 (pixels)`
std::string with_label(const StreamRow& stream) {
  return stream.label.empty() ? stream.name : fmt::format("{} ({})", stream.name, stream.label);
}

/// What streams move in some visits, and the one that takes most cycles.
struct Moved {
  Cycles cycles;
  StreamTotals most = {};

  void add(const StreamTotals& stream) {
    cycles += stream.cycles;
    if (stream.cycles > most.cycles) most = stream;
  }
  [[nodiscard]] std::string text() const {
    return fmt::format("{}{}", grouped(cycles),
                       most.name.empty()
                           ? ""
                           : fmt::format(" (most {}: {} in {})", with_label(most),
                                         grouped(most.cycles), counted(most.packets, "packet")));
  }
};

/// What of the host's cycles moves once a run, and what in more visits than one; one call does not
/// tell of arguments and results, which are in `again`.
struct HostCycles {
  Moved once, again;
  std::string donatable;  ///< `result0, which has the type of arg2`, or empty
};

HostCycles host_cycles(const TraceFile& file, bool is_one_call) {
  const std::vector<StreamTotals> streams = stream_totals(file);
  HostCycles out;
  // Arguments that come once, by type, less the results that take the place of one.
  std::map<std::string, std::vector<std::string>> stay;
  const auto is = [](const StreamRow& stream, std::string_view what) {
    return stream.name.starts_with(what);
  };
  for (const StreamTotals& stream : streams) {
    const bool is_once = stream.transfers <= 1 && (!is_one_call || is(stream, "goes_on"));
    (is_once ? out.once : out.again).add(stream);
    if (is_once && is(stream, "arg")) stay[stream.type].push_back(with_label(stream));
  }
  for (const StreamTotals& stream : streams) {
    if (!is(stream, "result") || stream.transfers > 1) continue;
    if (auto& donated = stay[stream.type]; !donated.empty()) donated.pop_back();
  }
  Cycles most;
  for (const StreamTotals& stream : streams) {
    if (!is(stream, "result") || stream.transfers <= 1 || stream.cycles <= most) continue;
    const std::vector<std::string>& left = stay[stream.type];
    if (left.empty()) continue;
    most = stream.cycles;
    out.donatable = fmt::format("{}, which has the type of {}", with_label(stream), left.front());
  }
  return out;
}

/// What to try about the parts that take some of the cycles, those that take most first.
std::string advice_of(const HostCycles& host, Cycles latency, bool is_one_call) {
  constexpr double kSome = 0.10;
  struct Part {
    Cycles cycles;
    std::string advice;
  };
  std::string again = fmt::format("smaller types for {} (f16, i8)", with_label(host.again.most));
  if (!host.donatable.empty())
    again = fmt::format(
        "donate the argument that takes the value of {} (`jax.jit(f, donate_argnums=...)`)",
        host.donatable);
  Part parts[] = {
      {host.once.cycles, std::string(is_one_call ? kRepeatOfOneCall : kRepeat)},
      {host.again.cycles, std::move(again)},
      {latency, "fewer visits: several steps in a call (`lax.scan`), infeeds"},
  };
  std::ranges::stable_sort(parts, std::ranges::greater{}, &Part::cycles);
  const Cycles all = host.once.cycles + host.again.cycles + latency;
  std::string text;
  for (const Part& part : parts)
    if (ratio(part.cycles, all) > kSome) text += (text.empty() ? "" : "; ") + part.advice;
  if (is_one_call && text.find(kRepeatOfOneCall) == std::string::npos)
    text += "; a longer `--repeat` tells what moves once a run";
  return text;
}

}  // namespace

std::optional<double> find_host(const RuleInput& input) {
  const auto& [rule, t, file, insights] = input;
  if (t.totals.cycles.value() == 0) return std::nullopt;
  const Cycles waited = t.totals.host + t.visits.begin;
  const double of_all = ratio(waited, t.totals.cycles);
  if (of_all <= rule.limit) return of_all;
  std::string found =
      fmt::format("visits to the host take {} % of all cycles: {} in {} visits that move {} bytes",
                  percent(of_all), grouped(waited), grouped(t.visits.count), grouped(t.host_bytes));
  if (t.visits.callbacks.value() * 2 > waited.value()) {
    say(input,
        found + fmt::format(", most of it waiting for callbacks ({})", grouped(t.visits.callbacks)),
        waited, {}, "let the host run ahead (`--set host.prefetch=2`)");
    return of_all;
  }
  if (!file || file->rows(kTransfers) == 0) {
    say(input, found, waited, {},
        fmt::format("{}{}{}", t.calls <= 1 ? kRepeat : "", t.calls <= 1 ? "; " : "", rule.advice));
    return of_all;
  }
  const bool is_one_call = t.calls <= 1;
  const HostCycles host = host_cycles(*file, is_one_call);
  const Cycles moves = host.once.cycles + host.again.cycles;
  const Cycles latency = waited - std::min(waited, moves);
  found += fmt::format("; what moves once a run takes {}", host.once.text());
  if (host.again.cycles.value() != 0)
    found += fmt::format(", what {} {}",
                         is_one_call ? "may move in each call" : "moves in several visits",
                         host.again.text());
  say(input, found + fmt::format(", the latency of visits {}", grouped(latency)), waited, {},
      advice_of(host, latency, is_one_call));
  return of_all;
}

}  // namespace superstep
