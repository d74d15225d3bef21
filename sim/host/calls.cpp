#include "sim/host/calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "base/error.h"
#include "sim/host/arguments.h"

namespace superstep {
namespace {

/// Throws MalformedInput for a callback that is none.
template <class Callback>
void check_callback(Stream::Kind kind, std::uint32_t position, const Callback& callback) {
  if (callback) return;
  throw MalformedInput(fmt::format("the callback of {} is empty", stream_name(kind, position)));
}

}  // namespace

Calls::Calls(const ProgramImage& image, HostLink& host)
    : image_(image),
      host_(host),
      arguments_(image.arguments.size()),
      connected_(arguments_.size()) {
  for (const TensorType& type : image.results) results_.emplace_back(type);
  host.set_program([this](std::uint32_t) { return std::exchange(turn_, HostTurn::kWaits); });
}

void Calls::set_argument(std::uint32_t position, HostTensor value) {
  check_argument(image_, position, value);
  check_takes(position);
  arguments_[position] = std::move(value);
}

void Calls::set_arguments(std::vector<HostTensor> values) {
  const bool is_first = host_.visits() == 0;
  for (std::uint32_t k = 0; k < values.size(); ++k) {
    if (is_first || !is_state(image_, k)) set_argument(k, std::move(values[k]));
  }
}

void Calls::send_argument(std::uint32_t position, std::span<const std::byte> bytes) {
  check_takes(position);
  check_bytes(fmt::format("arg{}", position), bytes.size(), image_.arguments[position]);
  host_.set_argument(position, bytes);
}

/// Throws MalformedInput when the next call takes no value of an argument.
void Calls::check_takes(std::uint32_t position) const {
  check_argument(image_, position);
  if (connected_[position]) {
    throw MalformedInput(fmt::format("the values of arg{} are made by its callback", position));
  }
  if (host_.visits() > 0 && is_state(image_, position)) {
    throw MalformedInput(fmt::format(
        "arg{} is state that the program keeps between calls; it was given to the first call",
        position));
  }
}

const HostTensor& Calls::result(std::uint32_t position) const {
  if (position >= results_.size()) {
    throw MalformedInput(
        fmt::format("the program has no result{}; it has {} results", position, results_.size()));
  }
  return results_[position];
}

void Calls::set_program(HostProgram program) {
  if (!program) throw MalformedInput("the host program is empty");
  has_program_ = true;
  lacks_program_ = false;
  host_.set_program(std::move(program));
}

void Calls::connect_argument(std::uint32_t position, StreamSource source) {
  check_argument(image_, position);
  if (is_state(image_, position)) {
    throw MalformedInput(fmt::format(
        "arg{} is state that the program keeps between calls: set it once, before the first",
        position));
  }
  check_callback(Stream::Kind::kArgument, position, source);
  if (arguments_[position] || host_.is_given(Stream::Kind::kArgument, position)) {
    throw MalformedInput(fmt::format("arg{} has a value that was set", position));
  }
  connected_[position] = true;
  host_.connect(Stream::Kind::kArgument, position, std::move(source));
}

void Calls::connect_result(std::uint32_t position, StreamSink sink) {
  check_stream(Stream::Kind::kResult, position);
  check_callback(Stream::Kind::kResult, position, sink);
  host_.connect(Stream::Kind::kResult, position, std::move(sink));
}

void Calls::feed(std::uint32_t queue, HostTensor value) {
  const Stream& stream = check_stream(Stream::Kind::kInfeed, queue);
  if (value.type != stream.type) {
    throw MalformedInput(
        fmt::format("infeed{} takes {}, not {}", queue, stream.type.text(), value.type.text()));
  }
  check_bytes(fmt::format("infeed{}", queue), value.data.size(), value.type);
  if (host_.is_connected(Stream::Kind::kInfeed, queue)) {
    throw MalformedInput(fmt::format("the values of infeed{} are made by its callback", queue));
  }
  host_.feed(queue, std::move(value));
}

void Calls::connect_infeed(std::uint32_t queue, StreamSource source) {
  check_stream(Stream::Kind::kInfeed, queue);
  check_callback(Stream::Kind::kInfeed, queue, source);
  if (host_.is_given(Stream::Kind::kInfeed, queue)) {
    throw MalformedInput(fmt::format("infeed{} has values that were fed to it", queue));
  }
  host_.connect(Stream::Kind::kInfeed, queue, std::move(source));
}

std::optional<HostTensor> Calls::take(std::uint32_t queue) {
  check_stream(Stream::Kind::kOutfeed, queue);
  return host_.take(queue);
}

void Calls::connect_outfeed(std::uint32_t queue, StreamSink sink) {
  check_stream(Stream::Kind::kOutfeed, queue);
  check_callback(Stream::Kind::kOutfeed, queue, sink);
  host_.connect(Stream::Kind::kOutfeed, queue, std::move(sink));
}

/// Throws MalformedInput when the program has no such stream.
const Stream& Calls::check_stream(Stream::Kind kind, std::uint32_t position) const {
  const std::optional<std::size_t> stream = host_.stream_of(kind, position);
  if (stream) return image_.streams[*stream];
  const auto count = std::ranges::count(image_.streams, kind, &Stream::kind);
  throw MalformedInput(fmt::format("the program has no {}; it has {} such streams",
                                   stream_name(kind, position), count));
}

void Calls::begin(bool is_last) {
  if (has_program_) {
    throw UserError(ExitCode::kUsage, "the host program decides on calls; run() asks it");
  }
  if (turn_ != HostTurn::kWaits || host_.is_coming() || host_.visits() > done_) {
    throw UserError(ExitCode::kUsage,
                    "a call of the program is going on; run() brings it to its end");
  }
  std::vector<Problem> problems;
  for (std::uint32_t k = 0; k < arguments_.size(); ++k) {
    if (arguments_[k] || host_.visits() > 0 || connected_[k]) continue;
    problems.push_back(
        {{}, fmt::format("arg{} is not set: it is {}", k, image_.arguments[k].text())});
  }
  if (!problems.empty()) throw MalformedInput(std::move(problems));
  // What they hold now lives until the call is done.
  sent_ = std::exchange(arguments_, std::vector<std::optional<HostTensor>>(arguments_.size()));
  for (std::uint32_t k = 0; k < sent_.size(); ++k) {
    if (sent_[k]) host_.set_argument(k, std::as_bytes(std::span(sent_[k]->data)));
  }
  turn_ = is_last ? HostTurn::kLastCall : HostTurn::kCall;
}

std::uint32_t Calls::begun() const {
  return std::min(host_.visits(), host_.calls().value_or(host_.visits()));
}

bool Calls::end_by_visit() {
  // The visit in front of the first call ends none.
  const std::uint32_t calls = host_.visits() - 1;
  if (host_.visits() == 0 || calls <= done_) return false;
  host_.copy_results(results_);
  done_ = calls;
  return true;
}

bool Calls::end_before_visit() {
  if (host_.visits() <= done_) return false;
  host_.read_results(results_);
  done_ = host_.visits();
  return true;
}

void Calls::check_connected() const {
  std::string missing = host_.unconnected();
  if (lacks_program_) missing += (missing.empty() ? "" : ", ") + std::string("the host program");
  if (missing.empty()) return;
  throw UserError(
      ExitCode::kUsage,
      fmt::format("the checkpoint was made with callbacks that are not connected yet: {}",
                  missing));
}

}  // namespace superstep
