// Functions that JAX calls by name, of which some are made of ops here.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include "compiler/import/parser.h"
#include "compiler/ops/cholesky.h"
#include "compiler/ops/elements.h"
#include "compiler/ops/identity.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/triangular_solve.h"
#include "compiler/ops/verify.h"

namespace superstep {
namespace {

/// A number of the configuration, which is the text of a dictionary: `{uplo = 76 : ui8}`.
std::int64_t setting(const Op& op, std::string_view name) {
  for (const std::string_view where : {"mhlo.backend_config", "backend_config"}) {
    if (!op.attributes.contains(where)) continue;
    const std::string& text = attribute<std::string>(op, where);
    const std::string key = std::string(name) + " = ";
    const std::size_t at = text.find(key);
    if (at == std::string::npos) continue;
    std::int64_t value = 0;
    std::from_chars(text.data() + at + key.size(), text.data() + text.size(), value);
    return value;
  }
  malformed(op, fmt::format("its backend_config does not say {}", name));
}

/// The rest of the op as one without a name of its own would say it.
Op plain(const Op& op, const OpDefinition& definition, Attributes attributes) {
  Op call = op;
  call.definition = &definition;
  call.attributes = std::move(attributes);
  call.declared.clear();
  return call;
}

Op as_cholesky(const Op& op) {
  return plain(op, kCholeskyOp, {{"lower", setting(op, "uplo") == 'L'}});
}

TensorType info_type(const TensorType& matrices) {
  return {DType::kI32, Shape(matrices.shape.begin(), matrices.shape.end() - 2)};
}

std::vector<TensorType> infer_potrf(const Op& op, std::span<const TensorType> operands) {
  if (operands.size() != 1) malformed(op, "has another number of operands than 1");
  const std::vector<TensorType> factor = kCholeskyOp.infer(as_cholesky(op), operands);
  return {factor[0], info_type(factor[0])};
}

std::vector<HostTensor> evaluate_potrf(const Op& op, std::span<const HostTensor> operands) {
  const TensorType& type = operands[0].type;
  HostTensor info(info_type(type));
  const auto n = static_cast<std::size_t>(type.shape.back());
  for (std::size_t i = 0; i < static_cast<std::size_t>(info.type.elements()); ++i) {
    write_int(info, i, first_unfit_pivot(operands[0], i * n * n, setting(op, "uplo") == 'L'));
  }
  return {kCholeskyOp.evaluate(as_cholesky(op), operands)[0], std::move(info)};
}

/// The number of the first pivot that is not above 0, from 1; 0 where there is none.
std::vector<Tensor> expand_potrf(GraphBuilder& builder, const Op& op,
                                 std::span<const Tensor> operands) {
  const auto [factor, pivots] = cholesky(operands[0], setting(op, "uplo") == 'L');
  const Shape info = info_type(factor.type()).shape;
  if (factor.type().elements() == 0)
    return {factor, builder.constant(HostTensor({DType::kI32, info}))};
  const Tensor number = builder.iota({DType::kI32, pivots.shape()}, 1) + 1.0;
  const double none = static_cast<double>(pivots.shape()[1] + 1);
  const Tensor first = superstep::reduce(select(pivots > 0.0, number.like(none), number),
                                         builder.number(DType::kI32, none), {1},
                                         [](Tensor a, Tensor b) { return minimum(a, b); });
  return {factor, reshape(select(first == none, first.like(0), first), info)};
}

Op as_triangular_solve(const Op& op) {
  const std::int64_t transpose = setting(op, "trans_x");
  const char* const name = transpose == 'N'   ? "NO_TRANSPOSE"
                           : transpose == 'T' ? "TRANSPOSE"
                                              : "ADJOINT";
  if (transpose != 'N' && transpose != 'T' && transpose != 'C') {
    malformed(op, fmt::format("trans_x is {}, expected 78, 84 or 67 (N, T, C)", transpose));
  }
  return plain(op, kTriangularSolveOp,
               {{"left_side", setting(op, "side") == 'L'},
                {"lower", setting(op, "uplo") == 'L'},
                {"unit_diagonal", setting(op, "diag") == 'U'},
                {"transpose_a", std::string(name)}});
}

std::vector<TensorType> infer_trsm(const Op& op, std::span<const TensorType> operands) {
  if (operands.size() != 2) malformed(op, "has another number of operands than 2");
  return kTriangularSolveOp.infer(as_triangular_solve(op), operands);
}
std::vector<HostTensor> evaluate_trsm(const Op& op, std::span<const HostTensor> operands) {
  return kTriangularSolveOp.evaluate(as_triangular_solve(op), operands);
}
std::vector<Tensor> expand_trsm(GraphBuilder& builder, const Op& op,
                                std::span<const Tensor> operands) {
  const Op rest = as_triangular_solve(op);
  return {builder.apply(kTriangularSolveOp, {operands[0], operands[1]}, rest)};
}

// JAX's marks of shards: there is one device.

std::vector<TensorType> infer_sharding(const Op& op, std::span<const TensorType> operands) {
  if (operands.size() != 1) malformed(op, "has another number of operands than 1");
  return infer_identity(op, operands);
}

struct Function {
  std::string_view name;
  DTypeSet dtypes;  ///< of its operands
  std::vector<TensorType> (*infer)(const Op& op, std::span<const TensorType> operands);
  std::vector<HostTensor> (*evaluate)(const Op& op, std::span<const HostTensor> operands);
  std::vector<Tensor> (*expand)(GraphBuilder& builder, const Op& op,
                                std::span<const Tensor> operands);
};

// Of jaxlib's calls of LAPACK: `s` stands for f32, `d` for f64, `c` for complex<f32>.
constexpr std::array kFunctions = {
    Function{"Sharding", kAnyDType, infer_sharding, evaluate_identity, expand_identity},
    Function{"lapack_cpotrf_ffi", only(DType::kC64), infer_potrf, evaluate_potrf, expand_potrf},
    Function{"lapack_ctrsm_ffi", only(DType::kC64), infer_trsm, evaluate_trsm, expand_trsm},
    Function{"lapack_dpotrf_ffi", only(DType::kF64), infer_potrf, evaluate_potrf, expand_potrf},
    Function{"lapack_dtrsm_ffi", only(DType::kF64), infer_trsm, evaluate_trsm, expand_trsm},
    Function{"lapack_spotrf_ffi", only(DType::kF32), infer_potrf, evaluate_potrf, expand_potrf},
    Function{"lapack_strsm_ffi", only(DType::kF32), infer_trsm, evaluate_trsm, expand_trsm},
};

const Function& function_of(const Op& op) {
  const std::string& name = attribute<std::string>(op, "call_target_name");
  const auto* const found = std::ranges::find(kFunctions, name, &Function::name);
  if (found == kFunctions.end()) {
    if (name.find("callback") != std::string::npos) {
      unsupported(op, fmt::format("@{} calls the host, which programs cannot do; return what it "
                                  "needs as results",
                                  name));
    }
    std::string known;
    for (const Function& function : kFunctions) {
      if (!function.name.starts_with("lapack")) continue;
      known += (known.empty() ? "" : ", ") + std::string(function.name);
    }
    unsupported(
        op,
        fmt::format(
            "@{} is not one of {}, which jnp.linalg.cholesky, and cho_solve and solve_triangular "
            "of jax.scipy.linalg call",
            name, known));
  }
  return *found;
}

std::vector<TensorType> infer(const Op& op, std::span<const TensorType> operands) {
  const Function& function = function_of(op);
  for (const TensorType& operand : operands) require_dtype(op, operand.dtype, function.dtypes);
  return function.infer(op, operands);
}
std::vector<HostTensor> evaluate(const Op& op, std::span<const HostTensor> operands) {
  return function_of(op).evaluate(op, operands);
}
std::vector<Tensor> expand(GraphBuilder& builder, const Op& op, std::span<const Tensor> operands) {
  return function_of(op).expand(builder, op, operands);
}

// `@name(%a, %b) {…} : types`
void parse(import::Parser& parser, import::SyntaxOp& op, int) {
  if (parser.token().kind != import::TokenKind::kSymbol) {
    parser.fail("expected a function such as @f, found " + parser.found());
  }
  parser.add_attribute(op, "call_target_name", parser.parse_attribute(0));
  parser.parse_usual(op);
}

}  // namespace

const OpDefinition kCustomCallOp{
    .name = "stablehlo.custom_call",
    .summary =
        "A function of a library: LAPACK's potrf and trsm, as JAX calls them on the CPU; marks of "
        "shards.",
    .infer = infer,
    .evaluate = evaluate,
    .lowerings = {ExpandLowering{expand}},
    .traits = {.operands = OperandTypes::any_number_of(kAnyDType)},
    .syntax = {.parse = parse},
};

}  // namespace superstep
