// Makes up as many f32 keys a worker as the state says, a power of two, and sorts them and the value
// of each by a bitonic network: compare and exchange at a distance. State: keys, values, keys a
// worker.
.align 8
worker:
  get $m0, $WSR
  and $m0, $m0, 7
  ld32 $m1, $mvertex_base, $mzero, 0
  ld32 $m2, $mvertex_base, $mzero, 1
  ld32 $m3, $mvertex_base, $mzero, 2
  shl $m4, $m3, 2
  mul $m4, $m4, $m0
  add $m1, $m1, $m4               // keys
  add $m2, $m2, $m4               // values

  // Keys from 1 to 2, other ones each time.
  ld32 $m5, $m1, $mzero, 0
  add $m5, $m5, $m0
  setzi $m8, 0x3f800
  shl $m8, $m8, 12
  mov $m4, $m1
  mov $m7, $m2
  add $m6, $m3, -1
make:
  shl $m9, $m5, 13
  xor $m5, $m5, $m9
  shr $m9, $m5, 17
  xor $m5, $m5, $m9
  shl $m9, $m5, 5
  xor $m5, $m5, $m9
  add $m5, $m5, 0x6d2b
  shr $m9, $m5, 9
  or $m9, $m9, $m8
  st32step $m9, $mzero, $m4+=, 1
  st32step $m9, $mzero, $m7+=, 1
  brnzdec $m6, make

  setzi $m4, 2                    // runs of this length become sorted, up and down in turn
merge:
  shr $m5, $m4, 1                 // the distance
pass:
  mov $m6, $mzero                 // the first key of a block of twice the distance
block:
  shl $m10, $m6, 2
  add $m7, $m1, $m10
  add $m8, $m2, $m10
  add $m9, $m5, -2                // pairs of the block, but for two
  and $m10, $m6, $m4
  ld32 $a0, $m7, $mzero, 0
  ld32 $a1, $m7, $mzero, $m5
  brnz $m10, down

.macro exchange compare
  { brneg $m9, 3f; \compare $a6, $a0, $a1 }
1:
  atom $m10, $a6
  brnz $m10, 2f
  add $m7, $m7, 4
  ld32 $a0, $m7, $mzero, 0
  ld32 $a1, $m7, $mzero, $m5
  { ld32step $mzero, $mzero, $m8+=, 1; \compare $a6, $a0, $a1 }
  brnzdec $m9, 1b
  bri 3f
2:
  st32 $a0, $m7, $mzero, $m5
  st32step $a1, $mzero, $m7+=, 1
  ld32 $a0, $m7, $mzero, 0
  ld32 $a1, $m7, $mzero, $m5
  { ld32 $a2, $m8, $mzero, 0; \compare $a6, $a0, $a1 }
  ld32 $a3, $m8, $mzero, $m5
  st32 $a2, $m8, $mzero, $m5
  st32step $a3, $mzero, $m8+=, 1
  brnzdec $m9, 1b
3:
  // The last pair: nothing is loaded for one behind it.
  atom $m10, $a6
  brz $m10, next
  st32 $a0, $m7, $mzero, $m5
  st32 $a1, $m7, $mzero, 0
  ld32 $a2, $m8, $mzero, 0
  ld32 $a3, $m8, $mzero, $m5
  st32 $a2, $m8, $mzero, $m5
  st32 $a3, $m8, $mzero, 0
  bri next
.endm

up:
  exchange f32cmpgt
down:
  exchange f32cmplt
next:
  add $m6, $m6, $m5
  add $m6, $m6, $m5
  cmpult $m10, $m6, $m3
  brnz $m10, block
  shr $m5, $m5, 1
  brnz $m5, pass
  shl $m4, $m4, 1
  cmpult $m10, $m3, $m4
  brz $m10, merge
  exitz $mzero
