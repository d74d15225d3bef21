#include "tests/poplibs/recipe.h"

namespace superstep::poplibs {
namespace {

/// GELU subtracts from 1; its gradient is that of erf, and the C++ codelets' that of the
/// approximation with tanh: they are 1.5e-3 apart near 2.
void tolerate_gelu(Case& run) {
  if (!is_type(run, "GELU>")) return;
  for (const char* result : {"data", "out", "inGrad"}) {
    if (!run.has(result)) continue;
    run.state(result).magnitude = 1;
    run.state(result).tolerance = 4e-3;
  }
}

void one_dimension(Case& run, std::size_t n) {
  run.value("n", double(n));
  fill_rest(run, n, -3, 3);
  tolerate_gelu(run);
}

void two_dimensions(Case& run, std::size_t n) {
  fill_rest(run, n, -3, 3);
  tolerate_gelu(run);
}

void loss(Case& run, std::size_t n) {
  run.value("size", double(n));
  for (const char* scale : {"deltasScale", "modelOutputScaling"}) {
    if (run.has(scale)) run.elements(scale, {scale[0] == 'd' ? 1.0 : 2.0});
  }
  run.random("probs", {n}, 0.0625, 1);
  run.random("expected", {n}, 0.0625, 1);
  fill_rest(run, n, 0, 1);
}

void class_sparse(Case& run, std::size_t n) {
  run.random("labels", {n}, 0, 1000);
  fill_rest(run, n, -4, 4);
}

void class_gather(Case& run, std::size_t n) {
  const std::size_t each = 1 + n / 6;
  run.value("index", 3);
  run.value("size", double(n));
  run.value("workerSize", double(each));
  run.random("activations", {n}, -4, 4);
  const std::size_t results = (n + each - 1) / each;
  fill_rest(run, results, 0, 0);
}

/// Windows of one row over several groups of channels.
void pooling(Case& run, std::size_t n) {
  const bool gradient = is_type(run, "MaxPoolingGrad");
  const std::size_t vector = 8 / run.state("in").field->element_bytes;
  const std::size_t groups = 1 + n % 3;
  const std::size_t vectors = 1 + n % 2;  // of a group's channels
  const std::size_t kernel = 3;
  const std::size_t stride = 1 + n % 2;
  const std::size_t rows = 2;
  const std::size_t positions = 1 + n;  // of results in a row
  // A gradient goes the other way: from results to what they were made of.
  const std::size_t wide = (positions - 1) * stride + kernel;
  const std::size_t in = gradient ? positions : wide;
  const std::size_t out = gradient ? wide : positions;
  run.value("initInfo", double(rows * out));
  run.value("numChanGroupsM1", double(groups - 1));
  run.value("chansPerGroupDM1", double(vectors - 1));
  run.value("inStrideD", double(vectors * (gradient ? 1 : stride)));
  run.value("outStrideD", double(vectors * (gradient ? stride : 1)));
  run.value("inSliceSize", double(rows * in * vectors * vector));
  run.value("outSliceSize", double(rows * out * vectors * vector));
  if (run.has("scale")) run.value("scale", 0.25);
  std::vector<double> ends;
  std::vector<double> bases;
  std::vector<std::vector<double>> lists;
  for (std::size_t worker = 0; worker < kWorkers; ++worker) {
    for (std::size_t row = 0; row < rows; ++row) {
      // Results that lie close together in a gradient belong to one worker.
      const WorkerShare share = gradient ? WorkerShare{0, row % kWorkers == worker ? positions : 0}
                                         : worker_share(positions, worker);
      if (share.count == 0) continue;
      const std::size_t in_base = row * in + share.begin * (gradient ? 1 : stride);
      const std::size_t out_base = row * out + share.begin * (gradient ? stride : 1);
      bases.insert(bases.end(), {double(out_base), double(in_base)});
      std::vector<double>& list = lists.emplace_back();
      for (std::size_t k = 0; k < kernel; ++k) {
        list.insert(list.end(),
                    {double(gradient ? k : 0), double(gradient ? 0 : k), double(share.count - 1)});
      }
    }
    ends.push_back(double(lists.size()));
  }
  run.elements("startPos", ends);
  run.elements("offsetBase", bases);
  run.element_rows("workList", lists);
  const std::size_t in_elements = groups * rows * in * vectors * vector;
  const std::size_t out_elements = groups * rows * out * vectors * vector;
  small_integers(run, "in", {in_elements});
  small_integers(run, "out", {out_elements});
  if (gradient) {
    small_integers(run, "fwdActsIn", {out_elements});
    small_integers(run, "fwdActsOut", {in_elements});
  }
}

/// Candidates of a beam search; the probabilities are logarithms.
void candidates(Case& run, std::size_t n, std::size_t count, double beams) {
  run.random("candidateParent", {count}, 0, beams - 1);
  run.random("candidateAddend", {count}, 0, 20);
  for (const char* name :
       {"candidateBeamProbNonBlank", "candidateBeamProbBlank", "candidateBeamProbTotal"}) {
    run.random(name, {count}, -50, 0);
  }
  if (n % 3 == 0) {  // equal ones are ranked by their places
    run.elements("candidateBeamProbTotal", std::vector<double>(count, -5));
  }
}

void rank_candidates(Case& run, std::size_t n) {
  const std::size_t beams = 1 + n % 5;
  const std::size_t count = beams + n;
  candidates(run, n, count, double(beams));
  for (const char* name :
       {"rankedCandidateParent", "rankedCandidateAddend", "rankedCandidateBeamProbNonBlank",
        "rankedCandidateBeamProbBlank", "rankedCandidateBeamProbTotal"}) {
    run.random(name, {beams}, -4, 4);
  }
  run.value("totalCandidates", double(count));
  run.value("beamwidth", double(beams));
  run.value("firstCandidateToRank", double(count / 4));
  run.value("lastCandidateToRank", double(count));
  run.elements("complete", {0});
}

/// All candidates but one are 0.
void reduce_candidates(Case& run, std::size_t n) {
  const std::size_t one = run.pick(n);
  for (const FieldState& state : run.states()) {
    if (state.field->shape == Shape::kVector) {
      std::vector<double> numbers(n);
      numbers[one] = state.field->element == Element::kFloat ? -3.25 : 17;
      run.elements(state.field->name, numbers);
    }
  }
  run.value("totalCandidates", double(n));
  fill_rest(run, 1, 0, 4);
}

void update_beams(Case& run, std::size_t n) {
  constexpr double kVoidSymbol = 0xffffffff;
  constexpr double kInvalidSymbol = 0xfffffffe;
  const std::size_t beams = n;
  const std::size_t steps = 4;
  const std::size_t now = 1 + n % (steps - 1);
  candidates(run, n, beams, double(beams));
  std::vector<double> addends;
  for (std::size_t i = 0; i < beams; ++i) {
    addends.push_back(i % 4 == 1 ? kVoidSymbol : i % 4 == 3 ? kInvalidSymbol : double(i));
  }
  run.elements("candidateAddend", addends);
  for (const char* name : {"beamProbNonBlank", "beamProbBlank", "beamProbTotal"}) {
    run.random(name, {beams}, -50, 0);
  }
  run.random("beamAddend", {steps * beams}, 0, 20);
  run.random("beamParent", {steps * beams}, 0, 20);
  run.random("beamLength", {2 * beams}, 0, 3);
  run.random("lastBeamOutputs", {beams}, 0, 20);
  run.elements("currentTimestep", {double(now)});
  run.elements("dataLength", {double(n % 2 == 0 ? now : now + 1)});
  run.elements("complete", {0});
  run.value("beamwidth", double(beams));
}

}  // namespace

void add_popnn(Recipes& recipes) {
  const auto add = [&](const char* name, void (*function)(Case&, std::size_t)) {
    recipes[std::string("popnn::") + name] = {kSizes, function};
  };
  const auto add_whole = [&](const char* name, void (*function)(Case&, std::size_t)) {
    add(name, function);
    recipes[std::string("popnn::") + name].has_whole_cases = true;
  };
  for (const char* name : {"NonLinearity1D", "NonLinearity1DInPlace", "NonLinearityGrad1D"}) {
    add_whole(name, one_dimension);
  }
  for (const char* name : {"NonLinearity2D", "NonLinearity2DInPlace", "NonLinearityGrad2D"}) {
    add_whole(name, two_dimensions);
  }
  add_whole("LossSumSquaredTransform", loss);
  add_whole("LossCrossEntropyTransform", loss);
  add("ReduceMaxClassSparse", class_sparse);
  add("ReduceMinClassSparse", class_sparse);
  add("ReduceMaxClassGather", class_gather);
  add("ReduceMinClassGather", class_gather);
  for (const char* name : {"MaxPooling", "MaxPoolingGrad", "SumPooling"}) {
    add(name, pooling);
    recipes[std::string("popnn::") + name].sizes = {1, 2, 3, 5, 8, 13, 24, 31, 64, 100};
  }
  const std::vector<std::size_t> counts = {1, 2, 3, 5, 8, 13, 24, 31, 64, 100};
  recipes["popnn::CTCRankCandidates"] = {counts, rank_candidates};
  recipes["popnn::CTCReduceCandidates"] = {counts, reduce_candidates};
  recipes["popnn::CTCUpdate"] = {counts, update_beams};
}

}  // namespace superstep::poplibs
