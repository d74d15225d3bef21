#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "base/float16.h"
#include "tests/poplibs/device.h"
#include "tests/poplibs/families/popfloat.h"
#include "tests/poplibs/gfloat.h"
#include "tests/poplibs/recipe.h"
#include "tests/poplibs/worker_random.h"

// The C++ codelets of popfloat do nothing on a host: its numbers are compared with those of
// gfloat.h, which follows from the formats.

namespace superstep::poplibs {
namespace {

const std::vector<Gfloat> kFloatFormats = {{10, 5, 15, true, true},
                                           {11, 4, 13, false, true},
                                           {4, 3, 3, true, false},
                                           {9, 6, 31, true, true},
                                           {7, 7, 50, false, false}};
const std::vector<Gfloat> kHalfFormats = {{4, 3, 3, true, false},  {2, 5, 15, true, true},
                                          {7, 4, 10, true, true},  {3, 4, 7, false, false},
                                          {2, 5, 18, true, false}, {2, 5, 20, true, true},
                                          {5, 2, 1, true, false},  {6, 4, 5, false, true}};

Gfloat pick_format(const std::vector<Gfloat>& formats, bool with_infinities, std::size_t n) {
  std::vector<Gfloat> fit;
  for (const Gfloat& format : formats) {
    if (format.infinities || !with_infinities) fit.push_back(format);
  }
  return fit[n % fit.size()];
}

void words(Case& run, const char* name, const std::vector<std::uint32_t>& values) {
  run.elements(name, {values.begin(), values.end()});
}

Rounds rounds_of(const Case& run) {
  if (is_type(run, "::RZ")) return Rounds::kZero;
  if (is_type(run, "::RN")) return Rounds::kEven;
  if (is_type(run, "::RA")) return Rounds::kAway;
  if (is_type(run, "::RU")) return Rounds::kUp;
  if (is_type(run, "::RD")) return Rounds::kDown;
  return Rounds::kNoise;
}

/// A number near one of the format's: some on it, some between two, some beyond.
double near_number(Case& run, const Gfloat& format, std::size_t i) {
  const int low = std::ilogb(format.least()) - 3;
  const int high = std::ilogb(format.greatest()) + 2;
  const int exponent = low + static_cast<int>(run.pick(static_cast<std::uint64_t>(high - low)));
  const int bits = i % 7 == 3 ? format.fraction_bits + 1 : i % 11 == 5 ? format.fraction_bits : 23;
  const double fraction = double(run.pick(std::uint64_t{1} << bits)) * std::ldexp(1.0, -bits);
  if (i % 17 == 9) return run.pick(2) == 0 ? 0.0 : -0.0;
  const double magnitude = std::ldexp(1 + fraction, exponent);
  return run.pick(2) == 0 ? magnitude : -magnitude;
}

/// The numbers at the ends of a format and of f32. NaN and infinities are not among them: nothing
/// of PopLibs says what becomes of them, and its assembly makes 0 of NaN.
std::vector<double> ends_of(const PopfloatCast& cast, bool any_half) {
  const Gfloat& format = cast.format;
  std::vector<double> ends = {0.0, format.greatest(), format.least(), cast.least_normal()};
  if (!any_half && !cast.in_half) {
    ends.insert(ends.end(), {0x1.fffffep126, 0x1p-149, 0x1p-126});
  }
  for (std::size_t i = 0, n = ends.size(); i < n; ++i) ends.push_back(-ends[i]);
  return ends;
}

/// Changes numbers that popfloat's own assembly does not round as it says.
double settled(double value, const PopfloatCast& cast, Rounds how, std::size_t i) {
  const double magnitude = std::fabs(value);
  const double least = cast.format.least();
  // Toward zero, what is not normal meets a mask (f32) or an addend (f16) that nobody has set.
  const double least_normal = cast.least_normal();
  if (how == Rounds::kZero && magnitude < least_normal) return std::copysign(least_normal, value);
  // In f32 the binade below the least number: without subnormal numbers each mode has another
  // place for it, and to nearest even three quarters of the least number are 0.
  const bool just_below = magnitude < least && magnitude >= least / 2;
  if (!cast.in_half && just_below && (!cast.format.subnormals || how == Rounds::kEven)) {
    return std::copysign(least, value);
  }
  // Nearest away in f16 loses the exponents of the first two of four elements and cuts them.
  if (cast.in_half && how == Rounds::kAway && i % 4 < 2) {
    const double place = float_grid(cast.format).place(magnitude);
    return std::copysign(std::floor(magnitude / place) * place, value);
  }
  return value;
}

/// Random bits that RoundType::SR and ::SX add below the last place kept: the lowest `cut` of
/// those of an element, of which the short form keeps the highest.
double noise_of(std::uint32_t random, int cut, int fraction_bits, bool is_short, int short_bits) {
  std::uint32_t kept = (std::uint32_t{1} << cut) - 1;
  if (is_short) {
    // One more than it is asked for, as its mask counts bits behind a leading one.
    const int low = std::min(cut, fraction_bits);
    const int dropped = std::max(low - short_bits - 1, 0);
    kept &= ~((std::uint32_t{1} << dropped) - 1);
  }
  return std::ldexp(random & kept, -cut);
}

constexpr int kShortBitsFloat = 5;
constexpr int kShortBitsHalf = 2;

/// The noise of each element: a worker draws a word for each of its pieces of 8 bytes.
std::vector<double> noise(const PopfloatCast& cast, const Grid& grid, bool is_short) {
  std::vector<WorkerRandom> randoms = worker_randoms();
  std::vector<double> all;
  const std::size_t lanes = cast.in_half ? 4 : 2;
  for (std::size_t first = 0; first < cast.numbers.size(); first += lanes) {
    const std::uint64_t word = randoms[first / lanes % randoms.size()].next();
    for (std::size_t lane = 0; lane < lanes && first + lane < cast.numbers.size(); ++lane) {
      const auto bits = static_cast<std::uint32_t>(word >> (64 / lanes * lane));
      const double magnitude = std::fabs(cast.numbers[first + lane]);
      const int exponent = magnitude == 0 ? grid.least_normal_exponent : std::ilogb(magnitude);
      const int unit = cast.in_half ? std::max(exponent, -14) - 10 : exponent - 23;
      const int cut = std::clamp(std::ilogb(grid.place(magnitude)) - unit, 0, 24);
      all.push_back(cast.in_half ? noise_of(bits & 0xffffU, cut, 10, is_short, kShortBitsHalf)
                                 : noise_of(bits, cut, 23, is_short, kShortBitsFloat));
    }
  }
  return all;
}

/// The format of a case: one that popfloat's assembly can round.
Gfloat format_of(const Case& run, const PopfloatCast& cast, Rounds how, std::size_t n) {
  std::vector<Gfloat> formats = cast.in_half ? kHalfFormats : kFloatFormats;
  if (cast.in_half && is_type(run, "<half") && (how == Rounds::kUp || how == Rounds::kDown)) {
    // From f16, up and down scale the first elements of a worker by 1/2 for any format.
    formats = {{2, 5, 14, true, true}, {4, 4, 14, true, true}, {3, 3, 14, true, false}};
  }
  std::vector<Gfloat> fit;
  for (const Gfloat& format : formats) {
    if (cast.nan_on_overflow && !format.infinities) continue;
    if (!cast.in_half && how == Rounds::kZero && !format.subnormals) continue;
    fit.push_back(format);
  }
  // One format, with subnormal numbers, for all whole cases: cycles depend on it.
  return fit[run.whole() ? 0 : n % fit.size()];
}

void cast_to_gfloat(Case& run, std::size_t size) {
  const Rounds how = rounds_of(run);
  const bool is_short = is_type(run, "::SX");
  PopfloatCast cast = popfloat_cast(run, size);
  cast.format = format_of(run, cast, how, size);
  const std::size_t n = popfloat_size(run, cast, size);
  const bool any_half = run.state(cast.in).field->element == Element::kHalf ||
                        run.state(cast.out).field->element == Element::kHalf;
  std::vector<double> values;
  const std::vector<double> ends = ends_of(cast, any_half);
  for (std::size_t i = 0; i < n; ++i) {
    // The last elements of large cases, so that small ones stay as they are.
    const bool is_end = n >= 2 * ends.size() && n - i <= ends.size();
    double value = is_end ? ends[n - i - 1] : near_number(run, cast.format, i);
    // Clear of where f16 overflows.
    if (any_half) value = std::clamp(value, -60000.0, 60000.0);
    if (cast.in_half && cast.nan_on_overflow) {
      const double most = std::ldexp(1.0, 15 - cast.format.half_scale());
      value = std::clamp(value, -most, most);
    }
    values.push_back(settled(value, cast, how, i));
  }
  const int short_bits = cast.in_half ? kShortBitsHalf : kShortBitsFloat;
  cast.place(run, values, popfloat_bit_mask(cast.in_half, is_short ? short_bits : 23));
  if (how == Rounds::kNoise) seed_workers(run);
  run.check = [&run, cast, how, is_short](const DeviceResult& device) {
    const Grid grid = cast.grid();
    const std::vector<double> added = how == Rounds::kNoise
                                          ? noise(cast, grid, is_short)
                                          : std::vector<double>(cast.numbers.size(), 0.0);
    std::vector<double> expected;
    for (std::size_t i = 0; i < cast.numbers.size(); ++i) {
      expected.push_back(
          cast.result(rounded(cast.numbers[i], grid, how, added[i], cast.nan_on_overflow)));
    }
    return popfloat_difference(run, device, cast.out, expected);
  };
}

void params(Case& run, std::size_t n) {
  const bool half = is_type(run, "CastToGfloat16Param");
  const Gfloat format = pick_format(half ? kHalfFormats : kFloatFormats, false, n);
  words(run, "gfStruct", {format.packed_struct()});
  run.elements("param", std::vector<double>(29, 0));
  const std::vector<std::uint32_t> expected = half ? format.half_params() : format.float_params();
  run.check = [&run, expected](const DeviceResult& device) {
    return popfloat_difference(run, device, "param", {expected.begin(), expected.end()});
  };
}

void packed_params(Case& run, std::size_t n) {
  const Gfloat format = pick_format(kFloatFormats, false, n);
  run.value("manBits", format.fraction_bits);
  run.value("expBits", format.exponent_bits);
  run.value("expBias", format.bias);
  run.value("enDenorm", format.subnormals ? 1 : 0);
  run.value("enInf", format.infinities ? 1 : 0);
  words(run, "gfStruct", {0});
}

/// The format of an integer storage form of `bits` bits.
Gfloat storage_format(const Case& run, int bits) {
  if (is_type(run, "BFLOAT16")) return {7, 8, 127, false, true};
  if (is_type(run, "NO_DENORM")) return {9, 6, 31, false, true};
  if (is_type(run, "ENABLE_DENORM")) return {11, 4, 9, true, true};
  if (is_type(run, "ONE_FIVE_TWO")) return {2, 5, 15, true, true};
  if (is_type(run, "MAX_NORM_ALIGN")) return {2, 5, 18, true, false};
  if (is_type(run, "MIN_NORM_ALIGN")) return {4, 3, 5, true, false};
  return bits == 8 ? Gfloat{4, 3, 3, true, true} : Gfloat{7, 8, 127, true, true};
}

void storage(Case& run, std::size_t size) {
  const Field& in = *run.state("in").field;
  const Field& out = *run.state("out").field;
  const bool packs = in.element == Element::kFloat || in.element == Element::kHalf;
  const int bits = static_cast<int>(8 * (packs ? out : in).element_bytes);
  const bool half = in.element == Element::kHalf || out.element == Element::kHalf;
  // f8 to f16 writes but the first of a last two or three.
  const bool drops = !packs && half && size % 4 > 1;
  const std::size_t n = drops ? size / 4 * 4 + 1 : size;
  const Gfloat format = storage_format(run, bits);
  words(run, "param", half ? format.half_params() : format.float_params());
  const std::uint32_t greatest = format.code(format.greatest(), bits);
  std::vector<double> numbers;
  std::vector<double> codes;
  for (std::size_t i = 0; i < n; ++i) {
    auto code = static_cast<std::uint32_t>(run.pick(greatest + 1));
    if (!format.subnormals && format.number(code, bits) < format.least()) code = 0;
    if (code != 0 && run.pick(2) == 0) code |= std::uint32_t{1} << (bits - 1);
    numbers.push_back(format.number(code, bits));
    codes.push_back(code);
  }
  run.elements("in", packs ? numbers : codes);
  run.elements("out", std::vector<double>(n, 0));
  popfloat_split(run, n, bits == 8 ? (packs || half ? 4 : 2) : 2);
  const std::vector<double> expected = packs ? codes : numbers;
  run.check = [&run, expected](const DeviceResult& device) {
    return popfloat_difference(run, device, "out", expected);
  };
}

}  // namespace

void popfloat_split(Case& run, std::size_t n, std::size_t grain) {
  const std::size_t each = n / grain / kWorkers;
  const std::size_t rest = n - grain * kWorkers * each;
  run.value("elementsPerWorker", double(each));
  run.value("lastWorkerParams", double(rest / grain + (rest % grain << 8)));
}

std::uint32_t popfloat_bit_mask(bool in_half, int bits) {
  const int places = in_half ? 10 : 23;
  const std::uint32_t mask = ~((std::uint32_t{1} << (places - std::min(bits, places))) - 1);
  return in_half ? (mask & 0xffffU) | mask << 16 : mask;
}

std::string popfloat_difference(const Case& run, const DeviceResult& device,
                                const std::string& name, const std::vector<double>& expected) {
  for (std::size_t field = 0; field < run.states().size(); ++field) {
    const FieldState& state = run.states()[field];
    if (state.field->name != name) continue;
    const std::vector<std::uint8_t>& found = device.rows[field].at(0);
    const std::size_t bytes = state.field->element_bytes;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const std::vector<std::uint8_t> want = run.encoded(*state.field, expected[i]);
      const double have = run.element(state, found, i);
      if (std::memcmp(want.data(), found.data() + i * bytes, bytes) == 0) continue;
      if (std::isnan(have) && std::isnan(expected[i])) continue;
      return fmt::format("{}[{}] is {}, should be {}", name, i, have, expected[i]);
    }
  }
  return {};
}

std::size_t popfloat_size(Case& run, const PopfloatCast& cast, std::size_t size) {
  const bool to_float = run.state(cast.out).field->element == Element::kFloat;
  // From f16 to f32 a single element at the end gets the value of another.
  return cast.in_half && to_float && size % 4 == 1 ? size + 1 : size;
}

PopfloatCast popfloat_cast(Case& run, std::size_t n) {
  PopfloatCast cast;
  cast.in_half = is_type(run, "CastToGfloat16");
  cast.nan_on_overflow = is_type(run, "true");
  cast.in = run.has("inOut") ? "inOut" : "in";
  cast.out = run.has("inOut") ? "inOut" : "out";
  cast.format = pick_format(cast.in_half ? kHalfFormats : kFloatFormats, cast.nan_on_overflow, n);
  return cast;
}

Grid PopfloatCast::grid() const { return in_half ? half_grid(format) : float_grid(format); }

double PopfloatCast::least_normal() const {
  return std::ldexp(1.0, in_half ? -14 - format.half_scale() : format.least_normal_exponent());
}

double PopfloatCast::result(double on_grid) const {
  return in_half ? std::ldexp(on_grid, -format.half_scale()) : on_grid;
}

void PopfloatCast::place(Case& run, const std::vector<double>& values, std::uint32_t bit_mask,
                         const std::vector<std::uint32_t>& more_params) {
  run.elements(in, values);
  if (in != out) run.elements(out, std::vector<double>(values.size(), 0));
  words(run, "param", in_half ? format.half_params() : format.float_params());
  std::vector<std::uint32_t> params = {bit_mask, bit_mask};
  params.insert(params.end(), more_params.begin(), more_params.end());
  words(run, "castParam", params);
  popfloat_split(run, values.size(), in_half ? 4 : 2);
  numbers.clear();
  const FieldState& state = run.state(in);
  const bool from_half = state.field->element == Element::kHalf;
  const double most = from_half ? std::min(format.greatest(), 65504.0) : format.greatest();
  for (std::size_t i = 0; i < values.size(); ++i) {
    double value = run.element(state, state.rows[0].bytes, i);
    if (in_half) {
      // Clamped, scaled and made an f16 before it is rounded.
      if (!nan_on_overflow) value = std::clamp(value, -most, most);
      value = portable_float_of_half(
          portable_half_bits(static_cast<float>(std::ldexp(value, format.half_scale()))));
    }
    numbers.push_back(value);
  }
}

void add_popfloat(Recipes& recipes) {
  const std::string prefix = "popfloat::experimental::";
  for (const char* name : {"CastToGfloat16Supervisor", "CastToGfloat16InPlaceSupervisor",
                           "CastToGfloat32Supervisor", "CastToGfloat32InPlaceSupervisor"}) {
    recipes[prefix + name] = {kSizes, cast_to_gfloat};
    recipes[prefix + name].has_whole_cases = true;
  }
  for (const char* name :
       {"CastFloatToGf16Supervisor", "CastFloatToGf8Supervisor", "CastHalfToGf8Supervisor",
        "CastGf16ToFloatSupervisor", "CastGf8ToFloatSupervisor", "CastGf8ToHalfSupervisor"}) {
    recipes[prefix + name] = {kSizes, storage};
    recipes[prefix + name].has_whole_cases = true;
  }
  for (const char* name : {"CastToGfloat16Param", "CastToGfloat32Param"}) {
    recipes[prefix + name] = {kSizes, params};
  }
  recipes[prefix + "PackedGfloatParams"] = {kSizes, packed_params};
  add_popfloat_noise(recipes);
}

}  // namespace superstep::poplibs
