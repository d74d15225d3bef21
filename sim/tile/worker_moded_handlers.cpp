#include "isa/instructions.h"
#include "sim/tile/worker_execution.h"
#include "sim/tile/worker_handlers.h"

namespace superstep {

namespace {

/// An instruction of the auxiliary pipe, then what it raised.
template <class R>
const WorkerStep* run_moded(WorkerContext& context, const WorkerStep* step) {
  const WorkerStep* const next = run_main<R, NoAux, ModedFloats>(context, step);
  if (const char* cause = take_float_exceptions(context)) {
    context.cause = cause;
    return stop(context, step, WorkerContext::Stop::kFault, step->pc);
  }
  return next;
}

template <class R>
void run_moded_aux(WorkerContext& context, const WorkerStep* step) {
  run_aux<R, ModedFloats>(context, step);
  if (const char* cause = take_float_exceptions(context)) context.cause = cause;
}

template <class R>
WorkerHandlers handlers_of(const WorkerHandlers& ordinary) {
  WorkerHandlers handlers = ordinary;
  if constexpr (R::spec.where != isa::Where::kSupervisor && R::spec.pipe == isa::Pipe::kAux) {
    handlers.solo = run_moded<R>;
    handlers.aux = run_moded_aux<R>;
  }
  return handlers;
}

template <class... Records>
std::vector<WorkerHandlers> build(isa::List<Records...>) {
  std::size_t number = 0;
  return {handlers_of<Records>(worker_handlers()[number++])...};
}

}  // namespace

const std::vector<WorkerHandlers>& moded_worker_handlers() {
  static const std::vector<WorkerHandlers> handlers = build(isa::Isa{});
  return handlers;
}

}  // namespace superstep
