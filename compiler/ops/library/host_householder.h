#pragma once

#include <complex>
#include <vector>

#include "compiler/ops/library/function.h"

namespace superstep {

/// Puts R and the reflectors in place of A, as LAPACK's geqrf does; their taus.
std::vector<std::complex<double>> host_householder(HostMatrix& a);

/// H0 H1 ... C, or the adjoint product, one reflector after the other.
void host_reflect(const HostMatrix& packed, const std::vector<std::complex<double>>& taus,
                  bool adjoint, HostMatrix& c);

}  // namespace superstep
