// Random bits by counter: what XLA makes of the op, which JAX's keys of kind `rbg` go through
// (openxla/xla xla/hlo/builder/lib/prng.cc; Salmon et al., Parallel random numbers: as easy as 1,
// 2, 3, SC 2011).

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "compiler/import/parser.h"
#include "compiler/ops/elements.h"
#include "compiler/ops/graph_builder.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/verify.h"

namespace superstep {
namespace {

constexpr std::array<std::array<int, 4>, 2> kThreefryRotations{{{13, 15, 26, 6}, {17, 29, 16, 24}}};
constexpr std::uint32_t kThreefryParity = 0x1bd11bda;
constexpr int kThreefryKeyChanges = 5;  ///< one after every four of 20 rounds

constexpr std::array<std::uint32_t, 2> kPhiloxFactors{0xd2511f53, 0xcd9e8d57};
constexpr std::array<std::uint32_t, 2> kPhiloxKeySteps{0x9e3779b9, 0xbb67ae85};
constexpr int kPhiloxRounds = 10;

// A `Word` is a number of the host, or a tensor of ui32; `like` gives a constant as such a word,
// `product` the upper and the lower word of a product.
template <class Word>
using Pair = std::array<Word, 2>;
template <class Word>
using Quad = std::array<Word, 4>;

std::uint32_t like(std::uint32_t, std::uint32_t value) { return value; }
Pair<std::uint32_t> product(std::uint32_t a, std::uint32_t factor) {
  const std::uint64_t whole = std::uint64_t{a} * factor;
  return {static_cast<std::uint32_t>(whole >> 32), static_cast<std::uint32_t>(whole)};
}

Tensor like(Tensor a, std::uint32_t value) { return a.like(value); }
/// By halves of words.
Pair<Tensor> product(Tensor a, std::uint32_t factor) {
  const Tensor low = a & a.like(0xffff), high = a >> 16;
  const double factor_low = factor & 0xffff, factor_high = factor >> 16;
  const Tensor middle = high * factor_low + ((low * factor_low) >> 16);
  const Tensor carried = low * factor_high + (middle & middle.like(0xffff));
  return {high * factor_high + (middle >> 16) + (carried >> 16), a * static_cast<double>(factor)};
}

template <class Word>
Pair<Word> threefry(Pair<Word> x, const Pair<Word>& key) {
  const std::array<Word, 3> keys = {key[0], key[1],
                                    key[0] ^ key[1] ^ like(key[0], kThreefryParity)};
  x = {x[0] + keys[0], x[1] + keys[1]};
  for (int change = 0; change < kThreefryKeyChanges; ++change) {
    const auto i = static_cast<std::size_t>(change);
    for (const int bits : kThreefryRotations[i % 2]) {
      x[0] = x[0] + x[1];
      x[1] = ((x[1] << bits) | (x[1] >> (32 - bits))) ^ x[0];
    }
    x[0] = x[0] + keys[(i + 1) % 3];
    x[1] = x[1] + (keys[(i + 2) % 3] + like(key[0], static_cast<std::uint32_t>(change + 1)));
  }
  return x;
}

template <class Word>
Quad<Word> philox(Quad<Word> x, Pair<Word> key) {
  for (int round = 0; round < kPhiloxRounds; ++round) {
    const auto [first_high, first_low] = product(x[0], kPhiloxFactors[0]);
    const auto [second_high, second_low] = product(x[2], kPhiloxFactors[1]);
    x = {second_high ^ x[1] ^ key[0], second_low, first_high ^ x[3] ^ key[1], first_low};
    key = {key[0] + like(key[0], kPhiloxKeySteps[0]), key[1] + like(key[1], kPhiloxKeySteps[1])};
  }
  return x;
}

enum class Algorithm : std::uint8_t { kThreefry, kPhilox };

Algorithm algorithm_of(const Op& op) {
  const std::string& name = attribute<std::string>(op, "rng_algorithm");
  if (name == "THREE_FRY") return Algorithm::kThreefry;
  // XLA's default on the CPU.
  if (name == "PHILOX" || name == "DEFAULT") return Algorithm::kPhilox;
  malformed(op, fmt::format("rng_algorithm is {}, expected DEFAULT, THREE_FRY or PHILOX", name));
}

std::vector<TensorType> infer(const Op& op, std::span<const TensorType> operands) {
  const TensorType& state = operands[0];
  const bool is_philox = algorithm_of(op) == Algorithm::kPhilox;
  const bool is_pair = state.shape == Shape{2};
  if (!is_pair && !(is_philox && state.shape == Shape{3})) {
    malformed(op, fmt::format("the state is {}, expected tensor<2xui64>{}", state.text(),
                              is_philox ? " or tensor<3xui64>" : ""));
  }
  if (op.declared.size() != 2) malformed(op, "needs two result types");
  require_dtype(op, op.declared[1].dtype, kNumbers);
  return {state, op.declared[1]};
}

/// Threefry gives two words to each count; they are neighbours along the first dimension of even
/// size, else along the longest one.
std::size_t paired_dimension(const Shape& shape) {
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] % 2 == 0) return d;
  }
  return static_cast<std::size_t>(std::ranges::max_element(shape) - shape.begin());
}

/// Counts that make so many elements of a type: words of 32 bits for narrower ones too.
std::int64_t counts_of(Algorithm algorithm, const TensorType& type) {
  if (type.elements() == 0) return 0;
  if (algorithm == Algorithm::kPhilox) {
    return (type.elements() * (is_wide(type.dtype) ? 2 : 1) + 3) / 4;
  }
  if (is_wide(type.dtype) || type.shape.empty()) return type.elements();
  const std::int64_t size = type.shape[paired_dimension(type.shape)];
  return type.elements() / size * ((size + 1) / 2);
}

// On the host.

/// The counter of 128 bits and its key; Threefry's counter has the lower half only.
struct State {
  std::uint64_t key, low, high;
};

State read_state(Algorithm algorithm, const HostTensor& state) {
  const std::uint64_t first = read_bits(state, 0), second = read_bits(state, 1);
  if (state.type.shape[0] == 3) return {first, second, read_bits(state, 2)};
  return {first, second, algorithm == Algorithm::kPhilox ? first : 0};
}

HostTensor advanced(const HostTensor& state, std::int64_t counts) {
  HostTensor next = state;
  const std::uint64_t low = read_bits(state, 1) + static_cast<std::uint64_t>(counts);
  write_bits(next, 1, low);
  if (state.type.shape[0] == 3 && low < read_bits(state, 1)) {
    write_bits(next, 2, read_bits(state, 2) + 1);
  }
  return next;
}

std::uint32_t low_word(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
std::uint32_t high_word(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }

/// Words in the order of counts.
std::vector<std::uint32_t> words_of(Algorithm algorithm, const State& state, std::int64_t counts) {
  const Pair<std::uint32_t> key = {low_word(state.key), high_word(state.key)};
  std::vector<std::uint32_t> words;
  for (std::int64_t i = 0; i < counts; ++i) {
    const std::uint64_t low = state.low + static_cast<std::uint64_t>(i);
    if (algorithm == Algorithm::kThreefry) {
      const auto pair = threefry<std::uint32_t>({low_word(low), high_word(low)}, key);
      words.insert(words.end(), pair.begin(), pair.end());
    } else {
      const std::uint64_t high = state.high + (low < state.low ? 1 : 0);
      const auto quad = philox<std::uint32_t>(
          {low_word(low), high_word(low), low_word(high), high_word(high)}, key);
      words.insert(words.end(), quad.begin(), quad.end());
    }
  }
  return words;
}

std::vector<HostTensor> evaluate(const Op& op, std::span<const HostTensor> operands) {
  const Algorithm algorithm = algorithm_of(op);
  const TensorType& type = op.declared[1];
  const std::int64_t counts = counts_of(algorithm, type);
  const std::vector<std::uint32_t> words =
      words_of(algorithm, read_state(algorithm, operands[0]), counts);
  HostTensor result(type);
  const bool is_wide_type = is_wide(type.dtype);
  const bool is_paired = algorithm == Algorithm::kThreefry && !is_wide_type && !type.shape.empty();
  // Words of one count are apart by the dimensions behind the one along which they are neighbours.
  std::size_t stride = 1, size = 1;
  if (is_paired) {
    const std::size_t d = paired_dimension(type.shape);
    stride = static_cast<std::size_t>(row_major_strides(type.shape)[d]);
    size = static_cast<std::size_t>(type.shape[d]);
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(type.elements()); ++i) {
    if (is_wide_type) {
      write_bits(result, i, words[2 * i] | std::uint64_t{words[2 * i + 1]} << 32);
    } else if (is_paired) {
      const std::size_t along = i / stride % size, outside = i / stride / size;
      const std::size_t count = (outside * ((size + 1) / 2) + along / 2) * stride + i % stride;
      write_bits(result, i, words[2 * count + along % 2]);
    } else {
      write_bits(result, i, words[algorithm == Algorithm::kThreefry ? 2 * i : i]);
    }
  }
  return {advanced(operands[0], counts), std::move(result)};
}

// On tiles.

Pair<Tensor> words_of(Tensor x) { return {convert(x, DType::kU32), convert(x >> 32, DType::kU32)}; }

/// Words of 32 bits, narrower ones without what is above, wide ones of two neighbours.
Tensor with_dtype(Tensor words, DType dtype) {
  const DType integer = unsigned_of_size(size_of(dtype));
  Shape shape = words.shape();
  if (is_wide(dtype)) shape.pop_back();
  const Tensor bits = is_wide(dtype) ? bitcast(words, {integer, shape}) : convert(words, integer);
  return bitcast(bits, {dtype, shape});
}

/// Tensors as neighbours along a new dimension.
Tensor interleaved(std::span<const Tensor> parts, std::size_t dimension) {
  Shape shape = parts[0].shape();
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(dimension), 1);
  std::vector<Tensor> all;
  for (const Tensor& part : parts) all.push_back(reshape(part, shape));
  return concatenate(all, static_cast<std::int64_t>(dimension));
}

/// 0, 1, … in row-major order.
Tensor counts(GraphBuilder& builder, const Shape& shape) {
  const std::int64_t elements = TensorType{{}, shape}.elements();
  return reshape(builder.iota({DType::kU32, {elements}}, 0), shape);
}

Tensor spread(Tensor scalar, const Shape& shape) { return broadcast(scalar, shape, {}); }

/// A word plus counts, and what is carried to the next word.
Pair<Tensor> plus_counts(Tensor word, Tensor counts) {
  const Tensor sum = spread(word, counts.shape()) + counts;
  return {sum, convert(compare("LT", sum, counts), DType::kU32)};
}

Tensor threefry_bits(GraphBuilder& builder, const TensorType& type, Tensor key, Tensor counter) {
  Shape shape = type.shape;
  const bool is_paired = !is_wide(type.dtype) && !shape.empty();
  const std::size_t along = is_paired ? paired_dimension(shape) : 0;
  if (is_paired) shape[along] = (shape[along] + 1) / 2;
  const auto [low, high] = words_of(counter);
  const auto [sum, carry] = plus_counts(low, counts(builder, shape));
  Pair<Tensor> keys = words_of(key);
  for (Tensor& word : keys) word = spread(word, shape);
  const Pair<Tensor> words = threefry<Tensor>({sum, spread(high, shape) + carry}, keys);
  if (is_wide(type.dtype)) return with_dtype(interleaved(words, shape.size()), type.dtype);
  if (!is_paired) return with_dtype(words[0], type.dtype);
  shape[along] *= 2;
  const Tensor all = reshape(interleaved(words, along + 1), shape);
  return with_dtype(window(all, Indices(shape.size(), 0), type.shape), type.dtype);
}

Tensor philox_bits(GraphBuilder& builder, const TensorType& type, Tensor key, Tensor counter_low,
                   Tensor counter_high) {
  const Shape shape = {counts_of(Algorithm::kPhilox, type)};
  const Pair<Tensor> low = words_of(counter_low), high = words_of(counter_high);
  const auto [first, carry] = plus_counts(low[0], counts(builder, shape));
  const auto [second, next_carry] = plus_counts(low[1], carry);
  const auto [third, last_carry] = plus_counts(high[0], next_carry);
  Pair<Tensor> keys = words_of(key);
  for (Tensor& word : keys) word = spread(word, shape);
  const Quad<Tensor> words =
      philox<Tensor>({first, second, third, spread(high[1], shape) + last_carry}, keys);
  const Tensor all = reshape(interleaved(words, 1), {4 * shape[0]});
  const std::int64_t parts = is_wide(type.dtype) ? 2 : 1;
  Shape taken = type.shape;
  if (parts == 2) taken.push_back(2);
  return with_dtype(reshape(window(all, {0}, {parts * type.elements()}), taken), type.dtype);
}

std::vector<Tensor> expand(GraphBuilder& builder, const Op& op, std::span<const Tensor> operands) {
  const Algorithm algorithm = algorithm_of(op);
  const TensorType& type = op.declared[1];
  const Tensor state = operands[0];
  const bool has_high = state.shape()[0] == 3;
  const Tensor key = element_of_last(state, 0), low = element_of_last(state, 1);
  const Tensor next_low = low + static_cast<double>(counts_of(algorithm, type));
  std::vector<Tensor> next = {reshape(key, {1}), reshape(next_low, {1})};
  const Tensor high = has_high ? element_of_last(state, 2) : key;
  if (has_high) {
    next.push_back(reshape(high + convert(compare("LT", next_low, low), DType::kU64), {1}));
  }
  Tensor bits = type.elements() == 0                ? builder.constant(HostTensor(type))
                : algorithm == Algorithm::kThreefry ? threefry_bits(builder, type, key, low)
                                                    : philox_bits(builder, type, key, low, high);
  return {concatenate(next, 0), bits};
}

// `%state, algorithm = DEFAULT : types`
void parse(import::Parser& parser, import::SyntaxOp& op, int) {
  op.operands = {parser.parse_value()};
  parser.expect(',', "in front of the algorithm");
  if (!parser.accept_word("algorithm")) {
    parser.fail("expected `algorithm`, found " + parser.found());
  }
  parser.expect('=', "behind `algorithm`");
  op.attributes.insert_or_assign("rng_algorithm", std::string(parser.token().text));
  parser.advance();
  parser.add_optional_dictionary(op);
  parser.parse_function_type(op);
}

}  // namespace

const OpDefinition kRngBitGeneratorOp{
    .name = "stablehlo.rng_bit_generator",
    .summary = "Random bits that follow from a state, and the next state. DEFAULT is PHILOX.",
    .infer = infer,
    .evaluate = evaluate,
    .lowerings = {ExpandLowering{expand}},
    .traits = {.operands = {only(DType::kU64)}},
    .syntax = {.parse = parse},
    .attributes = "rng_algorithm",
};

}  // namespace superstep
