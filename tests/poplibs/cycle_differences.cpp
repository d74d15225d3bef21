#include "tests/poplibs/cycle_differences.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <string_view>
#include <vector>

#include "tests/poplibs/cycle_exceptions.h"

namespace superstep::poplibs {
namespace {

struct Record {
  std::string_view types;  ///< as in CycleException
  CycleDifference difference;
};

// All that fit a type add up. Where six workers share the work, 6 clocks are a slot of each, 13 are
// the call of a multivertex (24 clocks, estimators have 11), and a slot more for each vector of
// eight bytes, of which a worker has every sixth, is half a clock more for each f32.
const Record kPopops[] = {
    {"popnn::LossCrossEntropyTransform<float>", {1, 0, 5}},
    {"popnn::LossCrossEntropyTransform<half>", {-1, 0, 0.5}},
    {"popnn::NonLinearity1DInPlace<float,popnn::NonLinearityType::GELU>", {9, 0, 5.5}},
    {"popnn::NonLinearity1DInPlace<half,popnn::NonLinearityType::GELU>", {100, 0, 0.75}},
    {"popnn::NonLinearity2DInPlace<float,popnn::NonLinearityType::GELU>", {13, -12, 5}},
    {"popnn::NonLinearity2DInPlace<half,popnn::NonLinearityType::GELU>", {9, 5, 0.75}},
    {"popnn::NonLinearityGrad1D<float,popnn::NonLinearityType::GELU>", {214, 0, 9}},
    {"popnn::NonLinearityGrad1D<half,popnn::NonLinearityType::GELU>", {166, 0, 3}},
    {"popnn::NonLinearityGrad2D<float,popnn::NonLinearityType::GELU>", {12, 22, 9}},
    {"popnn::NonLinearityGrad2D<half,popnn::NonLinearityType::GELU>", {9, 17, 3}},
    {"popops::BroadcastClamp<float>", {4, -1, 1}},
    {"popops::BroadcastClamp<half>", {5, 7, 1}},
    {"popops::Clamp<float>", {2, 1, 3}},
    {"popops::Clamp<half>", {2, 7, 3}},
    {"popops::BroadcastScalar1D<*,float>", {139, 0, 0}},
    {"popops::BroadcastScalar1D<*::ADD,half>", {176, 0, 0}},
    {"popops::BroadcastScalar1D<*::SUBTRACT,half>", {176, 0, 0}},
    {"popops::BroadcastScalar1D<*::MULTIPLY,half>", {176, 0, 0}},
    {"popops::BroadcastScalar1D<*::BITWISE_*>", {176, 0, 0}},
    {"popops::BroadcastScalar1DInPlace<*::ADD,half>", {158, 0, 0}},
    {"popops::BroadcastScalar1DInPlace<*::SUBTRACT,half>", {158, 0, 0}},
    {"popops::BroadcastScalar1DInPlace<*::MULTIPLY,half>", {158, 0, 0}},
    {"popops::BroadcastScalar1DInPlace<*::BITWISE_*>", {158, 0, 0}},
    {"popops::BroadcastScalar1D<*::INV_STD_DEV_TO_VARIANCE,half>", {25, 0, -1}},
    {"popops::BroadcastScalar1DInPlace<*::INV_STD_DEV_TO_VARIANCE,half>", {31, 0, -1}},
    {"popops::BroadcastScalar2DData<*::INV_STD_DEV_TO_VARIANCE,half>", {-10, -18, -1}},
    {"popops::BroadcastScalar2DDataInPlace<*::INV_STD_DEV_TO_VARIANCE,half>", {-11, -18, -1}},
    {"popops::BroadcastScalar2Types1D<*", {25, 0, -2}},
    {"popops::BroadcastScalar2Types2DData<*,half,float>", {-11, -18, -2}},
    {"popops::BroadcastScalar2Types2DData<*,float,half>", {-13, -18, -2}},
    {"popops::BroadcastVectorInner1D<*::MULTIPLY,half>", {-115, 0, 0}},
    {"popops::BroadcastVectorInner2DInPlace<*::MULTIPLY,half>", {0, -11, 0.25}},
    {"popops::DynamicSlice1D<*", {-271, 0, 0}},
    {"popops::DynamicSlice2D<*long long>", {0, -1, 1.5}},
    {"popops::DynamicUpdateSlice2D<*long long>", {0, -1, 1}},
    {"popops::DynamicSlice2D<float>", {0, -2, 0.5}},
    {"popops::DynamicUpdateSlice2D<float>", {0, -1, 0.5}},
    {"popops::DynamicSlice2D<int>", {0, -2, 0.5}},
    {"popops::DynamicUpdateSlice2D<int>", {0, -1, 0.5}},
    {"popops::DynamicSlice2D<unsigned int>", {0, -2, 0.5}},
    {"popops::DynamicUpdateSlice2D<unsigned int>", {0, -1, 0.5}},
    {"popops::DynamicSlice2D<half>", {0, -4, 0.5}},
    {"popops::DynamicUpdateSlice2D<half>", {0, -3, 0.5}},
    {"popops::DynamicUpdateSlice2D<*char>", {0, -12, -5.25}},
    {"popops::DynamicUpdateSlice2D<bool>", {0, -12, -5.25}},
    {"popops::Fill2d<*", {-1, -13, 0}},
    {"popops::ForLoopCounter<*", {-9, 0, 0}},
    {"popops::HasNaNOrInf2D<float,false>", {-79, -50, -2.5}},
    {"popops::HasNaNOrInf2D<float,true>", {-84, -50, -3.75}},
    {"popops::HasNaNOrInf2D<half,false>", {-99, -62, -3.75}},
    {"popops::HasNaNOrInf2D<half,true>", {-104, -60, -1.25}},
    {"popops::MultiSlice<*", {1129, 0, -13}},
    {"popops::MultiUpdate<*", {1135, 0, -13}},
    {"popops::ScaledAdd2D<half,float,*,false>", {-2, -4, 0.5}},
    {"popops::ScaledAdd2D<half,half,float,false>", {18, -2, 1.25}},
    {"popops::ScaledAdd2D<half,half,float,true>", {17, -2, 1.5}},
    {"popops::ScaledSubtract2D<half,float,false>", {17, -2, 1.25}},
    {"popops::ScaledSubtract2D<half,float,true>", {16, -2, 1.5}},
    {"popops::ScaledAddSupervisor<float,float,float,true>", {-9, 0, 0.5}},
    {"popops::ScaledSubtractSupervisor<float,float,float,true>", {-16, 0, 0.5}},
    {"popops::ScaledAddSupervisor<float,half,float,false>", {-15, 0, -0.5}},
    {"popops::ScaledAddSupervisor<float,half,half,false>", {-9, 0, -0.5}},
    {"popops::ScaledAddSupervisor<half,half,float,false>", {93, 0, 1.25}},
    {"popops::ScaledSubtractSupervisor<half,half,float,false>", {80, 0, 1.25}},
    {"popops::ScaledAddSupervisor<half,half,float,true>", {81, 0, 1.75}},
    {"popops::ScaledSubtractSupervisor<half,half,float,true>", {74, 0, 1.75}},
    {"popops::Select<bool>", {1, 9, 1.5}},
    {"popops::Select<half>", {1, 9, 3}},
    {"popops::UnaryOp1D<*::RELU,float>", {64, 0, -0.5}},
    {"popops::UnaryOp1D<*::RELU,half>", {71, 0, -0.25}},
    {"popops::UnaryOp2D<*::RELU,float>", {-15, 11, -0.5}},
    {"popops::UnaryOp2D<*::RELU,half>", {-15, 13, -0.25}},
    {"popops::UnaryOp1D<*::SIGMOID,float>", {64, 0, -1}},
    {"popops::UnaryOp1D<*::SIGMOID,half>", {71, 0, -0.5}},
    {"popops::UnaryOp2D<*::SIGMOID,float>", {-15, 11, -1}},
    {"popops::UnaryOp2D<*::SIGMOID,half>", {-15, 13, -0.5}},
    {"popops::UnaryOp1D<*::TANH,float>", {64, 0, -1}},
    {"popops::UnaryOp1D<*::TANH,half>", {71, 0, -0.5}},
    {"popops::UnaryOp2D<*::TANH,float>", {-15, 11, -1}},
    {"popops::UnaryOp2D<*::TANH,half>", {-15, 13, -0.5}},
    {"popops::UnaryOp1D<*::SIGNUM,half>", {59, 0, -1}},
    {"popops::UnaryOp1DInPlace<*::SIGNUM,half>", {-169, 0, -1}},
    {"popops::UnaryOp2D<*::SIGNUM,half>", {-11, 8, -1}},
    {"popops::UnaryOp2DInPlace<*::SIGNUM,half>", {-12, 9, -1}},
    {"popops::UnaryOp1DInPlace<*::BITWISE_NOT,*", {-133, 0, 0}},
    {"popops::UnaryOp1DInPlace<*::RELU,float>", {-170, 0, 0}},
    {"popops::UnaryOp1DInPlace<*::RELU,half>", {-163, 0, 0}},
    {"popops::UnaryOp1DInPlace<*::TANH,half>", {-163, 0, 0}},
    {"popops::XMinusaXPlusbYSupervisor<half,true>", {27, 0, 0.25}},
    {"popops::aXMinusbYSupervisor<half,half,true>", {117, 0, 0}},
    {"popops::aXPlusbYSupervisor<half,half,true>", {111, 0, 0}},
    {"popops::aXMinusbY2D<half,float,*", {4, -18, -15}},
    {"popops::aXPlusbY2D<half,float,*", {1, -18, -15}},
    {"poprand::Bernoulli<float>", {8, 0, 0.46875}},
    {"poprand::Bernoulli<int>", {8, 0, 0.46875}},
    {"poprand::Bernoulli<half>", {20, 0, 0.1875}},
    {"poprand::Normal<float>", {12, 0, -0.5}},
    {"poprand::Uniform<float>", {11, 0, 1.875}},
    {"poprand::Uniform<half>", {5, 0, 0.75}},
    {"poprand::Uniform<int>", {92, 0, 1}},
    {"poprand::SetSeed", {10, 0, 0}},
};

// DEFAULT and SCALAR_OUTPUT_REGIONS run the same code. A row is a region or an output.
const Record kReductions[] = {
    {"popops::Reduce<*::DEFAULT>", {-9, 0, 0}},
    {"popops::ScaledReduce<*::DEFAULT>", {-7, 0, 0}},
    {"popops::*Reduce<*,float,*::DEFAULT>", {0, 0, -0.5}},
    {"popops::*Reduce<*Add,float,float,*::DEFAULT>", {0, -2, 0}},
    {"popops::*Reduce<*ReduceM*,float,float,*::DEFAULT>", {0, -14, 0}},
    {"popops::*Reduce<*,float,half,false,*::DEFAULT>", {0, -22, 0}},
    {"popops::*Reduce<*,float,half,true,*::DEFAULT>", {0, -34, 0}},
    {"popops::*Reduce<*ReduceM*,half,half,*::DEFAULT>", {0, -6, 0.25}},
    {"popops::Reduce<*SCALAR_OUTPUT_REGIONS>", {-10, 0, -2}},
    {"popops::ScaledReduce<*SCALAR_OUTPUT_REGIONS>", {-8, 0, -2}},
    {"popops::*Reduce<*,*,float,*SCALAR_OUTPUT_REGIONS>", {0, 3, 0}},
    {"popops::*Reduce<*,float,half,*SCALAR_OUTPUT_REGIONS>", {0, 4, 0}},
    {"popops::*Reduce<*Add,half,half,*SCALAR_OUTPUT_REGIONS>", {0, 5, 0}},
    {"popops::*Reduce<*ReduceM*,half,half,*SCALAR_OUTPUT_REGIONS>", {0, 6, 0}},
    {"popops::ScaledReduce<*,half,float,true,*::STRIDED_REDUCE>", {32, 0, 0}},
    {"popops::ScaledReduce<*,half,float,true,*::STRIDED_REDUCE_OUTER>", {33, 0, 0}},
    {"popops::ScaledContinuousReduce<*Add,half,half,false>", {-10, 8.5, 0}},
    {"popops::ScaledContinuousReduce<*Add,half,half,true>", {-11, 10.5, 0}},
    {"popops::ScaledContinuousReduce<*ReduceM*,half,half,false>", {-10, 9.5, 0}},
    {"popops::ScaledContinuousReduce<*ReduceM*,half,half,true>", {-11, 11.5, 0}},
};

// The code of each rounding and of NaN on overflow adds its instructions to each turn of the loop.
const Record kPopfloat[] = {
    {"popfloat::experimental::CastToGfloat16Param", {3, 0, 0}},
    {"popfloat::experimental::CastToGfloat32Param", {28, 0, 0}},
    {"popfloat::experimental::CastGf16ToFloatSupervisor<*BFLOAT16>", {132, 0, -0.5}},
    {"popfloat::experimental::CastGf16ToFloatSupervisor<*ENABLE_DENORM_GF16>", {222, 0, -3.5}},
    {"popfloat::experimental::CastGf16ToFloatSupervisor<*NO_DENORM_GF16>", {228, 0, -5}},
    {"popfloat::experimental::CastGf8ToHalfSupervisor<*MAX_NORM_ALIGN_GF8>", {191, 0, -1.5}},
    {"popfloat::experimental::CastGf8ToHalfSupervisor<*MIN_NORM_ALIGN_GF8>", {191, 0, -1.25}},
    {"popfloat::experimental::CastGf8ToHalfSupervisor<*ONE_FIVE_TWO_GF8>", {149, 0, 0.75}},
    {"popfloat::experimental::CastToGfloat16Supervisor<half,half,*", {149, 0, -5.75}},
    {"popfloat::experimental::CastToGfloat16Supervisor<float,half,*", {155, 0, -3.25}},
    {"popfloat::experimental::CastToGfloat16Supervisor<float,float,*", {161, 0, -2.25}},
    {"popfloat::experimental::CastToGfloat16Supervisor<half,half,true,*", {0, 0, 0.5}},
    {"popfloat::experimental::CastToGfloat16Supervisor<float,*,true,*", {0, 0, 0.25}},
    {"popfloat::experimental::CastToGfloat16Supervisor<*::RA>", {0, 0, 1.25}},
    {"popfloat::experimental::CastToGfloat16Supervisor<*::RN>", {0, 0, 2.5}},
    {"popfloat::experimental::CastToGfloat16Supervisor<*::RU>", {18, 0, 1.25}},
    {"popfloat::experimental::CastToGfloat16Supervisor<*::RD>", {18, 0, 1.25}},
    {"popfloat::experimental::CastToGfloat16Supervisor<*::SR>", {0, 0, 0.5}},
    {"popfloat::experimental::CastToGfloat16Supervisor<*::SX>", {0, 0, 1.5}},
    {"popfloat::experimental::CastToGfloat32Supervisor<float,float,*", {134, 0, -3}},
    {"popfloat::experimental::CastToGfloat32Supervisor<float,half,*", {123, 0, -3.5}},
    {"popfloat::experimental::CastToGfloat32Supervisor<*,true,*", {0, 0, 2}},
    {"popfloat::experimental::CastToGfloat32Supervisor<*::RA>", {0, 0, 2}},
    {"popfloat::experimental::CastToGfloat32Supervisor<*::RN>", {0, 0, 8.5}},
    {"popfloat::experimental::CastToGfloat32Supervisor<*::RU>", {0, 0, 2.5}},
    {"popfloat::experimental::CastToGfloat32Supervisor<*::RD>", {0, 0, 2.5}},
};

bool has_data_dependent_slots(std::string_view type) {
  // Some roundings at random draw again.
  return type.starts_with("popfloat::experimental::CastToGfloat32") &&
         (type.ends_with("::SR>") || type.ends_with("::SX>"));
}

}  // namespace

double CycleDifference::of(const CyclePoint& point) const {
  return once + row * static_cast<double>(point.rows) +
         element * static_cast<double>(point.elements);
}

std::optional<CycleDifference> cycle_difference(const EntryResult& result) {
  if (has_data_dependent_slots(result.type)) return std::nullopt;
  std::optional<CycleDifference> sum;
  for (const std::span<const Record> table :
       {std::span<const Record>(kPopops), std::span<const Record>(kReductions),
        std::span<const Record>(kPopfloat)}) {
    for (const Record& record : table) {
      if (!fits(result.type, record.types)) continue;
      if (!sum) sum.emplace();
      sum->once += record.difference.once;
      sum->row += record.difference.row;
      sum->element += record.difference.element;
    }
  }
  return sum;
}

std::vector<CyclePoint> points_of_difference(const EntryResult& result) {
  std::vector<CyclePoint> points;
  std::ranges::copy_if(result.cycles, std::back_inserter(points), [](const CyclePoint& point) {
    return point.whole_rows != 0 && !point.is_held_out;
  });
  return points.empty() ? result.cycles : points;
}

std::vector<CyclePoint> held_out_points(const EntryResult& result) {
  std::vector<CyclePoint> points;
  std::ranges::copy_if(result.cycles, std::back_inserter(points), &CyclePoint::is_held_out);
  return points;
}

std::size_t degrees_of_freedom(const CycleDifference& difference, const EntryResult& result) {
  const std::size_t points = points_of_difference(result).size();
  return points - std::min<std::size_t>(points, difference.row != 0 ? 3 : 2);
}

bool is_exact(const CycleDifference& difference, const std::vector<CyclePoint>& points) {
  return std::ranges::all_of(points, [&](const CyclePoint& point) {
    return static_cast<double>(point.simulated) ==
           static_cast<double>(point.estimated) + difference.of(point);
  });
}

}  // namespace superstep::poplibs
