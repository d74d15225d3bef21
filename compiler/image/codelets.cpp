#include "compiler/image/codelets.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "compiler/vertex/add_parts.h"
#include "compiler/vertex/amp_transpose.h"
#include "compiler/vertex/append_runs.h"
#include "compiler/vertex/half_transpose.h"

namespace superstep {
namespace {

struct Generate {
  const MachineConfig& machine;

  vertex::Codelet operator()(const ElementwiseSpec& spec) const {
    return vertex::elementwise(machine, spec.expression, spec.outputs, spec.inputs);
  }
  vertex::Codelet operator()(const ReduceSpec& spec) const {
    const auto make = spec.rows ? vertex::reduce_rows : vertex::reduce;
    return make(machine, spec.expression, spec.outputs, spec.dtypes);
  }
  vertex::Codelet operator()(const CopySpec& spec) const {
    return vertex::copy_boxes(machine, spec.element_bytes);
  }
  vertex::Codelet operator()(const AppendSpec& spec) const {
    return vertex::append_runs(machine, spec.element_bytes);
  }
  vertex::Codelet operator()(const MatmulSpec& spec) const {
    return vertex::matmul(machine, spec.input, spec.output);
  }
  vertex::Codelet operator()(const AmpProductSpec& spec) const {
    return vertex::amp_product(spec.product);
  }
  vertex::Codelet operator()(const AddPartsSpec& spec) const {
    return vertex::add_parts(spec.parts);
  }
  vertex::Codelet operator()(const AmpTransposeSpec&) const { return vertex::amp_transpose(); }
  vertex::Codelet operator()(const HalfTransposeSpec&) const { return vertex::half_transpose(); }
};

}  // namespace

CodeletLibrary::CodeletLibrary(const MachineConfig& machine,
                               const std::vector<CodeletSpec>& specs) {
  std::map<std::string, std::uint32_t> by_name;
  for (const CodeletSpec& spec : specs) {
    vertex::Codelet codelet = std::visit(Generate{machine}, spec);
    const auto [at, is_new] =
        by_name.try_emplace(codelet.name, static_cast<std::uint32_t>(codelets_.size()));
    numbers_.push_back(at->second);
    if (is_new) codelets_.push_back(codelet);
    by_spec_.push_back(std::move(codelet));
  }
}

std::uint32_t CodeletLibrary::stack_bytes() const {
  std::uint32_t bytes = 0;
  for (const vertex::Codelet& codelet : codelets_) bytes = std::max(bytes, codelet.stack_bytes);
  return bytes;
}

}  // namespace superstep
