// out = factor * in, f32 by twos, on one worker.
//
// Vertex state: in (span), out (pointer), factor (float).
.section .text.scale, "ax"
.globl scale
.type scale, @function
.align 8
.worker
scale:
    ld32 $m0, $mvertex_base, $mzero, 0
    ld32 $m1, $mvertex_base, $mzero, 1
    ld32 $m2, $mvertex_base, $mzero, 2
    ld32 $a6, $mvertex_base, $mzero, 3
    shr $m1, $m1, 1
    ld64step $a0:1, $mzero, $m0+=, 1
    nop
    rpt $m1, ((2f - 1f) / 8) - 1
1:
    // The next pair is loaded while this one is multiplied; the last load is one too many.
    { ld64step $a0:1, $mzero, $m0+=, 1 ; f32v2mul $a2:3, $a6:B, $a0:1 }
    { st64step $a2:3, $mzero, $m2+=, 1 ; fnop }
2:
    exitz $mzero
.size scale, . - scale
