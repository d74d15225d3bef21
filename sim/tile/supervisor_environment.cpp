#include "sim/tile/supervisor_environment.h"

#include "isa/control_registers.h"
#include "isa/sync_zones.h"

namespace superstep {

namespace {

/// Workers of which CTXT_STS has two bits, beside those of the supervisor.
constexpr std::uint32_t kMostStatuses = 15;
// A fault of the chip as well (osmarks/ipu-stack, on a C600).
constexpr const char* kReceiveBesideWorkers =
    "a receive while workers are running; `sync LOCAL` first";
constexpr const char* kMisalignedState = "a vertex state that is not 4-byte aligned";

}  // namespace

std::uint64_t WorkerSlots::first_of(std::uint32_t id, std::uint64_t issue, std::uint64_t delay) {
  const std::uint64_t earliest = issue + delay;
  if (all_left() <= issue) turn_ = earliest;
  const std::uint64_t slot = turn_ + id;
  if (slot >= earliest) return slot;
  const std::uint64_t turns = (earliest - slot + period_ - 1) / period_;
  return slot + turns * period_;
}

bool WorkerSlots::owned(std::uint64_t cycle) const {
  return std::ranges::any_of(spans_, [&](const Span& span) {
    return span.end > cycle && cycle >= span.first && (cycle - span.first) % period_ == 0;
  });
}

std::uint64_t WorkerSlots::free_among_workers(std::uint64_t cycle) const {
  while (true) {
    bool owned = false;
    std::size_t running = 0;
    std::uint64_t first_end = ~std::uint64_t{0};
    for (const Span& span : spans_) {
      if (span.end <= cycle) continue;
      ++running;
      first_end = std::min(first_end, span.end);
      owned |= cycle >= span.first && (cycle - span.first) % period_ == 0;
    }
    if (!owned) return cycle;
    // With a worker in every slot the supervisor waits until one leaves.
    cycle = running == period_ && cycle + period_ < first_end ? first_end - period_ : cycle + 1;
  }
}

std::uint32_t SupervisorEnvironment::csr(std::uint32_t number) {
  switch (number) {
    case isa::kPc:
      return context_.pc;
    case isa::kCountL:
      return isa::low(issue_);
    case isa::kCountU:
      return isa::high(issue_);
    case isa::kTileId:
      return context_.tile;
    case isa::kSsr:
    case isa::kDbgBrkId:
      return 0;
    case isa::kCtxtSts:
      if (context_.slots.workers() > kMostStatuses) {
        fault("$CTXT_STS has no room for the workers of this machine", TrapKind::kMachine);
        return 0;
      }
      return context_status();
    default:
      if (!is_writable(number)) {
        refuse_csr(number, "a control register that the supervisor does not have");
        return 0;
      }
      return context_.csrs[number];
  }
}

/// Of each context two bits, 1 while it runs (osmarks/ipu-stack crates/ipu-driver/src/lib.rs, the
/// register behind this alias; that running is 1 is assumed).
std::uint32_t SupervisorEnvironment::context_status() const {
  std::uint32_t status = 1;
  for (std::uint32_t id = 0; id < context_.slots.workers(); ++id) {
    if (context_.slots.busy(id, issue_)) status |= 1U << (2 * id + 2);
  }
  return status;
}

bool SupervisorEnvironment::is_writable(std::uint32_t number) const {
  switch (number) {
    case isa::kCr:
    case isa::kFpIctl:
    case isa::kFpInfmt:
    case isa::kFpIscl:
    case isa::kCccsLoad:
    case isa::kDbgData:
    case kIncomingMuxCsr:
    case kIncomingDcountCsr:
    case kOutgoingBaseCsr:
      return true;
    default:
      return number - isa::kFirstWorkerBase < context_.slots.workers();
  }
}

void SupervisorEnvironment::refuse_csr(std::uint32_t number, const char* cause) {
  const bool is_known = isa::supervisor_access(number) == isa::Access::kUnmodelled;
  fault(is_known ? "a control register of the supervisor that is not modelled" : cause,
        is_known ? TrapKind::kUnmodelled : TrapKind::kProgram);
}

void SupervisorEnvironment::set_csr(std::uint32_t number, std::uint32_t value) {
  if (stopped_) return;
  if (!is_writable(number)) {
    return refuse_csr(number, "a control register that the supervisor cannot write");
  }
  if (number == isa::kFpIctl) {
    if (const char* problem = isa::fp_control_problem(value)) {
      return fault(problem, TrapKind::kUnmodelled);
    }
  }
  context_.csrs.set(number, value);
  switch (number) {
    case isa::kCr:
      if ((value & isa::kCrZcwei) != 0) launcher_.clear_weights();
      break;
    case isa::kFpIctl:
    case isa::kFpInfmt:
    case isa::kFpIscl:
      context_.sets_float_state = (context_.csrs[isa::kFpIctl] | context_.csrs[isa::kFpInfmt] |
                                   context_.csrs[isa::kFpIscl]) != 0;
      break;
    case kIncomingMuxCsr:
      exchange_mux(0, mux_source(context_.encoding, value));
      break;
    case kIncomingDcountCsr:
      exchange_pointer(0, value * 4);
      break;
    case kOutgoingBaseCsr:
      context_.outgoing = value * 4;
      break;
    default:
      break;
  }
}

void SupervisorEnvironment::set_weight(std::uint32_t number, std::uint64_t value) {
  if (stopped_) return;
  if (number >= Weights::kCount) return fault("a common weight beyond CWEI_15_3");
  launcher_.weights().set(number, value);
}

void SupervisorEnvironment::run_all(std::uint32_t entry, std::uint32_t state,
                                    std::uint32_t stride) {
  if (!exchange_is_over()) return;
  if (state % 4 != 0) return fault(named_at(kMisalignedState, state));
  if (context_.slots.all_left() > issue_) return fault("runall while workers are running");
  launcher_.run_batch(context_, issue_, entry, state, stride);
  stop_with_workers(issue_);
}

void SupervisorEnvironment::run_one(std::uint32_t entry, std::uint32_t state_offset) {
  if (!exchange_is_over()) return;
  if (state_offset % 4 != 0) {
    return fault(named_at(kMisalignedState, context_.port.memory().base() + state_offset));
  }
  if (!launcher_.run_single(context_, issue_, entry, state_offset)) {
    return fault("run while every worker is running");
  }
  stop_with_workers(issue_);
}

void SupervisorEnvironment::stop_with_workers(std::uint64_t cycle) {
  stopped_ |= launcher_.stops(context_, cycle);
}

bool SupervisorEnvironment::workers_run_at(std::uint64_t cycle) {
  launcher_.advance(context_, cycle);
  stop_with_workers(cycle);
  return context_.slots.all_left() > cycle;
}

void SupervisorEnvironment::sync(std::uint32_t zone) {
  if (zone == kZoneLocal) {
    launcher_.finish(context_);
    const std::uint64_t left = context_.slots.all_left();
    if (left > issue_) advance(left - issue_);
    stop_with_workers(left);
    return;
  }
  if (context_.slots.all_left() > issue_) return fault("a sync of tiles while workers are running");
  std::optional<SupervisorContext::Acknowledgement>& armed = context_.armed;
  if (zone == kZoneAns && !armed) return fault("`sync ANS` without a `sans` before it");
  if (zone != kZoneAns && armed) return fault("a sync while an acknowledgement is armed");
  context_.zone = zone == kZoneAns ? kZoneInternal + armed->zone : zone;
  context_.arrival = zone == kZoneAns ? armed->cycle : issue_;
  context_.earliest = issue_ + 1;
  armed.reset();
  context_.stop = SupervisorContext::Stop::kSync;
}

void SupervisorEnvironment::sans(std::uint32_t zone) {
  if (zone > 1) return fault("`sans` takes 0 (internal) or 1 (external)");
  if (context_.armed) return fault("a `sans` while an acknowledgement is armed");
  context_.armed = {zone, issue_};
}

void SupervisorEnvironment::record(PortEvent::Kind kind, std::uint32_t event, std::uint32_t value,
                                   std::uint32_t words, std::uint32_t direction) {
  context_.ports.add(PortEvent{.kind = kind,
                               .direction = static_cast<std::uint8_t>(direction),
                               .pc = context_.pc,
                               .cycle = issue_ + event,
                               .value = value,
                               .words = words});
}

void SupervisorEnvironment::exchange_mux(std::uint32_t event, std::uint32_t source) {
  if (source != kMuxIdle && workers_run_at(issue_ + event)) return fault(kReceiveBesideWorkers);
  record(PortEvent::Kind::kMux, event, source, 0, 0);
}

void SupervisorEnvironment::exchange_pointer(std::uint32_t event, std::uint32_t address) {
  record(PortEvent::Kind::kPointer, event, address, 0, 0);
}

std::uint64_t SupervisorEnvironment::exchange_send(std::uint32_t words, std::uint32_t address,
                                                   std::uint32_t control) {
  if ((control & kSendPairedBit) != 0) {
    fault("sends of 64-bit items are not modelled", TrapKind::kUnmodelled);
    return 1;
  }
  context_.send_control = control;
  if (control == kSendNowhere) return words;
  if (context_.slots.all_left() > issue_) [[unlikely]]
    capture(words, address);
  record(PortEvent::Kind::kSend, 0, address, words, control);
  context_.outgoing = address + 4 * words;
  return context_.item.cycles_of(words);
}

/// Workers may write over the words before the fabric reads them.
void SupervisorEnvironment::capture(std::uint32_t words, std::uint32_t address) {
  for (std::uint32_t word = 0; word < words; ++word) {
    const std::uint64_t cycle = issue_ + context_.item.cycle_of(word);
    const std::uint32_t at = address + 4 * word;
    // Words that are not there are a fault of the fabric.
    if (!workers_run_at(cycle) || context_.port.problem<std::uint32_t>(at) != nullptr) return;
    context_.port.open();
    context_.sent_beside_workers.push_back({cycle, at, context_.port.load<std::uint32_t>(at)});
  }
}

std::uint64_t SupervisorEnvironment::exchange_send_on(std::uint32_t words,
                                                      std::uint32_t skipped_words,
                                                      std::uint32_t control) {
  return exchange_send(words, context_.outgoing + 4 * skipped_words, control);
}

}  // namespace superstep
