#include "tests/poplibs/estimate_reductions.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reduction/CycleEstimationFunctions.hpp"
#include "reduction/ReductionVertexDefs.hpp"
#include "tests/poplibs/introspect.h"

namespace superstep::poplibs {
namespace {

using popops::Operation;
using Specialisation = popops::ReductionSpecialisation;

template <class T>
T named(const std::vector<std::pair<std::string_view, T>>& names, std::string_view text) {
  for (const auto& [name, value] : names) {
    if (text.ends_with(name)) return value;
  }
  throw std::runtime_error("a reduction has no " + std::string(text));
}

std::vector<std::string> template_arguments(const std::string& type) {
  std::vector<std::string> arguments(1);
  for (const char letter : type.substr(type.find('<') + 1)) {
    if (letter == ',' || letter == '>') {
      arguments.emplace_back();
    } else {
      arguments.back() += letter;
    }
  }
  return arguments;
}

}  // namespace

std::uint64_t estimate_reduction(const Case& run) {
  const std::vector<std::string> arguments = template_arguments(run.entry().type);
  const auto operation = named<Operation>({{"ReduceAdd", Operation::ADD},
                                           {"ReduceSquareAdd", Operation::SQUARE_ADD},
                                           {"ReduceLogAdd", Operation::LOG_ADD},
                                           {"ReduceMul", Operation::MUL},
                                           {"ReduceMax", Operation::MAX},
                                           {"ReduceMin", Operation::MIN},
                                           {"ReduceAnd", Operation::LOGICAL_AND},
                                           {"ReduceOr", Operation::LOGICAL_OR}},
                                          arguments.at(0));
  const std::vector<std::pair<std::string_view, poplar::Type>> types = {{"float", poplar::FLOAT},
                                                                        {"half", poplar::HALF},
                                                                        {"int", poplar::INT},
                                                                        {"bool", poplar::BOOL}};
  const poplar::Type partials = named(types, arguments.at(1));
  const poplar::Type out = named(types, arguments.at(2));
  const bool updates = arguments.at(3) == "true";
  const auto specialisation =
      run.has("numOutputsM1")
          ? Specialisation::ALL_REGIONS_CONTINUOUS
          : named<Specialisation>(
                {{"::DEFAULT", Specialisation::DEFAULT},
                 {"SCALAR_OUTPUT_REGIONS", Specialisation::SCALAR_OUTPUT_REGIONS},
                 {"SCALAR_OUTPUT_SINGLE_INPUT", Specialisation::SCALAR_OUTPUT_SINGLE_INPUT},
                 {"::STRIDED_REDUCE", Specialisation::STRIDED_REDUCE},
                 {"STRIDED_REDUCE_OUTER", Specialisation::STRIDED_REDUCE_OUTER}},
                arguments.at(4));
  const poplar::Target target;
  poplar::VertexIntrospector vertex = introspect(run);
  if (run.has("countsAndStrides")) {
    // What PopLibs calls for a vertex reads a stride that it never sets; so its formula is called.
    const auto counts = vertex.getFieldInfo("countsAndStrides").getInitialValues<unsigned>(target);
    const unsigned grain = 8 / target.getTypeSize(partials);
    const std::size_t outputs = (counts.at(0) + 1) * grain;
    const std::size_t reduced = counts.at(1) + 1;
    const unsigned outer = counts.size() == 5 ? counts.at(3) + 1 : 1;
    return popops::getCyclesEstimateForStridedReduce(
        reduced * outputs, reduced, outputs, counts.at(2) * grain, outer, grain,
        target.getVectorWidth(partials), partials, out, operation, updates);
  }
  if (run.has("numOutputsM1")) {
    // It passes on one output less than its formula asks for.
    ++vertex.fields.at("numOutputsM1").values.at(0).at(0);
  }
  return popops::getCycleEstimateForReduceVertex(vertex, target, partials, out, operation, updates,
                                                 specialisation)
      .cycles;
}

}  // namespace superstep::poplibs
