// Functions that JAX calls by name, of which some are made of ops here.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "compiler/import/parser.h"
#include "compiler/ops/identity.h"
#include "compiler/ops/library/function.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/verify.h"

namespace superstep {
namespace {

// JAX's marks of shards and layouts: there is one device, and no layout that a program sees.

std::vector<TensorType> infer_mark(const Op& op, std::span<const TensorType> operands) {
  require_operands(op, operands, 1);
  return infer_identity(op, operands);
}

const LibraryFunction kMark{infer_mark, evaluate_identity, expand_identity};

// Of jaxlib's calls of LAPACK: `s` stands for f32, `d` for f64, `c` for complex<f32>,
// `z` for complex<f64>. Names without LAPACK's are those that JAX has for platforms without it.
constexpr DTypeSet kS = only(DType::kF32), kD = only(DType::kF64), kC = only(DType::kC64),
                   kZ = only(DType::kC128);
constexpr DTypeSet kAll = kS | kD | kC | kZ;
constexpr std::array kNames = {
    LibraryName{"ApproxTopK", kAnyDType, &kApproxTopK},
    LibraryName{"Eigh", kAll, &kEigh},
    LibraryName{"LayoutConstraint", kAnyDType, &kMark},
    LibraryName{"LuDecomposition", kAll, &kLuDecomposition},
    LibraryName{"ProductOfElementaryHouseholderReflectors", kAll, &kOrgqr},
    LibraryName{"Qr", kAll, &kGeqrf},
    LibraryName{"Sharding", kAnyDType, &kMark},
    LibraryName{"lapack_cgees_ffi", kC, &kGees},
    LibraryName{"lapack_cgeev_ffi", kC, &kGeev},
    LibraryName{"lapack_cgehrd_ffi", kC, &kGehrd},
    LibraryName{"lapack_cgeqp3_ffi", kC, &kGeqp3},
    LibraryName{"lapack_cgeqrf_ffi", kC, &kGeqrf},
    LibraryName{"lapack_cgesdd_ffi", kC, &kGesdd},
    LibraryName{"lapack_cgesvd_ffi", kC, &kGesdd},
    LibraryName{"lapack_cgetrf_ffi", kC, &kGetrf},
    LibraryName{"lapack_cgtsv_ffi", kC, &kGtsv},
    LibraryName{"lapack_cheevd_ffi", kC, &kSyevd},
    LibraryName{"lapack_chetrd_ffi", kC, &kSytrd},
    LibraryName{"lapack_cpotrf_ffi", kC, &kPotrf},
    LibraryName{"lapack_ctrsm_ffi", kC, &kTrsm},
    LibraryName{"lapack_cungqr_ffi", kC, &kOrgqr},
    LibraryName{"lapack_cunmqr_ffi", kC, &kOrmqr},
    LibraryName{"lapack_dgees_ffi", kD, &kGees},
    LibraryName{"lapack_dgeev_ffi", kD, &kGeev},
    LibraryName{"lapack_dgehrd_ffi", kD, &kGehrd},
    LibraryName{"lapack_dgeqp3_ffi", kD, &kGeqp3},
    LibraryName{"lapack_dgeqrf_ffi", kD, &kGeqrf},
    LibraryName{"lapack_dgesdd_ffi", kD, &kGesdd},
    LibraryName{"lapack_dgesvd_ffi", kD, &kGesdd},
    LibraryName{"lapack_dgetrf_ffi", kD, &kGetrf},
    LibraryName{"lapack_dgtsv_ffi", kD, &kGtsv},
    LibraryName{"lapack_dorgqr_ffi", kD, &kOrgqr},
    LibraryName{"lapack_dormqr_ffi", kD, &kOrmqr},
    LibraryName{"lapack_dpotrf_ffi", kD, &kPotrf},
    LibraryName{"lapack_dsyevd_ffi", kD, &kSyevd},
    LibraryName{"lapack_dsytrd_ffi", kD, &kSytrd},
    LibraryName{"lapack_dtrsm_ffi", kD, &kTrsm},
    LibraryName{"lapack_sgees_ffi", kS, &kGees},
    LibraryName{"lapack_sgeev_ffi", kS, &kGeev},
    LibraryName{"lapack_sgehrd_ffi", kS, &kGehrd},
    LibraryName{"lapack_sgeqp3_ffi", kS, &kGeqp3},
    LibraryName{"lapack_sgeqrf_ffi", kS, &kGeqrf},
    LibraryName{"lapack_sgesdd_ffi", kS, &kGesdd},
    LibraryName{"lapack_sgesvd_ffi", kS, &kGesdd},
    LibraryName{"lapack_sgetrf_ffi", kS, &kGetrf},
    LibraryName{"lapack_sgtsv_ffi", kS, &kGtsv},
    LibraryName{"lapack_sorgqr_ffi", kS, &kOrgqr},
    LibraryName{"lapack_sormqr_ffi", kS, &kOrmqr},
    LibraryName{"lapack_spotrf_ffi", kS, &kPotrf},
    LibraryName{"lapack_ssyevd_ffi", kS, &kSyevd},
    LibraryName{"lapack_ssytrd_ffi", kS, &kSytrd},
    LibraryName{"lapack_strsm_ffi", kS, &kTrsm},
    LibraryName{"lapack_zgees_ffi", kZ, &kGees},
    LibraryName{"lapack_zgeev_ffi", kZ, &kGeev},
    LibraryName{"lapack_zgehrd_ffi", kZ, &kGehrd},
    LibraryName{"lapack_zgeqp3_ffi", kZ, &kGeqp3},
    LibraryName{"lapack_zgeqrf_ffi", kZ, &kGeqrf},
    LibraryName{"lapack_zgesdd_ffi", kZ, &kGesdd},
    LibraryName{"lapack_zgesvd_ffi", kZ, &kGesdd},
    LibraryName{"lapack_zgetrf_ffi", kZ, &kGetrf},
    LibraryName{"lapack_zgtsv_ffi", kZ, &kGtsv},
    LibraryName{"lapack_zheevd_ffi", kZ, &kSyevd},
    LibraryName{"lapack_zhetrd_ffi", kZ, &kSytrd},
    LibraryName{"lapack_zpotrf_ffi", kZ, &kPotrf},
    LibraryName{"lapack_ztrsm_ffi", kZ, &kTrsm},
    LibraryName{"lapack_zungqr_ffi", kZ, &kOrgqr},
    LibraryName{"lapack_zunmqr_ffi", kZ, &kOrmqr},
};

const LibraryName& name_of_call(const Op& op) {
  const std::string& name = attribute<std::string>(op, "call_target_name");
  const auto* const found = std::ranges::find(kNames, name, &LibraryName::name);
  if (found == kNames.end()) {
    if (name.find("callback") != std::string::npos) {
      unsupported(op,
                  fmt::format("@{} calls Python, which programs cannot do; return what it needs as "
                              "results, or give it to the host by an outfeed",
                              name));
    }
    std::vector<std::string> known;
    for (const LibraryName& row : kNames) known.emplace_back(row.name);
    constexpr std::size_t kLongestName = 64;
    const std::string near = nearest(name.substr(0, kLongestName), known);
    unsupported(op, fmt::format("@{} is not supported{}", name,
                                near.empty() ? near : "; the nearest that is is @" + near));
  }
  return *found;
}

std::vector<TensorType> infer(const Op& op, std::span<const TensorType> operands) {
  const LibraryName& row = name_of_call(op);
  if (operands.empty()) malformed(op, "has no operands");
  require_dtype(op, operands[0].dtype, row.dtypes);
  if (op.regions.size() != row.function->regions) {
    malformed(op, fmt::format("calls {} functions, expected {}", op.regions.size(),
                              row.function->regions));
  }
  std::vector<TensorType> results = row.function->infer(op, operands);
  if (row.name.starts_with("lapack")) {
    std::size_t rank = 2;
    for (const TensorType& operand : operands) rank = std::max(rank, operand.shape.size());
    require_columns(op, "operand_layouts", operands, rank - 2);
    require_columns(op, "result_layouts", results, rank - 2);
  }
  return results;
}
std::vector<HostTensor> evaluate(const Op& op, std::span<const HostTensor> operands) {
  return name_of_call(op).function->evaluate(op, operands);
}
std::vector<Tensor> expand(GraphBuilder& builder, const Op& op, std::span<const Tensor> operands) {
  return name_of_call(op).function->expand(builder, op, operands);
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

std::span<const LibraryName> library_names() { return kNames; }

const OpDefinition kCustomCallOp{
    .name = "stablehlo.custom_call",
    .summary =
        "A function of a library: factors of matrices and triangular systems of LAPACK, as JAX "
        "calls them; ApproxTopK, exact; marks of shards and layouts; by [name](#custom-calls).",
    .infer = infer,
    .evaluate = evaluate,
    .lowerings = {ExpandLowering{expand}},
    .traits = {.operands = OperandTypes::any_number_of(kAnyDType), .regions = kAnyRegions},
    .syntax = {.parse = parse},
    .attributes =
        "call_target_name has_side_effect backend_config api_version called_computations "
        "operand_layouts result_layouts output_operand_aliases error_message",
};

}  // namespace superstep
