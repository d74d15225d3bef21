#include <map>
#include <optional>
#include <utility>

#include "isa/instructions.h"
#include "sim/tile/worker_execution.h"
#include "sim/tile/worker_handlers.h"

namespace superstep {

namespace {

/// An instruction, or those of its words with one value of their immediate operand.
struct Half {
  std::size_t number;
  std::optional<isa::U32> immediate;
  auto operator<=>(const Half&) const = default;
};
using Pairs = std::map<std::pair<Half, Half>, RunWorkerStep>;

/// R with a last operand that a compiler knows.
template <class R, isa::U32 kImmediate>
struct Fixed {
  static constexpr isa::Spec spec = R::spec;
  using Operands = typename R::Operands;
  template <class Env, class... Inputs>
  [[gnu::always_inline]] static auto execute(Env& env, const Inputs&... inputs) {
    const std::tuple all(inputs...);
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return R::execute(env, std::get<I>(all)..., kImmediate);
    }
    (std::make_index_sequence<sizeof...(Inputs) - 1>{});
  }
};

/// The main halves and the auxiliary halves of inner loops; each of the one goes with each of the
/// other.
using LoopMains =
    isa::List<isa::Ld64, isa::Ld64Step, isa::Ld64StepRegister, isa::Ld128Step, isa::St64Step,
              isa::St64StepRegister, isa::Ld2x64pace, isa::Ldst64pace, isa::Ld2xst64pace,
              Fixed<isa::Ld2x64pace, 0b0000>, Fixed<isa::Ld2x64pace, 0b0101>>;
using LoopAuxes =
    isa::List<isa::F32v2add, isa::F32v2addBroadcast, isa::F32v2sub, isa::F32v2mul,
              isa::F32v2mulBroadcast, isa::F32v2max, isa::F32v2min, isa::F32v2mac, isa::F32v4acc,
              isa::F32v2axpy, isa::F16v4add, isa::F16v4addLower, isa::F16v4sub, isa::F16v4mul,
              isa::F16v4mulLower, isa::F16v4max, isa::F16v4cmac, isa::F16v8acc>;

/// The same of loops over single f32.
using ScalarMains = isa::List<isa::Ld32Step, isa::Ld32A, isa::Ld32AStep, isa::St32AStep>;
using ScalarAuxes = isa::List<isa::F32add, isa::F32sub, isa::F32mul, isa::F32max, isa::F32min,
                              isa::F32cmpgt, isa::F32cmplt>;

/// The same of sums of wide words, and of transpositions.
using WideMains = isa::List<isa::Ld128StepRegister>;
using WideAuxes = isa::List<isa::F32v4acc, isa::F16v8acc>;
using TransposeMains = isa::List<isa::Ldst64pace, isa::St64pace, Fixed<isa::Ldst64pace, 0b1001>,
                                 Fixed<isa::Ldst64pace, 0b1101>>;
using TransposeAuxes = isa::List<isa::Sort4x32lo, isa::Sort4x32hi>;

/// The halves of matrix products that are in no line (sim/tile/amp_line.h), or one that faults;
/// with loads that lines do not have, every phase.
using PaceMains = isa::List<isa::Ld2x64pace, isa::Ldst64pace, isa::St64pace, isa::Ld2xst64pace>;
using AmpAuxes = isa::List<isa::F32sisoamp, isa::F32sisov2amp, isa::F16v4sisoamp, isa::F16v4hihoamp,
                           isa::F16v4hihov4amp>;
template <class R>
using FourPhases = isa::List<Fixed<R, 0>, Fixed<R, 1>, Fixed<R, 2>, Fixed<R, 3>>;
template <class R>
using EightPhases =
    typename isa::Joined<FourPhases<R>,
                         isa::List<Fixed<R, 4>, Fixed<R, 5>, Fixed<R, 6>, Fixed<R, 7>>>::Type;
using ProductMains = isa::List<isa::Ld64Step, isa::Ld128Step, isa::Ld32>;
using ProductAuxes = isa::Joined<FourPhases<isa::F16v4sisoamp>, FourPhases<isa::F16v4hihoamp>,
                                 FourPhases<isa::F16v4hihov4amp>, EightPhases<isa::F32sisoamp>,
                                 EightPhases<isa::F32sisov2amp>>::Type;

template <class R>
struct HalfOf {
  static Half half() { return {isa::kNumberOf<R>, std::nullopt}; }
};
template <class R, isa::U32 kImmediate>
struct HalfOf<Fixed<R, kImmediate>> {
  static Half half() { return {isa::kNumberOf<R>, kImmediate}; }
};

template <class Main, class Aux>
SUPERSTEP_FLAT [[gnu::noinline]] const WorkerStep* run_pair(WorkerContext& context,
                                                            const WorkerStep* step) {
  return run_main<Main, FixedAux<Aux>>(context, step);
}

template <class Main, class Aux>
SUPERSTEP_FLAT std::uint32_t run_turns(WorkerContext& context, const WorkerStep* rpt,
                                       std::uint32_t turns) {
  return run_main_turns<Main, Aux>(context, rpt, turns);
}

/// Bodies of one step: fills and copies; sums.
using SoloBodies = isa::List<isa::St64Step, isa::St64StepRegister, isa::Ldst64pace>;
using SumMains = isa::List<isa::Ld64Step, isa::Ld128Step, isa::Ld128StepRegister>;
using SumAuxes = isa::List<isa::F32v4acc, isa::F16v8acc>;
using Turns = std::map<RunWorkerStep, RunWorkerTurns>;

template <class... Solos>
void add_solos(Turns& turns, isa::List<Solos...>) {
  (turns.emplace(run_main<Solos, NoAux>, run_turns<Solos, NoAux>), ...);
}

template <class... Mains>
void add_sums(Turns& turns, isa::List<Mains...>) {
  const auto add = [&]<class Main, class... Auxes>(isa::List<Auxes...>) {
    (turns.emplace(run_pair<Main, Auxes>, run_turns<Main, FixedAux<Auxes>>), ...);
  };
  (add.template operator()<Mains>(SumAuxes{}), ...);
}

Turns build_turns() {
  Turns turns;
  add_solos(turns, SoloBodies{});
  add_sums(turns, SumMains{});
  return turns;
}

template <class Main, class... Auxes>
void add_pairs(Pairs& pairs, isa::List<Auxes...>) {
  (pairs.emplace(std::pair(HalfOf<Main>::half(), HalfOf<Auxes>::half()), run_pair<Main, Auxes>),
   ...);
}

template <class... Mains, class Auxes>
void add_all(Pairs& pairs, isa::List<Mains...>, Auxes auxes) {
  (add_pairs<Mains>(pairs, auxes), ...);
}

Pairs build() {
  Pairs pairs;
  add_all(pairs, LoopMains{}, LoopAuxes{});
  add_all(pairs, ScalarMains{}, ScalarAuxes{});
  add_all(pairs, WideMains{}, WideAuxes{});
  add_all(pairs, TransposeMains{}, TransposeAuxes{});
  add_all(pairs, ProductMains{}, ProductAuxes{});
  add_all(pairs, PaceMains{}, AmpAuxes{});
  return pairs;
}

std::optional<isa::U32> immediate_of(const isa::InstructionInfo& info, std::uint32_t word) {
  if (info.operands.empty() || info.operands.back().is_register) return std::nullopt;
  return info.operands.back().field.extract(word);
}

}  // namespace

RunWorkerStep bundle_handler(const isa::InstructionInfo& main, std::uint32_t main_word,
                             const isa::InstructionInfo& aux, std::uint32_t aux_word) {
  static const Pairs pairs = build();
  for (const auto& i : {immediate_of(main, main_word), std::optional<isa::U32>()}) {
    for (const auto& j : {immediate_of(aux, aux_word), std::optional<isa::U32>()}) {
      const auto pair = pairs.find({{main.number, i}, {aux.number, j}});
      if (pair != pairs.end()) return pair->second;
    }
  }
  return worker_handlers()[main.number].bundle;
}

RunWorkerTurns turns_handler(RunWorkerStep run) {
  static const Turns turns = build_turns();
  const auto found = turns.find(run);
  return found == turns.end() ? nullptr : found->second;
}

}  // namespace superstep
