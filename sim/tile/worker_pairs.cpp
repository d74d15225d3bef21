#include <map>
#include <utility>

#include "isa/instructions.h"
#include "sim/tile/worker_execution.h"
#include "sim/tile/worker_handlers.h"

namespace superstep {

namespace {

using Pairs = std::map<std::pair<std::size_t, std::size_t>, RunWorkerStep>;

/// The main halves and the auxiliary halves of inner loops; each of the one goes with each of the
/// other.
using LoopMains =
    isa::List<isa::Ld64, isa::Ld64Step, isa::Ld64StepRegister, isa::Ld128Step, isa::St64Step,
              isa::St64StepRegister, isa::Ld2x64pace, isa::Ldst64pace, isa::Ld2xst64pace>;
using LoopAuxes =
    isa::List<isa::F32v2add, isa::F32v2addBroadcast, isa::F32v2sub, isa::F32v2mul,
              isa::F32v2mulBroadcast, isa::F32v2max, isa::F32v2min, isa::F32v2mac, isa::F32v4acc,
              isa::F32v2axpy, isa::F16v4add, isa::F16v4addLower, isa::F16v4sub, isa::F16v4mul,
              isa::F16v4mulLower, isa::F16v4max, isa::F16v4cmac, isa::F16v8acc, isa::F32sisoamp,
              isa::F32sisov2amp, isa::F16v4sisoamp, isa::F16v4hihoamp, isa::F16v4hihov4amp>;

// An array and not a fold expression: Clang nests those at most 256 deep.
template <class R, class... Records>
constexpr std::size_t number_of(isa::List<Records...>) {
  std::size_t number = 0;
  for (const bool is_it : {std::is_same_v<R, Records>...}) {
    if (is_it) break;
    ++number;
  }
  return number;
}

template <class Main, class Aux>
[[gnu::flatten]] const WorkerStep* run_pair(WorkerContext& context, const WorkerStep* step) {
  return run_main<Main, FixedAux<Aux>>(context, step);
}

template <class Main, class... Auxes>
void add_pairs(Pairs& pairs, isa::List<Auxes...>) {
  constexpr std::size_t kMain = number_of<Main>(isa::Isa{});
  (pairs.emplace(std::pair(kMain, number_of<Auxes>(isa::Isa{})), run_pair<Main, Auxes>), ...);
}

template <class... Mains>
Pairs build(isa::List<Mains...>) {
  Pairs pairs;
  (add_pairs<Mains>(pairs, LoopAuxes{}), ...);
  return pairs;
}

}  // namespace

RunWorkerStep bundle_handler(std::size_t main, std::size_t aux) {
  static const Pairs pairs = build(LoopMains{});
  const auto pair = pairs.find({main, aux});
  return pair != pairs.end() ? pair->second : worker_handlers()[main].bundle;
}

}  // namespace superstep
