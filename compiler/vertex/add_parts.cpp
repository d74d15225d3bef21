#include "compiler/vertex/add_parts.h"

#include "compiler/vertex/worker_code.h"
#include "isa/assembler.h"

namespace superstep::vertex {

Codelet add_parts(const MachineConfig& machine) {
  // $m0 runs through the parts, $m1 is the group's place in the first one, $m2 that of its sums,
  // $m3 pairs after the next, $m4 parts - 1, $m5 pitch. Reading two pairs of accumulators leaves
  // zeros behind. The body of `rpt` begins at a multiple of 8.
  static constexpr const char* kText = R"(
    { ld32 $m3, $mvertex_base, $mzero, 3 ; setzi $a0, 8 }
    brz $m3, done
    { ld32 $m4, $mvertex_base, $mzero, 0 ; uput $FP_CLR, $a0 }
    ld32 $m1, $mvertex_base, $mzero, 1
    ld32 $m2, $mvertex_base, $mzero, 2
    ld32 $m5, $mvertex_base, $mzero, 4
    add $m4, $m4, -1
    { add $m3, $m3, -1 ; fnop }
    mov $m0, $m1
    group:
    ld128step $a0:3, $mzero, $m0+=, $m5
    rpt $m4, 0
    { ld128step $a0:3, $mzero, $m0+=, $m5 ; f32v4acc $a0:3 }
    { add $m1, $m1, 16 ; f32v4acc $a0:3 }
    { mov $m0, $m1 ; f32v2gina $a4:5, $azeros, 0 }
    { st64step $a4:5, $mzero, $m2+=, 1 ; f32v2gina $a6:7, $azeros, 0 }
    brz $m3, done
    add $m3, $m3, -1
    st64step $a6:7, $mzero, $m2+=, 1
    brnzdec $m3, group
    done: exitz $mzero
)";
  const Assembly assembly = assemble(kText, "add_parts", machine);
  Codelet codelet;
  codelet.words = assembly.words;
  codelet.relocations = assembly.relocations;
  codelet.name = content_name("add_parts", codelet.words);
  return codelet;
}

std::int64_t add_parts_slots(std::int64_t parts, std::int64_t pairs) {
  if (pairs == 0) return 3;
  // Until the first group, and the exit; a group of one pair leaves after its store.
  const std::int64_t half = parts + 5, whole = parts + 8;
  return 9 + pairs / 2 * whole + pairs % 2 * half + 1;
}

}  // namespace superstep::vertex
