// Random numbers of a distribution. StableHLO has them of a hidden state; here each op has a state
// of its own, which follows from where the op is in the module, which of its copies it is, and how
// often it was executed, so that runs repeat.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "compiler/import/parser.h"
#include "compiler/ops/elements.h"
#include "compiler/ops/graph_builder.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/random_draw.h"
#include "compiler/ops/verify.h"

namespace superstep {
namespace {

bool is_normal(const Op& op) {
  const std::string& name = attribute<std::string>(op, "rng_distribution");
  if (name != "UNIFORM" && name != "NORMAL") {
    malformed(op, fmt::format("rng_distribution is {}, expected UNIFORM or NORMAL", name));
  }
  return name == "NORMAL";
}

std::vector<TensorType> infer(const Op& op, std::span<const TensorType> operands) {
  const TensorType& result = required_result(op);
  const TensorType scalar{result.dtype, {}};
  for (std::size_t i = 0; i < 2; ++i) {
    if (operands[i] == scalar) continue;
    malformed(op,
              fmt::format("operand {} is {}, expected {}", i, operands[i].text(), scalar.text()));
  }
  const Shape rank = {static_cast<std::int64_t>(result.shape.size())};
  if (operands[2].shape != rank) {
    malformed(op, fmt::format("the shape is {}, expected {} numbers", operands[2].text(), rank[0]));
  }
  if (operands.size() > 4 || (operands.size() == 4 && !operands[3].shape.empty())) {
    malformed(op, "takes two numbers, a shape, and a count at most");
  }
  if (is_normal(op) && !is_float(result.dtype)) {
    malformed(op, fmt::format("normal numbers are floats, not {}", name_of(result.dtype)));
  }
  return {result};
}

/// FNV-1a of the place in the module, and of the number of the copy behind the first.
std::uint64_t key_of(const Op& op) {
  std::vector<std::uint64_t> numbers = {op.location.module.line, op.location.module.column};
  if (op.attributes.contains(kDrawAttribute)) {
    const auto copy = attribute<std::int64_t>(op, kDrawAttribute);
    if (copy > 0) numbers.push_back(static_cast<std::uint64_t>(copy));
  }
  std::uint64_t key = 0xcbf29ce484222325;
  for (const std::uint64_t number : numbers) key = (key ^ number) * 0x100000001b3;
  return key;
}

/// Of the bits from which numbers of a type are made.
DType bits_type(DType dtype) { return is_wide(dtype) ? DType::kU64 : DType::kU32; }

/// Of the second word of a state, the lower bits count the blocks of one execution, the upper ones
/// executions.
constexpr int kBlockBits = 32;

/// The key, and no executions.
HostTensor first_state(const Op& op) {
  HostTensor state(TensorType{DType::kU64, {2}});
  write_bits(state, 0, key_of(op));
  return state;
}

Op generator(const TensorType& result) {
  Op op;
  op.attributes = {{"rng_algorithm", std::string("THREE_FRY")}};
  op.declared = {{DType::kU64, {2}}, {bits_type(result.dtype), result.shape}};
  return op;
}

/// As what the numbers of a float type are computed.
DType computed_as(DType dtype) { return is_short_float(dtype) ? DType::kF32 : dtype; }

constexpr double kLowest = -1 + 0x1p-24;  ///< of what has a normal number, the next f32 above -1

// On the host.

/// The numbers 1 to 2 have one exponent.
double unit_of(DType dtype, std::uint64_t bits) {
  return dtype == DType::kF64 ? std::ldexp(static_cast<double>(bits >> 12), -52)
                              : std::ldexp(static_cast<double>(bits >> 9), -23);
}

double rounded(DType dtype, double x) {
  HostTensor one(TensorType{dtype, {}});
  write_float(one, 0, x);
  return read_float(one, 0);
}

void write_uniform(HostTensor& result, std::size_t i, double unit, const HostTensor& low,
                   const HostTensor& high) {
  const DType dtype = computed_as(result.type.dtype);
  const double a = read_float(low, 0), b = read_float(high, 0);
  const double range = rounded(dtype, b - a);
  const double scaled = rounded(dtype, rounded(dtype, unit * range) + a);
  write_float(result, i, scaled);
  if (!(read_float(result, i) < b)) write_float(result, i, a);
}

HostTensor normals(const HostTensor& units) {
  HostTensor places(TensorType{DType::kF32, units.type.shape});
  for (std::size_t i = 0; i < static_cast<std::size_t>(places.type.elements()); ++i) {
    write_float(places, i, std::max(2 * read_float(units, i) - 1, kLowest));
  }
  return kErfInvOp.evaluate({}, std::vector{places})[0];
}

std::vector<HostTensor> evaluate(const Op& op, std::span<const HostTensor> operands) {
  const TensorType& type = op.declared[0];
  const DType dtype = type.dtype;
  HostTensor result(type);
  HostTensor state = first_state(op);
  if (operands.size() > 3) write_bits(state, 1, read_bits(operands[3], 0) << kBlockBits);
  const HostTensor bits = kRngBitGeneratorOp.evaluate(generator(type), std::vector{state})[1];
  const auto elements = static_cast<std::size_t>(type.elements());
  if (is_normal(op)) {
    HostTensor units(TensorType{DType::kF32, type.shape});
    for (std::size_t i = 0; i < elements; ++i) {
      const std::uint64_t word = read_bits(bits, i);
      write_float(units, i, unit_of(DType::kF32, is_wide(dtype) ? word >> 32 : word));
    }
    const HostTensor standard = normals(units);
    const DType by = computed_as(dtype);
    for (std::size_t i = 0; i < elements; ++i) {
      const double z = rounded(by, read_float(standard, i) * std::numbers::sqrt2_v<float>);
      const double scaled = rounded(by, z * read_float(operands[1], 0));
      write_float(result, i, rounded(by, scaled + read_float(operands[0], 0)));
    }
    return {std::move(result)};
  }
  for (std::size_t i = 0; i < elements; ++i) {
    const std::uint64_t word = read_bits(bits, i);
    if (is_float(dtype)) {
      write_uniform(result, i, unit_of(dtype, word), operands[0], operands[1]);
      continue;
    }
    const int width = 8 * static_cast<int>(size_of(dtype));
    const std::uint64_t mask = width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
    const std::uint64_t low = read_bits(operands[0], 0);
    const std::uint64_t range = (read_bits(operands[1], 0) - low) & mask;
    write_bits(result, i, low + (range == 0 ? 0 : word % range));
  }
  return {std::move(result)};
}

// On tiles.

Tensor spread(Tensor scalar, const Shape& shape) { return broadcast(scalar, shape, {}); }

/// From 0 to 1, as the numbers from 1 to 2 less 1.
Tensor units_of(Tensor bits, DType dtype) {
  const bool is_double = dtype == DType::kF64;
  HostTensor one(TensorType{bits.dtype(), {}});
  write_bits(one, 0, is_double ? 0x3ff0000000000000 : 0x3f800000);
  const Tensor exponent = spread(bits.builder->constant(std::move(one)), bits.shape());
  return bitcast((bits >> (is_double ? 12 : 9)) | exponent, {dtype, bits.shape()}) - 1.0;
}

Tensor uniform_floats(Tensor bits, Tensor low, Tensor high) {
  const DType dtype = low.dtype(), by = computed_as(dtype);
  const Tensor a = convert(low, by), range = convert(high, by) - a;
  const Shape shape = bits.shape();
  const Tensor scaled = units_of(bits, by) * spread(range, shape) + spread(a, shape);
  const Tensor result = convert(scaled, dtype);
  return select(compare("LT", result, spread(high, shape)), result, spread(low, shape));
}

Tensor normal_floats(GraphBuilder& builder, Tensor bits, Tensor mean, Tensor deviation) {
  const DType dtype = mean.dtype(), by = computed_as(dtype);
  if (is_wide(dtype)) bits = convert(bits >> 32, DType::kU32);
  const Shape shape = bits.shape();
  const Tensor unit = units_of(bits, DType::kF32);
  const Tensor place = maximum(unit * 2.0 - 1.0, unit.like(kLowest));
  const Tensor standard =
      convert(builder.apply(kErfInvOp, {place}), by) * std::numbers::sqrt2_v<float>;
  const Tensor scaled = standard * spread(convert(deviation, by), shape);
  return convert(scaled + spread(convert(mean, by), shape), dtype);
}

Tensor uniform_integers(GraphBuilder& builder, Tensor bits, Tensor low, Tensor high) {
  const DType dtype = low.dtype();
  const DType same_size = unsigned_of_size(size_of(dtype));
  const Tensor range = convert(bitcast(high - low, {same_size, {}}), bits.dtype());
  const Tensor some = select(range == 0.0, range.like(1), range);
  const Tensor above = builder.apply(kRemainderOp, {bits, spread(some, bits.shape())});
  const Tensor result = bitcast(convert(above, same_size), {dtype, bits.shape()});
  return result + spread(low, bits.shape());
}

std::vector<Tensor> expand(GraphBuilder& builder, const Op& op, std::span<const Tensor> operands) {
  const TensorType& type = op.declared[0];
  if (type.elements() == 0) return {builder.constant(HostTensor(type))};
  Tensor state = builder.constant(first_state(op));
  if (operands.size() > 3) {
    const std::vector<Tensor> words = {window(state, {0}, {1}),
                                       reshape(operands[3] << kBlockBits, {1})};
    state = concatenate(words, 0);
  }
  const Tensor bits = builder.append(kRngBitGeneratorOp, std::vector{state}, generator(type))[1];
  if (is_normal(op)) return {normal_floats(builder, bits, operands[0], operands[1])};
  if (is_float(type.dtype)) return {uniform_floats(bits, operands[0], operands[1])};
  return {uniform_integers(builder, bits, operands[0], operands[1])};
}

// `%a, %b, %shape, distribution = UNIFORM : types`
void parse(import::Parser& parser, import::SyntaxOp& op, int) {
  if (parser.token().is('(')) return parser.parse_usual(op);
  for (int i = 0; i < 3; ++i) {
    op.operands.push_back(parser.parse_value());
    parser.expect(',', "behind an operand");
  }
  if (!parser.accept_word("distribution")) {
    parser.fail("expected `distribution`, found " + parser.found());
  }
  parser.expect('=', "behind `distribution`");
  op.attributes.insert_or_assign("rng_distribution", std::string(parser.token().text));
  parser.advance();
  parser.add_optional_dictionary(op);
  parser.parse_function_type(op);
}

}  // namespace

bool is_random_draw(const Op& op) { return op.definition == &kRngOp; }

const OpDefinition kRngOp{
    .name = "stablehlo.rng",
    .summary =
        "Random numbers between two (UNIFORM), or of a mean and a deviation (NORMAL); each time "
        "others, and in every run and call of a program the same.",
    .infer = infer,
    .evaluate = evaluate,
    .lowerings = {ExpandLowering{expand}},
    .traits = {.operands = OperandTypes{kNumbers, kNumbers, kIntegers}.then_any_number_of(
                   only(DType::kU64))},
    .syntax = {.parse = parse},
    .attributes = "rng_distribution",
};

}  // namespace superstep
