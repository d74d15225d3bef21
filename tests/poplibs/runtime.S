// What PopLibs' assembly calls and does not define: a C++ function of PopLibs, and a function of the
// vendor's runtime. They take the registers that the callers use.

// bool popops::checkAccuracyWhenCastComputeImpl<float, half>(float input, float tolerance): whether
// the error of input as f16 is less than tolerance * |input|. $a0, $a1 to $m0; clears $FP_CTL.
.globl _ZN6popops32checkAccuracyWhenCastComputeImplIfDhEEbT_f
.type _ZN6popops32checkAccuracyWhenCastComputeImplIfDhEEbT_f, @function
.section .text.checkAccuracyWhenCast, "ax"
.align 8
.worker
_ZN6popops32checkAccuracyWhenCastComputeImplIfDhEEbT_f:
  uput $FP_CTL, $azero
  f32absadd $a2, $a0, $azero
  f32mul $a1, $a2, $a1
  f32tof16 $a2, $a0
  f16tof32 $a2, $a2
  f32sub $a2, $a2, $a0
  f32absadd $a2, $a2, $azero
  f32cmplt $a2, $a2, $a1
  atom $m0, $a2
  and $m0, $m0, 1
  br $lr
.size _ZN6popops32checkAccuracyWhenCastComputeImplIfDhEEbT_f, . - _ZN6popops32checkAccuracyWhenCastComputeImplIfDhEEbT_f

// Copies $m8 bytes from $m0 to $m1, 8 or 4 at a time where both are aligned, else one by one:
// memory is written in words.
.globl _Longmemcpy_entry
.type _Longmemcpy_entry, @function
.section .text.Longmemcpy, "ax"
.align 8
.worker
_Longmemcpy_entry:
  or $m2, $m0, $m1
  and $m3, $m2, 7
  brnz $m3, .Lwords
  shr $m4, $m8, 3
  and $m8, $m8, 7
  rpt $m4, (2f - 1f) / 8 - 1
1:
  {ld64step $a0:1, $mzero, $m0+=, 1 ; fnop}
  {st64step $a0:1, $mzero, $m1+=, 1 ; fnop}
2:
.Lwords:
  and $m3, $m2, 3
  brnz $m3, .Lbytes
  shr $m4, $m8, 2
  and $m8, $m8, 3
  brz $m4, .Lbytes
  add $m4, $m4, -1
3:
  ld32step $m3, $mzero, $m0+=, 1
  st32step $m3, $mzero, $m1+=, 1
  brnzdec $m4, 3b
.Lbytes:
  brz $m8, .Ldone
  add $m8, $m8, -1
4:
  // The byte's word, with the byte in its place.
  ldz8step $m2, $mzero, $m0+=, 1
  andc $m3, $m1, 3
  and $m4, $m1, 3
  shl $m4, $m4, 3
  ld32 $m5, $m3, $mzero, 0
  setzi $m6, 0xff
  shl $m6, $m6, $m4
  andc $m5, $m5, $m6
  shl $m2, $m2, $m4
  or $m5, $m5, $m2
  st32 $m5, $m3, $mzero, 0
  add $m1, $m1, 1
  brnzdec $m8, 4b
.Ldone:
  br $lr
.size _Longmemcpy_entry, . - _Longmemcpy_entry
