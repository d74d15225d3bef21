#pragma once

#include <complex>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "compiler/ops/graph_builder.h"
#include "compiler/ops/op.h"

namespace superstep {

/// What `custom_call` does for one name, or for some names alike; as the members of OpDefinition.
struct LibraryFunction {
  std::vector<TensorType> (*infer)(const Op& op, std::span<const TensorType> operands);
  std::vector<HostTensor> (*evaluate)(const Op& op, std::span<const HostTensor> operands);
  std::vector<Tensor> (*expand)(GraphBuilder& builder, const Op& op,
                                std::span<const Tensor> operands);
  std::size_t regions = 0;  ///< functions that it calls
};

/// A function that `stablehlo.custom_call` names, and the types that its first operand may have.
struct LibraryName {
  std::string_view name;
  DTypeSet dtypes;
  const LibraryFunction* function;
};
/// All there are, by name.
[[nodiscard]] std::span<const LibraryName> library_names();

extern const LibraryFunction kApproxTopK;               // approx_top_k.cpp
extern const LibraryFunction kPotrf, kTrsm;             // triangular.cpp
extern const LibraryFunction kGeqrf, kOrgqr, kOrmqr;    // qr.cpp
extern const LibraryFunction kSyevd, kEigh;             // eigh.cpp
extern const LibraryFunction kGehrd, kSytrd;            // hessenberg.cpp
extern const LibraryFunction kGeev;                     // eig.cpp
extern const LibraryFunction kGees;                     // gees.cpp
extern const LibraryFunction kGeqp3;                    // geqp3.cpp
extern const LibraryFunction kGtsv;                     // tridiagonal.cpp
extern const LibraryFunction kGesdd;                    // svd.cpp
extern const LibraryFunction kGetrf, kLuDecomposition;  // lu.cpp

/// A number of the configuration, which is the text of a dictionary: `{uplo = 76 : ui8}`; booleans
/// are 0 or 1.
[[nodiscard]] std::int64_t setting(const Op& op, std::string_view name);

void require_operands(const Op& op, std::span<const TensorType> operands, std::size_t count);
/// Requires two dimensions at least.
void require_matrices(const Op& op, const TensorType& type);
/// Requires as many rows as columns.
void require_square(const Op& op, const TensorType& type);
/// Requires an operand to be of this type.
void require_type(const Op& op, const TensorType& found, const TensorType& expected);

/// Requires the list of layouts of this name, if there is one, to be as LAPACK takes matrices:
/// column after column, batches outermost. `batch` is the number of their dimensions.
void require_columns(const Op& op, std::string_view name, std::span<const TensorType> types,
                     std::size_t batch);

/// All dimensions but the last two.
[[nodiscard]] Shape batch_of(const TensorType& matrices);
/// Those of the matrices and then these sizes.
[[nodiscard]] TensorType of_batch(const TensorType& matrices, DType dtype, const Shape& sizes);
/// An i32 for each matrix.
[[nodiscard]] TensorType info_type(const TensorType& matrices);

/// One matrix on the host.
struct HostMatrix {
  std::size_t rows, columns;
  std::vector<std::complex<double>> elements;

  HostMatrix(std::size_t m, std::size_t n) : rows(m), columns(n), elements(m * n) {}
  /// The matrix of this number in a batch.
  HostMatrix(const HostTensor& tensor, std::size_t number);
  void write_to(HostTensor& tensor, std::size_t number) const;
  [[nodiscard]] std::complex<double>& at(std::size_t i, std::size_t k) {
    return elements[i * columns + k];
  }
  [[nodiscard]] const std::complex<double>& at(std::size_t i, std::size_t k) const {
    return elements[i * columns + k];
  }
  [[nodiscard]] HostMatrix adjoint() const;
};
/// How many matrices there are.
[[nodiscard]] std::size_t matrices_in(const TensorType& type);

}  // namespace superstep
