// A 1 x 1 convolution of f16 by the AMP onto f32 partial sums: 16 channels in, 8 out. State: inputs,
// partial sums, results, positions a worker + 4. Weights are those of the tile.
.align 8
worker:
  get $m0, $WSR
  and $m0, $m0, 7
  ld32 $m1, $mvertex_base, $mzero, 0
  ld32 $m2, $mvertex_base, $mzero, 1
  ld32 $m3, $mvertex_base, $mzero, 2
  ld32 $m4, $mvertex_base, $mzero, 3
  // Inputs, partial sums and results of a position take 32 bytes each.
  shl $m5, $m4, 5
  mul $m0, $m0, $m5
  add $m1, $m1, $m0
  add $m2, $m2, $m0
  add $m3, $m3, $m0
  tapack $m6:7, $m1, $m2, $m3
  setzi $m8, 1
  add $m4, $m4, -4
  // The first results come four positions late.
  ld2x64pace $a0:1, $a2:3, $m6:7+=, $mzero, 0b0000
  { ld2x64pace $a0:1, $a2:3, $m6:7+=, $mzero, 0b0000; f16v4sisoamp $a4:5, $a0:1, $a2:3, 0 }
  { ld2x64pace $a0:1, $a2:3, $m6:7+=, $mzero, 0b0000; f16v4sisoamp $a6:7, $a0:1, $a2:3, 1 }
  { ld2x64pace $a0:1, $a2:3, $m6:7+=, $mzero, 0b0000; f16v4sisoamp $a4:5, $a0:1, $a2:3, 2 }
  { ld2x64pace $a0:1, $a2:3, $m6:7+=, $mzero, 0b0000; f16v4sisoamp $a6:7, $a0:1, $a2:3, 3 }
  .align 8
  nop
  rpt $m4, 3
  { ld2xst64pace $a0:3, $a4:5, $m6:7+=, $mzero, 0b000000; f16v4sisoamp $a4:5, $a0:1, $a2:3, 0 }
  { ld2xst64pace $a0:3, $a6:7, $m6:7+=, $mzero, 0b000000; f16v4sisoamp $a6:7, $a0:1, $a2:3, 1 }
  { ld2xst64pace $a0:3, $a4:5, $m6:7+=, $mzero, 0b000000; f16v4sisoamp $a4:5, $a0:1, $a2:3, 2 }
  { ld2xst64pace $a0:3, $a6:7, $m6:7+=, $mzero, 0b000000; f16v4sisoamp $a6:7, $a0:1, $a2:3, 3 }
  st64pace $a4:5, $m6:7+=, $mzero, 0b00
  st64pace $a6:7, $m6:7+=, $mzero, 0b00
  exitz $mzero
