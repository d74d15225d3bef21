// Fills a part of a vector a worker with one f32. State: vector, words a
// worker, value.
.align 8
worker:
  get $m0, $WSR
  and $m0, $m0, 7
  ld32 $m1, $mvertex_base, $mzero, 0
  ld32 $m2, $mvertex_base, $mzero, 1
  ld32 $a2, $mvertex_base, $mzero, 2
  shl $m2, $m2, 2
  mul $m0, $m0, $m2
  add $m1, $m1, $m0
  // An odd word in front of the pairs.
  and $m0, $m1, 4
  brz $m0, aligned
  st32step $a2, $mzero, $m1+=, 1
  add $m2, $m2, -4
aligned:
  { shr $m3, $m2, 3; mov $a3, $a2 }
  .align 8
  nop
  rpt $m3, 0
  { st64step $a2:3, $mzero, $m1+=, 1; fnop }
  // And one behind them.
  and $m0, $m2, 4
  brz $m0, done
  st32step $a2, $mzero, $m1+=, 1
done:
  exitz $mzero
