#include "report/export/perfetto_writer.h"

#include <functional>

#include "base/overloaded.h"

namespace superstep {
namespace {

// Field numbers of google/perfetto protos/perfetto: trace/trace.proto, trace/trace_packet.proto,
// trace/track_event/*.proto, trace/interned_data/interned_data.proto,
// common/trace_attributes.proto.

namespace trace {
constexpr unsigned kPacket = 1;
}
namespace packet {
constexpr unsigned kTimestamp = 8, kSequence = 10, kEvent = 11, kInterned = 12, kFlags = 13,
                   kTrack = 60, kFirst = 87, kAttributes = 126;
}
namespace track {
constexpr unsigned kUuid = 1, kName = 2, kParent = 5, kCounter = 8, kChildOrdering = 11, kRank = 12,
                   kDescription = 14;
constexpr unsigned kExplicitOrder = 3;
}  // namespace track
namespace counter_of {
constexpr unsigned kUnitName = 6;
}
namespace event {
constexpr unsigned kArgument = 4, kType = 9, kName = 10, kTrack = 11, kInteger = 30, kReal = 44,
                   kFlow = 47, kEndOfFlow = 48;
constexpr unsigned kBegin = 1, kEnd = 2, kInstant = 3, kCounter = 4;
}  // namespace event
namespace argument {
constexpr unsigned kName = 1, kNumber = 3, kReal = 5, kText = 6;
}
namespace interned_name {
constexpr unsigned kNumber = 1, kName = 2;
}
namespace attributes {
constexpr unsigned kAttribute = 1, kKey = 1, kText = 3;
}

// SequenceFlags of a packet.
constexpr unsigned kStateCleared = 1, kNeedsState = 2;

ProtoMessage event_on(PerfettoWriter::Track where, unsigned type) {
  ProtoMessage message;
  message.number(event::kType, type);
  message.number(event::kTrack, where);
  return message;
}

}  // namespace

void PerfettoWriter::attribute(std::string_view key, std::string_view text) {
  ProtoMessage one, all, message;
  one.text(attributes::kKey, key);
  one.text(attributes::kText, text);
  all.message(attributes::kAttribute, one);
  message.message(packet::kAttributes, all);
  write(std::move(message));
}

PerfettoWriter::Track PerfettoWriter::track(std::string_view name, Track parent,
                                            std::string_view description) {
  return describe(name, parent, description, nullptr);
}

PerfettoWriter::Track PerfettoWriter::counter(std::string_view name, Track parent,
                                              std::string_view unit) {
  ProtoMessage counter;
  counter.text(counter_of::kUnitName, unit);
  return describe(name, parent, {}, &counter);
}

PerfettoWriter::Track PerfettoWriter::describe(std::string_view name, Track parent,
                                               std::string_view description,
                                               const ProtoMessage* counter) {
  ProtoMessage descriptor, message;
  descriptor.number(track::kUuid, ++tracks_);
  descriptor.text(track::kName, name);
  if (parent != 0) descriptor.number(track::kParent, parent);
  if (counter != nullptr) descriptor.message(track::kCounter, *counter);
  descriptor.number(track::kChildOrdering, track::kExplicitOrder);
  descriptor.number(track::kRank, children_[parent]++);
  if (!description.empty()) descriptor.text(track::kDescription, description);
  message.message(packet::kTrack, descriptor);
  write(std::move(message));
  return tracks_;
}

std::uint64_t PerfettoWriter::number_of(Names& names, std::string_view name,
                                        ProtoMessage& interned) {
  const auto known = names.numbers.find(name);
  if (known != names.numbers.end()) return known->second;
  // 0 is no number of a name.
  const std::uint64_t number = names.numbers.size() + 1;
  names.numbers.emplace(name, number);
  ProtoMessage entry;
  entry.number(interned_name::kNumber, number);
  entry.text(interned_name::kName, name);
  interned.message(names.field, entry);
  return number;
}

void PerfettoWriter::add_arguments(ProtoMessage& event, std::span<const PerfettoArgument> arguments,
                                   ProtoMessage& interned) {
  for (const PerfettoArgument& said : arguments) {
    ProtoMessage message;
    message.number(argument::kName, number_of(arguments_, said.name, interned));
    std::visit(Overloaded{[&](std::uint64_t n) { message.number(argument::kNumber, n); },
                          [&](double r) { message.real(argument::kReal, r); },
                          [&](std::string_view text) { message.text(argument::kText, text); }},
               said.value);
    event.message(event::kArgument, message);
  }
}

void PerfettoWriter::begin(Track where, std::uint64_t at, std::string_view name,
                           std::span<const PerfettoArgument> arguments,
                           std::span<const PerfettoFlow> flows) {
  ProtoMessage interned, message = event_on(where, event::kBegin);
  message.number(event::kName, number_of(events_, name, interned));
  add_arguments(message, arguments, interned);
  for (const PerfettoFlow& flow : flows) {
    message.fixed(flow.ends ? event::kEndOfFlow : event::kFlow, flow.number);
  }
  ++slices_;
  write_event(at, message, interned);
}

void PerfettoWriter::end(Track where, std::uint64_t at) {
  write_event(at, event_on(where, event::kEnd), {});
}

void PerfettoWriter::instant(Track where, std::uint64_t at, std::string_view name,
                             std::span<const PerfettoArgument> arguments) {
  ProtoMessage interned, message = event_on(where, event::kInstant);
  message.number(event::kName, number_of(events_, name, interned));
  add_arguments(message, arguments, interned);
  write_event(at, message, interned);
}

void PerfettoWriter::count(Track where, std::uint64_t at, std::uint64_t value) {
  ProtoMessage message = event_on(where, event::kCounter);
  message.number(event::kInteger, value);
  write_event(at, message, {});
}

void PerfettoWriter::count(Track where, std::uint64_t at, double value) {
  ProtoMessage message = event_on(where, event::kCounter);
  message.real(event::kReal, value);
  write_event(at, message, {});
}

void PerfettoWriter::write_event(std::uint64_t at, const ProtoMessage& event,
                                 const ProtoMessage& interned) {
  ProtoMessage message;
  message.number(packet::kTimestamp, at);
  message.message(packet::kEvent, event);
  if (!interned.bytes().empty()) message.message(packet::kInterned, interned);
  write(std::move(message));
}

void PerfettoWriter::write(ProtoMessage message) {
  constexpr std::uint64_t kOnlySequence = 1;
  message.number(packet::kSequence, kOnlySequence);
  message.number(packet::kFlags, is_begun_ ? kNeedsState : kStateCleared | kNeedsState);
  if (!is_begun_) message.number(packet::kFirst, 1);
  is_begun_ = true;
  ProtoMessage file;
  file.message(trace::kPacket, message);
  sink_(file.bytes());
}

}  // namespace superstep
