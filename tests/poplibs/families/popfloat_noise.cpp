#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include <fmt/format.h>

#include "base/float16.h"
#include "tests/poplibs/device.h"
#include "tests/poplibs/families/popfloat.h"
#include "tests/poplibs/worker_random.h"

// Rounding that adds noise of some density to what would be cut off: each result must be one of the
// two neighbours, and the upper one as often as the density says.

namespace superstep::poplibs {
namespace {

/// Parameters of a density as popfloat packs them (graphcore/poplibs
/// lib/popfloat/CastToGfloat.cpp, RoundConfig) and the chance that noise reaches `least`.
struct Density {
  double in_offset = 0, in_scale = 1;  ///< of a uniform number of [-1/2, 1/2] before its transform
  double out_offset = 0, out_scale = 1;  ///< after it
  double low = 0, high = 0;              ///< bounds of the transformed number
  std::uint32_t parameter = 0;           ///< a probability in 2^-16
  double (*chance)(double least) = nullptr;
  bool is_exact = false;  ///< noise has no more bits than are cut off
};

double normal_beyond(double x) { return std::erfc(x / std::sqrt(2.0)) / 2; }

/// Noise is 1/2 + s z with z of [-1/2s, 1/2s]: as far as z must go for noise to reach `least`.
constexpr double kSpread = 0.2;
double as_z(double least) { return (least - 0.5) / kSpread; }

double uniform_chance(double least) { return std::clamp(1 - least, 0.0, 1.0); }
double normal_chance(double least) {
  return least <= 0 ? 1 : least > 1 ? 0 : normal_beyond(as_z(least));
}
double truncated_normal_chance(double least) {
  const double tail = normal_beyond(0.5 / kSpread);
  return std::clamp((normal_beyond(as_z(least)) - tail) / (1 - 2 * tail), 0.0, 1.0);
}
constexpr double kKept = 0.25;
double bernoulli_chance(double least) { return least < 1 ? kKept : 0; }
double laplace_chance(double least) {
  if (least <= 0 || least > 1) return least <= 0 ? 1 : 0;
  const double z = as_z(least);
  return z > 0 ? std::exp(-z) / 2 : 1 - std::exp(z) / 2;
}
double logistic_chance(double least) {
  return least <= 0 ? 1 : least > 1 ? 0 : 1 / (1 + std::exp(least - 0.5));
}
double logit(double p) { return std::log(p / (1 - p)); }
double logit_normal_chance(double least) {
  return least <= 0 ? 1 : least >= 1 ? 0 : normal_beyond(logit(least));
}
constexpr double kLogitBound = 2;
double truncated_logit_normal_chance(double least) {
  if (least <= 0 || least >= 1) return least <= 0 ? 1 : 0;
  const double tail = normal_beyond(kLogitBound);
  return std::clamp((normal_beyond(logit(least)) - tail) / (1 - 2 * tail), 0.0, 1.0);
}

Density density_of(const Case& run) {
  Density density;
  if (is_type(run, "::UNIFORM")) {
    density.out_offset = 0.5;
    density.chance = uniform_chance;
  } else if (is_type(run, "::BERNOULLI")) {
    density.parameter = static_cast<std::uint32_t>(kKept * 65536);
    density.chance = bernoulli_chance;
    density.is_exact = true;
  } else if (is_type(run, "::LOGISTIC")) {
    // f16 takes the scale of the noise for that of the uniform number, too: it must be 1.
    density = {0.5, 1, 0.5, 1, -0.5, 0.5, 0, logistic_chance, false};
  } else if (is_type(run, "::LOGIT_NORMAL")) {
    density.high = 1;
    density.chance = logit_normal_chance;
  } else if (is_type(run, "::TRUNCATED_LOGIT_NORMAL")) {
    density.low = -kLogitBound;
    density.high = kLogitBound;
    density.chance = truncated_logit_normal_chance;
  } else {
    density.out_offset = 0.5;
    density.out_scale = kSpread;
    density.low = -0.5 / kSpread;
    density.high = 0.5 / kSpread;
    // popfloat never uses the entry points of the other truncated densities: it turns those into
    // parameters of LAPLACE and LOGISTIC. What their names stand for is a truncated normal.
    density.chance = is_type(run, "::TRUNCATED_") ? truncated_normal_chance
                     : is_type(run, "::LAPLACE")  ? laplace_chance
                                                  : normal_chance;
  }
  return density;
}

std::vector<std::uint32_t> packed(const Density& density, bool in_half) {
  const std::vector<std::pair<double, double>> pairs = {{density.in_offset, density.in_scale},
                                                        {density.out_offset, density.out_scale},
                                                        {density.low, density.high}};
  std::vector<std::uint32_t> words;
  for (const auto& [first, second] : pairs) {
    const auto lower = static_cast<float>(first);
    const auto upper = static_cast<float>(second);
    if (in_half) {
      words.push_back(portable_half_bits(lower) | std::uint32_t{portable_half_bits(upper)} << 16);
    } else {
      words.push_back(std::bit_cast<std::uint32_t>(lower));
      words.push_back(std::bit_cast<std::uint32_t>(upper));
    }
  }
  words.push_back(density.parameter);
  return words;
}

/// Counts of results that became the upper neighbour.
struct Tally {
  double expected = 0, variance = 0, found = 0;
  std::size_t count = 0;

  void add(double chance, bool is_upper) {
    expected += chance;
    variance += chance * (1 - chance);
    found += is_upper ? 1 : 0;
    ++count;
  }
  /// Four standard deviations, and what normal numbers made of small integers and densities in f16
  /// are off.
  [[nodiscard]] bool is_likely() const {
    return std::fabs(found - expected) <= 4 * std::sqrt(variance) + 0.01 * double(count) + 1;
  }
};

std::string judge(const Case& run, const DeviceResult& device, const PopfloatCast& cast,
                  const Density& density, std::size_t n) {
  const Grid grid = cast.grid();
  // Sums of f16 are rounded to nearest before they are cut: half of their last place is added.
  const double added =
      cast.in_half && !density.is_exact ? std::ldexp(0.5, cast.format.fraction_bits - 10) : 0;
  // By quarters of the way to the upper neighbour: over the whole way a symmetric density of any
  // width gives one half.
  std::array<Tally, 4> tallies;
  for (std::size_t field = 0; field < run.states().size(); ++field) {
    const FieldState& state = run.states()[field];
    if (state.field->name != cast.out) continue;
    const auto stored = [&](double steps_added, double number) {
      const double to =
          cast.result(rounded(number, grid, Rounds::kNoise, steps_added, cast.nan_on_overflow));
      return run.element(state, run.encoded(*state.field, to), 0);
    };
    for (std::size_t i = 0; i < n; ++i) {
      const double number = cast.numbers[i];
      const double lower = stored(0, number);
      const double upper = stored(1, number);
      const double have = run.element(state, device.rows[field][0], i);
      const bool is_upper = have == upper || (std::isnan(have) && std::isnan(upper));
      if (have != lower && !is_upper) {
        return fmt::format("{}[{}] is {}, should be {} or {}", cast.out, i, have, lower, upper);
      }
      if (lower == upper) continue;
      const double steps = std::fabs(number) / grid.place(std::fabs(number));
      const double way = steps - std::floor(steps);
      tallies.at(static_cast<std::size_t>(4 * way)).add(density.chance(1 - way - added), is_upper);
    }
  }
  for (const Tally& tally : tallies) {
    if (tally.is_likely()) continue;
    return fmt::format("{} of {} results are the upper neighbour, {} should be", tally.found,
                       tally.count, tally.expected);
  }
  return {};
}

void cast_with_noise(Case& run, std::size_t size) {
  PopfloatCast cast = popfloat_cast(run, size);
  const bool from_float = run.state(cast.in).field->element == Element::kFloat;
  const bool to_float = run.state(cast.out).field->element == Element::kFloat;
  // PopLibs' assembly from f32 to formats in f16 pairs elements of different workers, and with f32
  // results stores but the last of each worker: one number for all, at most once each.
  const bool pairs_wrongly = cast.in_half && from_float;
  const std::size_t n =
      popfloat_size(run, cast, pairs_wrongly && to_float ? std::min<std::size_t>(size, 24) : size);
  const std::size_t behind = pairs_wrongly ? 64 : 0;
  const int low = std::ilogb(cast.least_normal());
  const int span = cast.format.greatest_exponent() - low;
  const auto draw = [&] {
    const int exponent = low + static_cast<int>(run.pick(std::uint64_t(span)));
    const double value = std::ldexp(1 + double(run.pick(1 << 20)) * 0x1p-20, exponent);
    return std::copysign(std::min(value, 30000.0), run.pick(2) == 0 ? 1.0 : -1.0);
  };
  std::vector<double> values(n + behind, draw());
  if (!pairs_wrongly) std::generate(values.begin(), values.end(), draw);
  const Density density = density_of(run);
  cast.place(run, values, popfloat_bit_mask(cast.in_half, 23), packed(density, cast.in_half));
  popfloat_split(run, n, cast.in_half ? 4 : 2);
  seed_workers(run);
  run.check = [&run, cast, density, n](const DeviceResult& device) {
    return judge(run, device, cast, density, n);
  };
}

}  // namespace

void add_popfloat_noise(Recipes& recipes) {
  const std::string prefix = "popfloat::experimental::";
  // The last one for the sake of statistics.
  const std::vector<std::size_t> sizes = {1, 2, 3, 8, 13, 24, 100, 257, 12000};
  for (const char* name : {"CastToGfloat16SrSupervisor", "CastToGfloat16SrInPlaceSupervisor",
                           "CastToGfloat32SrSupervisor", "CastToGfloat32SrInPlaceSupervisor"}) {
    recipes[prefix + name] = {sizes, cast_with_noise};
  }
}

}  // namespace superstep::poplibs
