#include "tests/poplibs/cycle_exceptions.h"

namespace superstep::poplibs {

const std::vector<CycleException>& cycle_exceptions() {
  static const std::vector<CycleException> kAll = {
      {"poplin::ConvPartialVerticalMac<*,4>",
       "the estimator takes the zeroing of the partials and the last reduction for one worker, "
       "not for six that share the issue slots, and one product less for each entry of a "
       "worklist, whose number is one less already"},
      {"poplin::ConvPartialVerticalMac<*",
       "zeroing, reduction and products as above; against that the estimator has 15 slots for "
       "each entry of a worklist to store and reload accumulators, the code 5"},
      {"poplin::ConvPartialHorizontalMac<half,half,*",
       "of the two output channels that the inner loop makes, the estimator counts the products "
       "of one"},
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
      {"popnn::LossCrossEntropyTransform<float>",
       "the loop has 9 bundles an element, of which f32ln takes 6 slots: 14; the estimator "
       "counts f32ln as one slot"},
      {"popnn::LossCrossEntropyTransform<half>",
       "the loop has 9 bundles for two elements, of which f16v2ln takes 2 slots: 10; the "
       "estimator counts it as one slot"},
      {"popnn::NonLinearity*InPlace<float,popnn::NonLinearityType::GELU>",
       "11 bundles and two f32tanh of 5 slots for two elements, 21 (20 in 2D); the estimator has "
       "10, the slots of the two f32tanh"},
      {"popnn::NonLinearity*InPlace<half,popnn::NonLinearityType::GELU>",
       "8 bundles for four elements, the estimator has 5"},
      {"popnn::NonLinearityGrad*<float,popnn::NonLinearityType::GELU>",
       "12 bundles, two f32tanh of 5 slots and two f32exp of 3 for two elements, 28; the "
       "estimator has the 10 of the forward function"},
      {"popnn::NonLinearityGrad*<half,popnn::NonLinearityType::GELU>",
       "17 slots for four elements, 4 of them two f16v2exp; the estimator has the 5 of the "
       "forward function"},
      {"popops::BroadcastClamp<float>",
       "the loop has 2 bundles an element, the estimator a draft of 2 for two elements"},
      {"popops::BroadcastClamp<half>",
       "the loop has 3 bundles for two elements, the estimator a draft of 2 for four"},
      {"popops::Clamp<float>",
       "the loop has 4 bundles an element (three loads and a store), the estimator 2 for two "
       "elements; the comment of the code says 4"},
      {"popops::Clamp<half>",
       "the loop has 7 bundles for two elements, the estimator 2 for four; the comment of "
       "the code says 7 / 2"},
      {"popops::BroadcastScalar1D*<*INV_STD_DEV_TO_VARIANCE,half>",
       "8 slots for two elements, two of them f32div of 3; the estimator has 10"},
      {"popops::BroadcastScalar1D*<*,float>",
       "2 slots a vector as estimated, besides 41 where the estimator has 20 (loading state "
       "7, dividing the work 16, choosing the loop 6, first accesses 8, the end 4), and 24 "
       "clocks for the call where it has 11: 6 * 21 + 13"},
      {"popops::BroadcastScalar1D*<*",
       "2 slots a vector as estimated, besides 48 (45 in place, where there is no other loop "
       "to choose) where the estimator has 20; the first worker is the slowest, as it looks "
       "for a remainder, with 19 clocks around it where the estimator has 11: 6 * 28 + 8"},
      {"popops::BroadcastScalar2DData*<*INV_STD_DEV_TO_VARIANCE,half>",
       "8 slots for two elements, two of them f32div of 3; the estimator has 10"},
      {"popops::BroadcastScalar2Types*<*INV_STD_DEV_TO_VARIANCE,half,float>",
       "7 slots for two elements, two of them f32div of 3; the estimator has 11 and counts "
       "each division apart from its load"},
      {"popops::BroadcastScalar2Types*<*VARIANCE_TO_INV_STD_DEV,float,half>",
       "8 slots for two elements, two of them f32oorx of 3; the estimator has 12"},
      {"popops::BroadcastVectorInner1D<*MULTIPLY,half>",
       "a slot a vector as estimated, but the estimator has 24 and 19 slots for dividing the "
       "work and loading state (a supervisor did the former once), the code 26 for both; of "
       "the checks before the loops it has 13, the code 15, and 9 for each vector of the "
       "slice where the code has 8: 6 * (43 + 13 + 36 - 26 - 15 - 32) and one clock"},
      {"popops::BroadcastVectorInner2DInPlace<*MULTIPLY,half>",
       "the loop has a load and a store for a vector, 2 slots; the estimator takes the loop "
       "of 1, which only the form out of place has: it passes on that it is not in place"},
      {"popops::DynamicSlice1D<*",
       "30 slots a slice and 71 once, the estimator has 72 and 76; 2 slots a word in both"},
      {"popops::DynamicSlice2D<*long long>",
       "a load and a store for 8 bytes, one element; the estimator has one slot for two, as "
       "for 32-bit types, and does not double the region as that of DynamicUpdateSlice2D "
       "does"},
      {"popops::DynamicUpdateSlice2D<*long long>",
       "a load and a store for 8 bytes, the estimator has one slot"},
      {"popops::Dynamic*Slice2D<half>",
       "a load and a store for 4 bytes, the estimator has them for 8"},
      {"popops::DynamicUpdateSlice2D<*char>",
       "2 slots for 4 bytes, the estimator has 23: it counts C++"},
      {"popops::DynamicUpdateSlice2D<bool>",
       "2 slots for 4 bytes, the estimator has 23: it counts C++"},
      {"popops::Dynamic*Slice2D<*", "a load and a store for 8 bytes, the estimator has one slot"},
      {"popops::ForLoopCounter<*",
       "12 instructions of the supervisor, 17 clocks of waiting for results (3 for the "
       "address of the limit, 5 for the count, 5 for the sum, 4 for the comparison) and 5 "
       "more for the branch, 34; the estimator is the constant 43, 9 more, which is what "
       "estimators of UnaryOp1D and NonLinearity1D add for a call of the supervisor"},
      {"popops::HasNaNOrInf2D<*",
       "the vertex runs on one worker, but its estimator multiplies the slots by six"},
      {"popops::Multi*<*",
       "2 slots a word of each slice, the estimator has 3; 33 slots a slice where it has 19"},
      {"popops::ScaledAdd2D<half,float,*,false>",
       "the loop has 5 bundles for four halves, with conversions and sums of f32; the "
       "estimator has the 3 of f16 sums"},
      {"popops::Scaled*Supervisor<float,float,float,true>",
       "the loop has 2 bundles a vector; the estimator has 1 from 16 vectors on, which only "
       "f16 code has"},
      {"popops::ScaledAddSupervisor<float,half,*,false>",
       "the loop has 3 bundles a vector, the estimator 4"},
      {"popops::Scaled*Supervisor<half,half,float,*>",
       "the loop has 4 bundles for two halves, with conversions and sums of f32; the "
       "estimator has f16 sums, 3 or 1 for four halves"},
      {"popops::aX*bYSupervisor<half,half,true>",
       "a slot a vector as estimated (254 turns of 2 bundles for two vectors), besides 57 or "
       "58 slots where the estimator has 36: it leaves out three loops for remainders and "
       "filling the pipeline"},
      {"popops::XMinusaXPlusbYSupervisor<half,true>",
       "the loop has 2 bundles a vector; the estimator has the 1 of other scaled additions"},
      {"popops::aX*bY2D<half,float,*>",
       "the loop has 5 bundles for two halves as estimated, but the estimator multiplies the "
       "slots of a row by the 7 that the row costs besides, where it means to add them"},
      {"popops::Select<half>",
       "5 bundles an element and 6 instructions for two, 8 an element; the estimator has 5"},
      {"popops::Select<bool>",
       "5 bundles an element and 6 instructions for four, 6.5 an element; the estimator has "
       "5"},
      {"popops::UnaryOp*<*SIGNUM,half>",
       "the loop has 5 bundles a vector, the estimator 5 + 4 for loads, stores and the loop "
       "that are in the bundles"},
      {"popops::UnaryOp1DInPlace<*",
       "2 slots a vector as estimated, besides 26 to 33 slots where the estimator has 55"},
      {"popops::UnaryOp1D<*RELU,*",
       "the loop has 2 bundles a vector, the estimator 3: it counts the store apart, as it "
       "does not for the form in place, which runs the same code"},
      {"popops::UnaryOp1D<*TANH,*",
       "two f32tanh or f16v2tanh a vector in 2 bundles that also load and store: 10 or 2 "
       "slots; the estimator has 2 more, though not for the form in place, which runs the "
       "same code"},
      {"popops::UnaryOp1D<*SIGMOID,*",
       "two f32sigm or f16v2sigm a vector in 2 bundles that also load and store: 10 or 4 "
       "slots; the estimator has 2 more, though not for the form in place, which runs the "
       "same code"},
      {"popops::UnaryOp2D<*RELU,*", "the loop has 2 bundles a vector, the estimator 3"},
      {"popops::UnaryOp2D<*TANH,*",
       "two f32tanh or f16v2tanh a vector in 2 bundles that also load and store: 10 or 2 "
       "slots; the estimator has 2 more"},
      {"popops::UnaryOp2D<*SIGMOID,*",
       "two f32sigm or f16v2sigm a vector in 2 bundles that also load and store: 10 or 4 "
       "slots; the estimator has 2 more"},
      {"popops::Fill2d<*",
       "a slot for 8 bytes as estimated, besides 23 a row where the estimator has 36: it is "
       "for the worst alignment"},
      {"popops::*ContinuousReduce<*,half,*",
       "4 halves a slot as estimated, besides 19 to 22 slots an output and 3 for each second "
       "one, where the estimator has 12: the sum of eight lanes and a store of two halves"},
      {"popops::*Reduce<*SquareAdd,half,*STRIDED_REDUCE*",
       "the estimator has no line for sums of squares in its table of what storing results "
       "takes, and so 0 where sums have up to 11 for each of four vectors of outputs"},
      {"popops::*Reduce<*Add,float,half,*DEFAULT>",
       "four loads of 32 bits and 3 instructions for four partials, 7; the estimator has 9, "
       "with a call for data that may be misaligned; and it stores each output on its own, 8 "
       "or 12 slots for four where the code takes 3 or 4"},
      {"popops::*Reduce<*ReduceM*,half,half,*DEFAULT>",
       "7 slots for four partials where the estimator has 6, less 1.5 for storing four "
       "outputs"},
      {"popops::*Reduce<*Add,float,*DEFAULT>",
       "four loads of 32 bits and 3 instructions for four partials, 7; the estimator has 9, "
       "with a call for data that may be misaligned"},
      {"popops::*Reduce<*,float,*DEFAULT>",
       "two loads of 32 bits and 3 instructions for two partials, 5; the estimator has 6, "
       "with a check of alignment"},
      {"popops::*Reduce<*SCALAR_OUTPUT_REGIONS>",
       "4 instructions a partial (load, operation with the address, comparison, branch); the "
       "estimator has 6, with a check of alignment, which only partials with more outputs "
       "need"},
      {"poprand::Bernoulli<half>",
       "a slot for four elements, the estimator has a clock for sixteen: it divides bits by 4 "
       "where it means 16"},
      {"poprand::Bernoulli<*",
       "a slot for two elements, the estimator has a clock for 32: it divides bits by 2 where it "
       "means 32"},
      {"poprand::Normal<float>", "3 slots for two elements, the estimator has 4"},
      {"poprand::TruncatedNormal<*",
       "the code tries again only where a number was beyond the bound, 1.1 tries a piece here (at "
       "most one more than `iterations`); the estimator has `iterations` tries for each"},
      {"poprand::Uniform<half>",
       "4 slots for four elements, the estimator has 4 for sixteen: it divides bits by 4 where "
       "it means 16"},
      {"poprand::Uniform<float>",
       "4 slots for two elements, the estimator has 4 for 32: it divides bits by 2 where it "
       "means 32"},
      {"poprand::Uniform<int>", "8 slots for two elements, the estimator has 6"},
      {"popnn::CTCReduceCandidates<*",
       "a slot for two candidates as estimated, besides 18 slots where the estimator has 19, and "
       "23 clocks around the workers where it has 36 with the check whether the work is done"},
      {"popops::CompareAndSwapAtDistanceKeyVal<*",
       "turns of one pair take 20 slots; the estimator has 11 for a turn, 2 for its change of "
       "order and 11 for a pair, though the first pair of a turn takes 8, which it has only once"},
      {"popops::ScaledAdd2D<half,half,float,*>",
       "the loop has 4 bundles for two halves, with conversions and sums of f32; the estimator "
       "has f16 sums, 3 or 2 for four halves"},
      {"popops::ScaledSubtract2D<half,float,*>",
       "the loop has 4 bundles for two halves, with conversions and sums of f32; the estimator "
       "has f16 sums, 3 or 2 for four halves"},
      {"poprand::SetSeed",
       "the estimator counts the 27 slots of a worker as they are, but 14 clocks for the call of "
       "all workers, which takes 24"},
      {"popfloat::experimental::CastGf16ToFloatSupervisor<*",
       "the estimator counts 3, 25 (with subnormals) or 24 slots for two elements, the loops have "
       "2, 18 and 14: it adds what comes before the loop to each turn"},
      {"popfloat::experimental::CastGf8ToHalfSupervisor<*",
       "the estimator counts 5, 23 (least normal aligned) or 17 slots for four elements, the loops "
       "have 8, 18 and 11: it adds what comes before the loop to each turn"},
      {"popfloat::experimental::CastToGfloat16Param",
       "the estimator counts 8 instructions for a mask of random bits, which the codelet no longer "
       "makes, but misses others"},
      {"popfloat::experimental::CastToGfloat32Param",
       "the estimator is of before the codelet made the words for integer storage forms"},
      {"popfloat::experimental::CastToGfloat16Supervisor<*",
       "the estimator is the same for all roundings, with and without NaN on overflow, and takes "
       "f16 inputs for f32 ones and the reverse"},
      {"popfloat::experimental::CastToGfloat32Supervisor<*",
       "the estimator is the same for all roundings, with and without NaN on overflow and with and "
       "without subnormal numbers; it counts what comes before the loops once, not for each "
       "worker"},
      {"popsparse::SparseDenseMatMulBlockAmpGradW<half,float,16,16>",
       "the code goes twice over a block, for 8 rows of partials each time, 30 slots; the "
       "estimator has two passes only for a machine of 4 units, else one of 32 slots"},
      {"popsparse::SparseDenseMatMulBlock<float,float,4,4>",
       "a block takes 20 slots where the estimator has 19, a row of blocks 3 that it leaves out"},
      {"popsparse::SparseDenseMatMulElementWiseTranspose<*",
       "the 8 or 9 slots before the loop over the inner dimension are for each value of a row, "
       "the estimator has 8 once a row"},
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
