#include "tests/poplibs/labels.h"

#include <map>

#include "tests/poplibs/cycle_exceptions.h"

namespace superstep::poplibs {

std::string class_symbol(const std::string& symbol) {
  static const std::map<std::string, std::string> kSpelledDifferently = {
      {"__runCodelet_popops__DynamicUpdateSlice1d___char",
       "__runCodelet_popops__DynamicUpdateSlice1D___char"},
      {"__runCodelet_popfloat__experimental__CastToGfloat32SrSupervisor___float_short_true_"
       "popfloat__experimental__SRDensityType__LAPLACE",
       "__runCodelet_popfloat__experimental__CastToGfloat32SrSupervisor___float_half_true_"
       "popfloat__experimental__SRDensityType__LAPLACE"}};
  const auto found = kSpelledDifferently.find(symbol);
  return found == kSpelledDifferently.end() ? symbol : found->second;
}

std::string_view why_no_class(std::string_view symbol) {
  struct Label {
    std::string_view symbols;
    std::string_view reason;
  };
  static constexpr Label kLabels[] = {
      {"*ConvPartial1x4SLIC*",
       "no vertex: worker code that the ConvPartial1xNSLIC entry points launch"},
      {"*popops__common*", "no vertex: code that entry points of elementwise operations call"},
      {"*Reduce*2common", "no vertex: code that the entry points of Reduce of one input call"},
      {"*Histogram2D___top_entry",
       "no vertex: code that the entry points of Histogram2D branch to"},
      {"*BroadcastScalar2Types1DInPlace*half_float",
       "an empty function: its macro leaves the code out where results are wider than inputs"},
      {"*BroadcastScalar2Types1DInPlace*float_half",
       "PopLibs has no vertex class with this name: nothing describes its state"}};
  for (const Label& label : kLabels) {
    if (fits(symbol, label.symbols)) return label.reason;
  }
  return "no C++ codelet has this name";
}

}  // namespace superstep::poplibs
