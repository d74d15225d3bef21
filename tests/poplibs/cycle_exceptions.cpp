#include "tests/poplibs/cycle_exceptions.h"

namespace superstep::poplibs {

const std::vector<CycleException>& cycle_exceptions() {
  static const std::vector<CycleException> kAll = {
      {"popops::HasNaNOrInf2D<*",
       "the vertex runs on one worker, but its estimator multiplies the slots by six"},
      {"poplin::ConvPartialVerticalMac<*,4>",
       "the estimator takes the zeroing of the partials and the last reduction for one worker, not "
       "for six that share the issue slots, and one product less for each entry of a worklist, "
       "whose number is one less already"},
      {"poplin::ConvPartialVerticalMac<*",
       "zeroing, reduction and products as above; against that the estimator has 15 slots for each "
       "entry of a worklist to store and reload accumulators, the code 5"},
      {"poplin::ConvPartialHorizontalMac<half,half,*",
       "of the two output channels that the inner loop makes, the estimator counts the products of "
       "one"},
      {"poplin::ConvPartialHorizontalMac*<half,float,*",
       "the estimator counts one turn of the inner loop more than there are for each dot product "
       "(the last two products are behind it) and 16 slots of a launch twice"},
      {"poplin::ConvPartial1xNSLIC<half,half,*,true,4,4,8,*",
       "two vectors of four channels are two launches; the estimator counts one where partials "
       "begin at zero"},
      {"poplin::ConvPartial1xNSLIC<half,half,*,true,4,4,16,*",
       "four vectors of four channels are four launches; the estimator counts one where partials "
       "begin at zero"},
      {"poplin::ConvPartial1xNSLIC<half,half,1,true,4,2,4,true>",
       "the estimator leaves out the 27 cycles that save, clear and restore FP_ICTL"},
  };
  return kAll;
}

bool fits(std::string_view text, std::string_view pattern) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return text == pattern;
  if (!text.starts_with(pattern.substr(0, star))) return false;
  text.remove_prefix(star);
  pattern.remove_prefix(star + 1);
  for (std::size_t skipped = 0; skipped <= text.size(); ++skipped) {
    if (fits(text.substr(skipped), pattern)) return true;
  }
  return false;
}

}  // namespace superstep::poplibs
