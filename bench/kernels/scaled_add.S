// a += k b for vectors of f32, of whose pairs each worker takes every sixth. State: a, b, pairs a
// worker, k. a and b lie in different elements.
.align 8
worker:
  get $m0, $WSR
  and $m0, $m0, 7
  ld32 $m1, $mvertex_base, $mzero, 0
  ld32 $m2, $mvertex_base, $mzero, 1
  ld32 $m3, $mvertex_base, $mzero, 2
  { ld32 $a7, $mvertex_base, $mzero, 3; setzi $a6, 8 }
  { shl $m0, $m0, 3; uput $FP_CLR, $a6 }
  { add $m1, $m1, $m0; uput $TAS, $a7 }
  add $m2, $m2, $m0
  tapack $m4:5, $m1, $m2, $mzero
  setzi $m7, 6
  ld2x64pace $a0:1, $a4:5, $m4:5+=, $m7, 0b0101
  { add $m3, $m3, -1; f32v2axpy $azeros, $a4:5, $a0:1 }
  .align 8
  nop
  rpt $m3, 1
  { ld2x64pace $a0:1, $a4:5, $m4:5+=, $m7, 0b0101; f32v2axpy $a2:3, $azeros, $azeros }
  { st64step $a2:3, $mzero, $m1+=, $m7; f32v2axpy $azeros, $a4:5, $a0:1 }
  f32v2axpy $a2:3, $azeros, $azeros
  st64step $a2:3, $mzero, $m1+=, $m7
  exitz $mzero
