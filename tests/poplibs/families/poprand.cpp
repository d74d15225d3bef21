#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "base/float16.h"
#include "tests/poplibs/device.h"
#include "tests/poplibs/recipe.h"
#include "tests/poplibs/worker_random.h"

// The C++ codelets of poprand use another generator. What its vertices write follows from the
// random words of each worker: pieces of 8 bytes go round the workers.

namespace superstep::poplibs {
namespace {

constexpr const char* kOut = "out";

/// A number as the type of the output keeps it.
struct Number {
  bool half;
  double operator()(double value) const {
    const auto single = static_cast<float>(value);
    return half ? portable_float_of_half(portable_half_bits(single)) : single;
  }
};

/// What each element of `out` should be, from the generators.
struct Expected {
  Case& run;
  std::size_t n;
  Number kept;
  std::size_t lanes;
  std::vector<WorkerRandom> randoms = worker_randoms();
  std::vector<double> values;

  Expected(Case& of, std::size_t count)
      : run(of),
        n(count),
        kept{of.state(kOut).field->element == Element::kHalf},
        lanes(8 / of.state(kOut).field->element_bytes) {}

  /// `piece(random)` gives the numbers of a piece; the last one may have too many.
  template <class Piece>
  void by_piece(Piece&& piece) {
    for (std::size_t i = 0; i * lanes < n; ++i) {
      const std::vector<double> all = piece(randoms[i % randoms.size()]);
      for (const double value : all) values.push_back(value);
    }
    values.resize(n);
  }
  /// Numbers times the scale plus the offset, each result rounded.
  [[nodiscard]] double scaled(double number, double scale, double offset) const {
    return kept(kept(kept(scale) * kept(number)) + kept(offset));
  }

  void set_check() {
    seed_workers(run);
    run.check = [&run = run, values = values](const DeviceResult& device) -> std::string {
      for (std::size_t field = 0; field < run.states().size(); ++field) {
        const FieldState& state = run.states()[field];
        if (state.field->name != kOut) continue;
        const std::size_t bytes = state.field->element_bytes;
        for (std::size_t i = 0; i < values.size(); ++i) {
          const std::vector<std::uint8_t> want = run.encoded(*state.field, values[i]);
          if (std::memcmp(want.data(), &device.rows[field][0][i * bytes], bytes) == 0) continue;
          return fmt::format("out[{}] is {}, should be {}", i,
                             run.element(state, device.rows[field][0], i), values[i]);
        }
      }
      return {};
    };
  }
};

/// A number of [-1/2, 1/2] of the bits of one lane, never 0.
double symmetric(std::uint64_t word, std::size_t lane, std::size_t lanes) {
  const auto width = static_cast<int>(64 / lanes);
  const std::uint64_t bits = word << (64 - width * static_cast<int>(lane + 1)) >> (64 - width);
  return std::ldexp(double(bits) + 0.5, -width) - 0.5;
}

void uniform(Case& run, std::size_t n) {
  constexpr double kOffset = -1;
  constexpr double kScale = 2;
  run.value("offset", kOffset);
  run.value("scale", kScale);
  run.elements(kOut, std::vector<double>(n, 0));
  Expected expected(run, n);
  expected.by_piece([&](WorkerRandom& random) {
    const std::uint64_t word = random.next();
    std::vector<double> piece;
    for (std::size_t lane = 0; lane < expected.lanes; ++lane) {
      piece.push_back(expected.scaled(symmetric(word, lane, expected.lanes), kScale, kOffset));
    }
    return piece;
  });
  expected.set_check();
}

/// Of all integers, of fewer than 2^24 (by f32), of more (by products of 16 bits).
void uniform_integers(Case& run, std::size_t n) {
  const std::uint32_t range = n % 3 == 0 ? 1000 : n % 3 == 1 ? 0 : 3000000000U;
  const std::int32_t offset = range == 0 ? 0 : -17;
  run.value("offset", offset);
  run.value("scale", range);
  run.elements(kOut, std::vector<double>(n, 0));
  Expected expected(run, n);
  const auto of_bits = [&](std::uint32_t bits) {
    if (range == 0) return double(static_cast<std::int32_t>(bits));
    std::uint32_t scaled = 0;
    if (range < 1U << 24) {
      scaled = static_cast<std::uint32_t>(
          std::floor(static_cast<float>(bits) * (static_cast<float>(range) * 0x1p-32F)));
    } else {
      const std::uint32_t high = bits >> 16;
      const std::uint32_t low = bits & 0xffffU;
      scaled =
          high * (range >> 16) + (high * (range & 0xffffU) >> 16) + (low * (range >> 16) >> 16);
    }
    return double(static_cast<std::int32_t>(scaled + static_cast<std::uint32_t>(offset)));
  };
  const bool by_words = range >= 1U << 24;
  if (by_words) expected.lanes = 1;
  expected.by_piece([&](WorkerRandom& random) {
    const std::uint64_t word = random.next();
    const double low = of_bits(static_cast<std::uint32_t>(word));
    const double high = of_bits(static_cast<std::uint32_t>(word >> 32));
    // What goes by f32 comes out the other way round.
    return by_words     ? std::vector<double>{low}
           : range == 0 ? std::vector<double>{low, high}
                        : std::vector<double>{high, low};
  });
  expected.set_check();
}

void uniform_of_any(Case& run, std::size_t n) {
  is_type(run, "int") ? uniform_integers(run, n) : uniform(run, n);
}

void normal(Case& run, std::size_t n) {
  constexpr double kMean = 0.5;
  constexpr double kDeviation = 2;
  run.value("mean", kMean);
  run.value("stdDev", kDeviation);
  run.elements(kOut, std::vector<double>(n, 0));
  Expected expected(run, n);
  expected.by_piece([&](WorkerRandom& random) {
    std::vector<double> piece;
    for (std::size_t lane = 0; lane < expected.lanes; ++lane) {
      piece.push_back(expected.scaled(random.nearly_normal(), kDeviation, kMean));
    }
    return piece;
  });
  expected.set_check();
}

/// The first normal number within the bound, of one more than `iterations`; 0 when there is none.
void truncated_normal(Case& run, std::size_t n) {
  constexpr double kMean = 0.5;
  constexpr double kDeviation = 2;
  constexpr double kBound = 2;  // f16 code takes the upper half of the f32 for it, which is right
  constexpr int kIterations = 2;
  run.value("mean", kMean);
  run.value("stdDev", kDeviation);
  run.value("alpha", kBound);
  run.value("iterations", kIterations);
  run.elements(kOut, std::vector<double>(n, 0));
  Expected expected(run, n);
  const auto draw = [&](WorkerRandom& random) {
    std::vector<double> all;
    for (std::size_t lane = 0; lane < expected.lanes; ++lane) {
      all.push_back(random.nearly_normal());
    }
    return all;
  };
  std::vector<std::vector<double>> next;
  for (WorkerRandom& random : expected.randoms) next.push_back(draw(random));
  std::size_t piece_number = 0;
  expected.by_piece([&](WorkerRandom& random) {
    // PopLibs' f32 code tries but once for a last odd element.
    const bool last = (piece_number + 1) * expected.lanes > n && expected.lanes == 2;
    std::vector<double>& drawn = next[piece_number++ % expected.randoms.size()];
    std::vector<double> piece(expected.lanes, 0);
    std::vector<bool> done(expected.lanes, false);
    bool all_done = false;
    for (int i = 0; i <= (last ? 0 : kIterations) && !all_done; ++i) {
      all_done = true;
      for (std::size_t lane = 0; lane < expected.lanes; ++lane) {
        if (!done[lane] && std::fabs(drawn[lane]) <= kBound) {
          piece[lane] = drawn[lane];
          done[lane] = true;
        }
        all_done = all_done && done[lane];
      }
      drawn = draw(random);
    }
    for (double& value : piece) value = expected.scaled(value, kDeviation, kMean);
    return piece;
  });
  expected.set_check();
}

/// Whether each lane of a word is kept with a probability in 2^-16.
std::vector<bool> kept_lanes(std::uint64_t word, std::size_t lanes, std::uint32_t probability) {
  std::vector<bool> kept;
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    kept.push_back((word >> 64 / lanes * lane & 0xffffU) < probability);
  }
  return kept;
}

void bernoulli(Case& run, std::size_t n) {
  const std::uint32_t probability = n == 13 ? 65536 : 16384;
  run.value("prob", probability);
  run.elements(kOut, std::vector<double>(n, 7));
  Expected expected(run, n);
  expected.by_piece([&](WorkerRandom& random) {
    const std::vector<bool> kept = kept_lanes(random.next(), expected.lanes, probability);
    return std::vector<double>(kept.begin(), kept.end());
  });
  expected.set_check();
}

void dropout(Case& run, std::size_t n) {
  constexpr std::uint32_t kProbability = 40000;
  constexpr double kScale = 1.625;
  run.value("prob", kProbability);
  run.value("scale", kScale);
  run.value("numElems", double(n));
  run.random("in", {n}, -4, 4);
  run.elements(kOut, std::vector<double>(n, 0));
  Expected expected(run, n);
  std::size_t i = 0;
  expected.by_piece([&](WorkerRandom& random) {
    std::vector<double> piece;
    for (const bool kept : kept_lanes(random.next(), expected.lanes, kProbability)) {
      const FieldState& in = run.state("in");
      const double value = kept && i < n ? run.element(in, in.rows[0].bytes, i) : 0;
      piece.push_back(expected.kept(value * kScale));
      ++i;
    }
    return piece;
  });
  expected.set_check();
}

/// Seeds show in what Uniform<int> of all integers writes next.
void set_seed(Case& run, std::size_t n) {
  const Seeds seeds;
  run.value("seedModifierUser", seeds.user);
  run.value("seedModifierHw", seeds.hardware);
  run.elements("seed", {double(seeds.words[0]), double(seeds.words[1])});
  constexpr std::uint32_t kFields = 16;
  OtherCall draw{"__runCodelet_poprand__Uniform___int", {}};
  for (const std::uint32_t field : {Case::kAfter + kFields, std::uint32_t(n), 0U, 0U}) {
    append_word(draw.state, field);
  }
  draw.state.resize(kFields + 4 * n);
  run.after = draw;
  run.check = [n](const DeviceResult& device) -> std::string {
    std::vector<WorkerRandom> randoms = worker_randoms();
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < n; ++i) {
      if (i % 2 == 0) word = randoms[i / 2 % randoms.size()].next();
      std::uint32_t found = 0;
      std::memcpy(&found, &device.after[kFields + 4 * i], 4);
      const auto want = static_cast<std::uint32_t>(word >> (i % 2 * 32));
      if (found != want) return fmt::format("word {} is {:#x}, should be {:#x}", i, found, want);
    }
    return {};
  };
}

}  // namespace

void add_poprand(Recipes& recipes) {
  const auto add = [&](const char* name, void (*function)(Case&, std::size_t)) {
    recipes[std::string("poprand::") + name] = {kSizes, function};
    recipes[std::string("poprand::") + name].has_whole_cases = true;
  };
  add("Uniform", uniform_of_any);
  add("Normal", normal);
  add("TruncatedNormal", truncated_normal);
  add("Bernoulli", bernoulli);
  add("Dropout", dropout);
  recipes["poprand::SetSeed"] = {{1, 2, 13, 100}, set_seed};
}

}  // namespace superstep::poplibs
