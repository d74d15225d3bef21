// Transforms, normalisations, factors of matrices and solutions of systems.

#include <algorithm>
#include <array>
#include <complex>
#include <string>

#include "compiler/ops/elements.h"
#include "tests/generated/op_kind.h"
#include "tests/generated/tensors.h"

namespace superstep {
namespace {

constexpr DTypeSet kComplexNumbers = only(DType::kC64);
constexpr DTypeSet kLapack = only(DType::kF32) | kComplexNumbers;

ValueId exact_argument(RandomProgram& builder, HostTensor value) {
  const TensorType type = value.type;
  return builder.argument(type, exactly(std::move(value)));
}

bool fft(RandomProgram& builder, const OpKind& kind) {
  constexpr std::array<std::int64_t, 12> kLengths = {1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 17, 60};
  Random& random = builder.random;
  const bool is_real = random.chance(30);
  const bool is_inverse = random.chance(50);
  const DType dtype = random_dtype(random, kind.dtypes);
  const std::size_t count = 1 + random.below(is_real && is_inverse ? 1 : 2);
  Indices lengths;
  Shape shape;
  if (random.chance(50)) shape.push_back(random.between(1, 4));
  for (std::size_t i = 0; i < count; ++i) {
    lengths.push_back(count > 1 ? random.between(1, 8) : random.pick(kLengths));
    shape.push_back(lengths.back());
  }
  if (is_real && is_inverse) shape.back() = lengths.back() / 2 + 1;
  const TensorType type{is_real && !is_inverse ? real_of(dtype) : dtype, shape};
  const std::string name = std::string(is_inverse ? "I" : "") + (is_real ? "RFFT" : "FFT");
  return builder.add(kind.op, {builder.of_type(type)},
                     {{"fft_type", name}, {"fft_length", lengths}});
}

struct Matrices {
  enum class Kind : std::uint8_t { kAny, kPositive, kTriangular } kind;
  std::int64_t rows, columns;
};

/// A batch, or one, of matrices far from singular ones, or of any others.
HostTensor random_matrices(Random& random, DType dtype, const Shape& batch, Matrices what) {
  TensorType type{dtype, batch};
  type.shape.push_back(what.rows);
  type.shape.push_back(what.columns);
  HostTensor tensor(type);
  const auto rows = static_cast<std::size_t>(what.rows);
  const auto columns = static_cast<std::size_t>(what.columns);
  const auto number = [&] {
    const double real = 2 * random.unit() - 1, imaginary = 2 * random.unit() - 1;
    return is_complex(dtype) ? std::complex<double>(real, imaginary) : std::complex<double>(real);
  };
  for (std::size_t first = 0; first < static_cast<std::size_t>(type.elements());
       first += rows * columns) {
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t k = 0; k < columns; ++k) {
        std::complex<double> x = number();
        const double n = static_cast<double>(std::max(rows, columns));
        if (what.kind == Matrices::Kind::kTriangular) x /= n;
        if (what.kind != Matrices::Kind::kAny && i == k) x = 1.5 + random.unit();
        if (what.kind == Matrices::Kind::kPositive && i == k) x += 2 * n;
        if (what.kind == Matrices::Kind::kPositive && k < i) {
          x = std::conj(read_number(tensor, first + k * columns + i));
        }
        write_number(tensor, first + i * columns + k, x);
      }
    }
  }
  return tensor;
}

Shape random_batch(Random& random) {
  return random.chance(50) ? Shape{} : Shape{random.between(1, 3)};
}

bool cholesky(RandomProgram& builder, const OpKind& kind) {
  Random& random = builder.random;
  const std::int64_t n = random.between(0, random.chance(20) ? 20 : 7);
  const DType dtype = random_dtype(random, kind.dtypes);
  HostTensor a =
      random_matrices(random, dtype, random_batch(random), {Matrices::Kind::kPositive, n, n});
  return builder.add(kind.op, {exact_argument(builder, std::move(a))},
                     {{"lower", random.chance(50)}});
}

struct System {
  ValueId a, b;
  bool is_left, is_lower, has_unit_diagonal;
};

System random_system(RandomProgram& builder, DType dtype) {
  Random& random = builder.random;
  const std::int64_t n = random.between(0, random.chance(20) ? 20 : 7);
  const std::int64_t others = random.between(1, 4);
  const Shape batch = random_batch(random);
  const bool is_left = random.chance(50);
  const ValueId a = exact_argument(
      builder, random_matrices(random, dtype, batch, {Matrices::Kind::kTriangular, n, n}));
  const ValueId b = exact_argument(
      builder, random_matrices(random, dtype, batch,
                               {Matrices::Kind::kAny, is_left ? n : others, is_left ? others : n}));
  return {a, b, is_left, random.chance(50), random.chance(30)};
}

bool triangular_solve(RandomProgram& builder, const OpKind& kind) {
  constexpr std::array kTransposes = {"NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"};
  const System system = random_system(builder, random_dtype(builder.random, kind.dtypes));
  return builder.add(kind.op, {system.a, system.b},
                     {{"left_side", system.is_left},
                      {"lower", system.is_lower},
                      {"unit_diagonal", system.has_unit_diagonal},
                      {"transpose_a", std::string(builder.random.pick(kTransposes))}});
}

bool normalisation(RandomProgram& builder, const OpKind& kind) {
  Random& random = builder.random;
  const ValueId x = builder.any(kind.dtypes, [](const TensorType& type) {
    return has_dimensions(type) && type.elements() > 0;
  });
  const TensorType type = builder.type(x);
  const std::size_t feature = random.below(type.shape.size());
  const TensorType features{type.dtype, {type.shape[feature]}};
  std::vector<ValueId> operands{x};
  const bool is_gradient = kind.op == "stablehlo.batch_norm_grad";
  const bool trains = kind.op == "stablehlo.batch_norm_training";
  for (std::size_t i = trains || is_gradient ? 2 : 3; i > 0; --i) {
    operands.push_back(builder.of_type(features));
  }
  if (!trains) {
    HostTensor variances(features);
    for (std::size_t i = 0; i < static_cast<std::size_t>(features.elements()); ++i) {
      write_float(variances, i, 4 * random.unit());
    }
    operands.push_back(exact_argument(builder, std::move(variances)));
  }
  if (is_gradient) operands.push_back(builder.of_type(type));
  return builder.add(kind.op, std::move(operands),
                     {{"epsilon", random.chance(50) ? 0.125 : 0.5},
                      {"feature_index", static_cast<std::int64_t>(feature)}});
}

/// A call of LAPACK, or of what JAX has for platforms without it.
struct Call {
  std::string_view name;
  DType dtype;
  Matrices::Kind kind;
  std::string_view config;
  bool is_square;
};
const std::array kCalls = {
    Call{"Eigh", DType::kF32, Matrices::Kind::kPositive, "1,1,100,1e-6", true},
    Call{"LuDecomposition", DType::kF32, Matrices::Kind::kPositive, "", false},
    Call{"Qr", DType::kF32, Matrices::Kind::kPositive, "", false},
    Call{"Sharding", DType::kF32, Matrices::Kind::kAny, "", false},
    Call{"lapack_cgeqrf_ffi", DType::kC64, Matrices::Kind::kPositive, "{}", false},
    Call{"lapack_cheevd_ffi", DType::kC64, Matrices::Kind::kPositive,
         "{mode = 86 : ui8, uplo = 76 : ui8}", true},
    Call{"lapack_sgeqrf_ffi", DType::kF32, Matrices::Kind::kPositive, "{}", false},
    Call{"lapack_sgesdd_ffi", DType::kF32, Matrices::Kind::kPositive, "{mode = 65 : ui8}", false},
    Call{"lapack_sgetrf_ffi", DType::kF32, Matrices::Kind::kPositive, "{}", false},
    Call{"lapack_spotrf_ffi", DType::kF32, Matrices::Kind::kPositive, "{uplo = 76 : ui8}", true},
    Call{"lapack_ssyevd_ffi", DType::kF32, Matrices::Kind::kPositive,
         "{mode = 86 : ui8, uplo = 76 : ui8}", true},
};

bool call(RandomProgram& builder, const OpKind& kind) {
  Random& random = builder.random;
  const Call& call = random.pick(kCalls);
  const std::int64_t n = random.between(1, 5);
  const std::int64_t m = call.is_square ? n : random.between(n, 6);
  HostTensor a = random_matrices(random, call.dtype, random_batch(random), {call.kind, m, n});
  return builder.add(
      kind.op, {exact_argument(builder, std::move(a))},
      {{"call_target_name", std::string(call.name)}, {"backend_config", std::string(call.config)}});
}

constexpr DTypeSet kFactored = kTileFloats | kLapack;

constexpr std::array kKinds = {
    OpKind{"stablehlo.batch_norm_grad", normalisation, kTileFloats, Wants::kModerate, 2},
    OpKind{"stablehlo.batch_norm_inference", normalisation, kSimpleFloats, Wants::kModerate, 2},
    OpKind{"stablehlo.batch_norm_training", normalisation, kTileFloats, Wants::kModerate, 2},
    OpKind{"stablehlo.cholesky", cholesky, kFactored, Wants::kExact, 2},
    OpKind{"stablehlo.custom_call", call, kAnyDType, Wants::kExact, 2},
    OpKind{"stablehlo.fft", fft, kComplexNumbers, Wants::kModerate, 4},
    OpKind{"stablehlo.triangular_solve", triangular_solve, kFactored, Wants::kExact, 2},
};

}  // namespace

std::span<const OpKind> algebra_kinds() { return kKinds; }

}  // namespace superstep
