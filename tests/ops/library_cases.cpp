// Factors of small matrices, worked out by hand.

#include "tests/ops/op_case.h"

namespace superstep {
namespace {

using enum DType;

OpCase call(const std::string& name, const std::string& what, std::vector<HostTensor> operands,
            std::vector<HostTensor> expected, const std::string& config = "{}",
            std::uint64_t ulp = 0) {
  return {"stablehlo.custom_call",
          what,
          std::move(operands),
          {{"call_target_name", name}, {"backend_config", config}},
          std::move(expected),
          ulp,
          {}};
}

HostTensor matrix(std::int64_t rows, std::int64_t columns, const std::vector<double>& values) {
  return numbers(kF32, {rows, columns}, values);
}

}  // namespace

std::vector<OpCase> library_cases() {
  // (3, 4) is reflected to -5: v is (1, 4 / 8), and tau 8 / 5.
  const HostTensor packed = matrix(2, 1, {-5, 0.5}), tau = vector_of(kF32, {1.6});
  const HostTensor a = matrix(3, 2, {1, 3, 4, 8, 2, 0});
  const HostTensor factors = matrix(3, 2, {4, 8, 0.5, -4, 0.25, -0.25});
  // The second pivot is 0.
  const HostTensor singular = matrix(2, 2, {1, 2, 4, 8});
  const HostTensor factors_of_singular = matrix(2, 2, {4, 8, 0.25, 0});
  const HostTensor diagonal = matrix(3, 3, {3, 7, 7, 0, -1, 7, 0, 0, 2});
  const HostTensor vectors = matrix(3, 3, {0, 0, 1, 1, 0, 0, 0, 1, 0});
  const HostTensor values = vector_of(kF32, {-1, 2, 3}), none = numbers(kI32, {}, {0});
  const HostTensor no_vectors(TensorType{kC64, {2, 2}});
  const HostTensor two = matrix(2, 3, {0, 0, -2, 3, 0, 0});
  return {
      call("lapack_sgeqrf_ffi", "Geqrf", {matrix(2, 1, {3, 4})}, {packed, tau}, "{}", 1),
      call("Qr", "QrOfWhatIsDone", {matrix(2, 2, {-2, 5, 0, 4})},
           {matrix(2, 2, {-2, 5, 0, 4}), vector_of(kF32, {0, 0})}),
      call("lapack_sgeqrf_ffi", "GeqrfKeepsTheSignOfZero", {matrix(1, 1, {-0.0})},
           {matrix(1, 1, {-0.0}), vector_of(kF32, {0})}),
      // LAPACK's: -0 is negative.
      call("lapack_sgeqrf_ffi", "GeqrfOfNegativeZero", {matrix(2, 1, {-0.0, 4})},
           {matrix(2, 1, {4, -1}), vector_of(kF32, {1})}),
      call("lapack_sorgqr_ffi", "Orgqr", {packed, tau}, {matrix(2, 1, {-0.6, -0.8})}, "{}", 4),
      call("lapack_sormqr_ffi", "OrmqrFromTheLeft", {packed, tau, matrix(2, 1, {0, 5})},
           {matrix(2, 1, {-4, 3})}, "{left = true, transpose = false}", 4),
      call("lapack_sormqr_ffi", "OrmqrFromTheRight", {packed, tau, matrix(1, 2, {0, 5})},
           {matrix(1, 2, {-4, 3})}, "{left = false, transpose = true}", 4),
      call("lapack_sgetrf_ffi", "Getrf", {a}, {factors, vector_of(kI32, {2, 3}), none}, "{}", 0),
      call("lapack_sgetrf_ffi", "GetrfOfSingular", {singular},
           {factors_of_singular, vector_of(kI32, {2, 2}), numbers(kI32, {}, {2})}),
      call("LuDecomposition", "Lu", {singular},
           {factors_of_singular, vector_of(kI32, {1, 1}), vector_of(kI32, {1, 0})}),
      call("lapack_ssyevd_ffi", "SyevdReadsOneTriangle", {diagonal}, {vectors, values, none},
           "{mode = 86 : ui8, uplo = 76 : ui8}"),
      call("Eigh", "Eigh", {diagonal}, {vectors, values}, "1,1,100,1e-6"),
      // What is below the diagonal is reflected to -5.
      call("lapack_sgehrd_ffi", "Gehrd", {matrix(3, 3, {1, 0, 0, 3, 0, 0, 4, 0, 0})},
           {matrix(3, 3, {1, 0, 0, -5, 0, 0, 0.5, 0, 0}), vector_of(kF32, {1.6, 0}), none},
           "{high = 3 : i32, low = 1 : i32}", 1),
      call("lapack_ssytrd_ffi", "SytrdReadsOneTriangle", {matrix(2, 2, {1, 9, 3, 2})},
           {matrix(2, 2, {1, 9, 3, 2}), vector_of(kF32, {1, 2}), vector_of(kF32, {3}),
            vector_of(kF32, {0}), none},
           "{uplo = 76 : ui8}"),
      // 2 x0 = 4, 4 x0 + x1 + 2 x2 = 15, 8 x1 + x2 = 11: each time the next row is the pivot's.
      call("lapack_sgtsv_ffi", "Gtsv",
           {vector_of(kF32, {9, 4, 8}), vector_of(kF32, {2, 1, 1}), vector_of(kF32, {0, 2, 9}),
            matrix(3, 1, {4, 15, 11})},
           {vector_of(kF32, {9, 2, 0}), vector_of(kF32, {4, 8, -0.9375}),
            vector_of(kF32, {1, 1, 0}), matrix(3, 1, {2, 1, 3}), none}),
      call("lapack_sgeev_ffi", "GeevOfValuesOnly", {matrix(2, 2, {3, -4, 4, 3})},
           {vector_of(kF32, {3, 3}), vector_of(kF32, {4, -4}), no_vectors, no_vectors, none},
           "{compute_left = 78 : ui8, compute_right = 78 : ui8}"),
      call("lapack_sgesdd_ffi", "GesddOfValuesOnly", {two},
           {two, vector_of(kF32, {3, 2}), matrix(2, 2, {0, 0, 0, 0}),
            matrix(3, 3, {0, 0, 0, 0, 0, 0, 0, 0, 0}), none},
           "{mode = 78 : ui8}"),
      call("lapack_sgesdd_ffi", "GesddOfNothing", {matrix(0, 2, {})},
           {matrix(0, 2, {}), vector_of(kF32, {}), matrix(0, 0, {}), matrix(2, 2, {1, 0, 0, 1}),
            none},
           "{mode = 65 : ui8}"),
  };
}

}  // namespace superstep
