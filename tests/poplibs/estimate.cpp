#include "tests/poplibs/estimate.h"

#include <map>
#include <string>

#include <poputil/cyclesTables.hpp>

#include "tests/poplibs/estimate_reductions.h"
#include "tests/poplibs/estimate_sparse.h"
#include "tests/poplibs/introspect.h"

namespace popops {
poputil::internal::PerfEstimatorTable makePerfFunctionTable();
}
namespace popnn {
poputil::internal::PerfEstimatorTable makePerfFunctionTable();
}
namespace poplin {
poputil::internal::PerfEstimatorTable makePerfFunctionTable();
}
namespace poprand {
poputil::internal::PerfEstimatorTable makePerfFunctionTable();
}
namespace popsparse {
poputil::internal::PerfEstimatorTable makePerfFunctionTable();
}
namespace popfloat::experimental {
poputil::internal::PerfEstimatorTable makePerfFunctionTable();
}

namespace superstep::poplibs {
namespace {

std::string without_spaces_after_commas(std::string name) {
  for (std::size_t at = name.find(", "); at != std::string::npos; at = name.find(", ")) {
    name.erase(at + 1, 1);
  }
  return name;
}

const std::map<std::string, poplar::PerfEstimateFunc>& estimators() {
  static const auto all = [] {
    std::map<std::string, poplar::PerfEstimateFunc> table;
    for (const auto& part :
         {popops::makePerfFunctionTable(), popnn::makePerfFunctionTable(),
          poplin::makePerfFunctionTable(), poprand::makePerfFunctionTable(),
          popsparse::makePerfFunctionTable(), popfloat::experimental::makePerfFunctionTable()}) {
      for (const auto& [name, function] : part) {
        table.emplace(without_spaces_after_commas(name), function);
      }
    }
    return table;
  }();
  return all;
}

poplar::layout::Vector profiled(Layout layout) {
  using Vector = poplar::layout::Vector;
  switch (layout) {
    case Layout::kSpan:
      return Vector::Span;
    case Layout::kShortSpan:
      return Vector::ShortSpan;
    case Layout::kScaled32:
      return Vector::ScaledPtr32;
    case Layout::kScaled64:
      return Vector::ScaledPtr64;
    case Layout::kScaled128:
      return Vector::ScaledPtr128;
    default:
      return Vector::OnePtr;
  }
}

bool is_reduction(const std::string& type) {
  for (const char* name :
       {"Reduce", "ScaledReduce", "ContinuousReduce", "ScaledContinuousReduce"}) {
    if (type.starts_with(std::string("popops::") + name + "<")) return true;
  }
  return false;
}

}  // namespace

poplar::VertexIntrospector introspect(const Case& run) {
  poplar::VertexIntrospector vertex;
  for (const FieldState& state : run.states()) {
    const Field& field = *state.field;
    poplar::FieldData data;
    data.is_two_dimensional = field.shape == Shape::kVectors || field.shape == Shape::kVectorList;
    data.element_bytes = field.element_bytes;
    for (const Row& row : state.rows) {
      data.sizes.push_back(row.bytes.size() / field.element_bytes);
      data.values.emplace_back(row.bytes.begin(), row.bytes.end());
    }
    data.layouts = {profiled(field.layout), profiled(field.inner_layout)};
    if (field.shape == Shape::kVectorList) {
      data.list_layout = poplar::layout::VectorList::DeltaNElements;
    }
    vertex.fields.emplace(field.name, std::move(data));
  }
  return vertex;
}

std::optional<std::uint64_t> estimate(const Case& run) {
  if (is_reduction(run.entry().type)) return estimate_reduction(run);
  const auto found = estimators().find(run.entry().type);
  if (found == estimators().end()) return std::nullopt;
  const std::uint64_t cycles = found->second(introspect(run), poplar::Target()).cycles;
  // Entries that estimate nothing: 0 in popsparse, 1 in popfloat.
  if (cycles == 0) return estimate_sparse(run);
  if (cycles == 1) return std::nullopt;
  return cycles;
}

}  // namespace superstep::poplibs
