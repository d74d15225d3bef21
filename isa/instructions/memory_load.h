#pragma once

#include "isa/instruction.h"
#include "isa/instructions/memory_access.h"

namespace superstep::isa {

/// What the loads leave where.
namespace loaded {
using Word = Loaded<U32, OutM<'d'>>;
using AuxWord = Loaded<U32, OutA<'d'>>;
using Pair = Loaded<U64, OutA<'d', U64>>;
using Quad = Loaded<U128, OutA<'d', U128>>;
using Byte = Loaded<std::uint8_t, OutM<'d'>, zero_extended<std::uint8_t>>;
using SignedByte = Loaded<std::uint8_t, OutM<'d'>, sign_extended<std::uint8_t>>;
using RepeatedByte = Loaded<std::uint8_t, OutA<'d'>, repeated<std::uint8_t>>;
using Half = Loaded<std::uint16_t, OutM<'d'>, zero_extended<std::uint16_t>>;
using SignedHalf = Loaded<std::uint16_t, OutM<'d'>, sign_extended<std::uint16_t>>;
using RepeatedHalf = Loaded<std::uint16_t, OutA<'d'>, repeated<std::uint16_t>>;
}  // namespace loaded

struct Ld32 : Load<loaded::Word, Imm<'i'>> {
  static constexpr Spec spec =
      main_spec("ld32 $d, $b, $o, i", "01bdoiii", "Loads a word.", Source::kMeasured);
};
struct Ld32Register : Load<loaded::Word, InM<'r'>> {
  static constexpr Spec spec =
      main_spec("ld32 $d, $b, $o, $r", "4Dbro0d9", "Loads a word.", Source::kAssumed);
};
struct Ld32Step : LoadStep<loaded::Word, SignedImm<'i'>> {
  static constexpr Spec spec = main_spec("ld32step $d, $b, $o+=, i", "1Cbdo1ii",
                                         "Loads a word, then steps the delta.", Source::kAssumed);
};
struct Ld32StepRegister : LoadStep<loaded::Word, InM<'r'>> {
  static constexpr Spec spec = main_spec("ld32step $d, $b, $o+=, $r", "47bro1d0",
                                         "Loads a word, then steps the delta.", Source::kAssumed);
};

struct Ld32A : Load<loaded::AuxWord, Imm<'i'>> {
  static constexpr Spec spec =
      worker_spec("ld32 $d, $b, $o, i", "03bdoiii", "Loads a word.", Source::kAssumed);
};
struct Ld32ARegister : Load<loaded::AuxWord, InM<'r'>> {
  static constexpr Spec spec =
      worker_spec("ld32 $d, $b, $o, $r", "4Dbro0dD", "Loads a word.", Source::kAssumed);
};
struct Ld32AStep : LoadStep<loaded::AuxWord, SignedImm<'i'>> {
  static constexpr Spec spec = worker_spec("ld32step $d, $b, $o+=, i", "1Ebdo1ii",
                                           "Loads a word, then steps the delta.", Source::kAssumed);
};
struct Ld32AStepRegister : LoadStep<loaded::AuxWord, InM<'r'>> {
  static constexpr Spec spec = worker_spec("ld32step $d, $b, $o+=, $r", "47bro1d1",
                                           "Loads a word, then steps the delta.", Source::kAssumed);
};

struct Ld64 : Load<loaded::Pair, Imm<'i'>> {
  static constexpr Spec spec = worker_spec("ld64 $d, $b, $o, i", "09bdoiii", "Loads 64 bits.");
};
struct Ld64Register : Load<loaded::Pair, InM<'r'>> {
  static constexpr Spec spec = worker_spec("ld64 $d, $b, $o, $r", "4Dbro8d1", "Loads 64 bits.");
};
struct Ld64Step : LoadStep<loaded::Pair, SignedImm<'i'>> {
  static constexpr Spec spec =
      worker_spec("ld64step $d, $b, $o+=, i", "1Ebdo2ii", "Loads 64 bits, then steps the delta.");
};
struct Ld64StepRegister : LoadStep<loaded::Pair, InM<'r'>> {
  static constexpr Spec spec =
      worker_spec("ld64step $d, $b, $o+=, $r", "47bro2d1", "Loads 64 bits, then steps the delta.");
};

struct Ld128 : Load<loaded::Quad, Imm<'i'>> {
  static constexpr Spec spec =
      worker_spec("ld128 $d, $b, $o, i", "0Bbdoiii", "Loads 128 bits from interleaved memory.");
};
struct Ld128Register : Load<loaded::Quad, InM<'r'>> {
  static constexpr Spec spec =
      worker_spec("ld128 $d, $b, $o, $r", "4Dbro8d5", "Loads 128 bits from interleaved memory.");
};
struct Ld128Step : LoadStep<loaded::Quad, SignedImm<'i'>> {
  static constexpr Spec spec =
      worker_spec("ld128step $d, $b, $o+=, i", "1EbdoAii",
                  "Loads 128 bits from interleaved memory, then steps the delta.");
};
struct Ld128StepRegister : LoadStep<loaded::Quad, InM<'r'>> {
  static constexpr Spec spec =
      worker_spec("ld128step $d, $b, $o+=, $r", "47bro2d3",
                  "Loads 128 bits from interleaved memory, then steps the delta.");
};

struct Ldz8 : Load<loaded::Byte, Imm<'i'>> {
  static constexpr Spec spec =
      main_spec("ldz8 $d, $b, $o, i", "07bdoiii", "Loads a byte, zero-extended.");
};
struct Ldz8Register : Load<loaded::Byte, InM<'r'>> {
  static constexpr Spec spec =
      main_spec("ldz8 $d, $b, $o, $r", "4Dbro1d5", "Loads a byte, zero-extended.");
};
struct Ldz8Step : LoadStep<loaded::Byte, SignedImm<'i'>> {
  static constexpr Spec spec = main_spec("ldz8step $d, $b, $o+=, i", "1Cbdo7ii",
                                         "Loads a byte, zero-extended, then steps the delta.");
};
struct Ldz8StepRegister : LoadStep<loaded::Byte, InM<'r'>> {
  static constexpr Spec spec = main_spec("ldz8step $d, $b, $o+=, $r", "47bro7d0",
                                         "Loads a byte, zero-extended, then steps the delta.");
};

struct Lds8 : Load<loaded::SignedByte, Imm<'i'>> {
  static constexpr Spec spec =
      main_spec("lds8 $d, $b, $o, i", "05bdoiii", "Loads a byte, sign-extended.");
};
struct Lds8Register : Load<loaded::SignedByte, InM<'r'>> {
  static constexpr Spec spec =
      main_spec("lds8 $d, $b, $o, $r", "4Dbro1d1", "Loads a byte, sign-extended.");
};
struct Lds8Step : LoadStep<loaded::SignedByte, SignedImm<'i'>> {
  static constexpr Spec spec = main_spec("lds8step $d, $b, $o+=, i", "1Cbdo5ii",
                                         "Loads a byte, sign-extended, then steps the delta.");
};
struct Lds8StepRegister : LoadStep<loaded::SignedByte, InM<'r'>> {
  static constexpr Spec spec = main_spec("lds8step $d, $b, $o+=, $r", "47bro5d0",
                                         "Loads a byte, sign-extended, then steps the delta.");
};

struct Ldb8 : Load<loaded::RepeatedByte, Imm<'i'>> {
  static constexpr Spec spec =
      worker_spec("ldb8 $d, $b, $o, i", "02bdoiii", "Loads a byte into all four.");
};
struct Ldb8Register : Load<loaded::RepeatedByte, InM<'r'>> {
  static constexpr Spec spec =
      worker_spec("ldb8 $d, $b, $o, $r", "4Dbro0dC", "Loads a byte into all four.");
};
struct Ldb8Step : LoadStep<loaded::RepeatedByte, SignedImm<'i'>> {
  static constexpr Spec spec = worker_spec("ldb8step $d, $b, $o+=, i", "1Ebdo7ii",
                                           "Loads a byte into all four, then steps the delta.");
};
struct Ldb8StepRegister : LoadStep<loaded::RepeatedByte, InM<'r'>> {
  static constexpr Spec spec = worker_spec("ldb8step $d, $b, $o+=, $r", "47bro7d1",
                                           "Loads a byte into all four, then steps the delta.");
};

struct Ldz16 : Load<loaded::Half, Imm<'i'>> {
  static constexpr Spec spec =
      main_spec("ldz16 $d, $b, $o, i", "06bdoiii", "Loads a half word, zero-extended.");
};
struct Ldz16Register : Load<loaded::Half, InM<'r'>> {
  static constexpr Spec spec =
      main_spec("ldz16 $d, $b, $o, $r", "4Dbro1d4", "Loads a half word, zero-extended.");
};
struct Ldz16Step : LoadStep<loaded::Half, SignedImm<'i'>> {
  static constexpr Spec spec = main_spec("ldz16step $d, $b, $o+=, i", "1Cbdo6ii",
                                         "Loads a half word, zero-extended, then steps the delta.");
};
struct Ldz16StepRegister : LoadStep<loaded::Half, InM<'r'>> {
  static constexpr Spec spec = main_spec("ldz16step $d, $b, $o+=, $r", "47bro6d0",
                                         "Loads a half word, zero-extended, then steps the delta.");
};

struct Lds16 : Load<loaded::SignedHalf, Imm<'i'>> {
  static constexpr Spec spec =
      main_spec("lds16 $d, $b, $o, i", "04bdoiii", "Loads a half word, sign-extended.");
};
struct Lds16Register : Load<loaded::SignedHalf, InM<'r'>> {
  static constexpr Spec spec =
      main_spec("lds16 $d, $b, $o, $r", "4Dbro1d0", "Loads a half word, sign-extended.");
};
struct Lds16Step : LoadStep<loaded::SignedHalf, SignedImm<'i'>> {
  static constexpr Spec spec = main_spec("lds16step $d, $b, $o+=, i", "1Cbdo4ii",
                                         "Loads a half word, sign-extended, then steps the delta.");
};
struct Lds16StepRegister : LoadStep<loaded::SignedHalf, InM<'r'>> {
  static constexpr Spec spec = main_spec("lds16step $d, $b, $o+=, $r", "47bro4d0",
                                         "Loads a half word, sign-extended, then steps the delta.");
};

struct Ldb16 : Load<loaded::RepeatedHalf, Imm<'i'>> {
  static constexpr Spec spec =
      worker_spec("ldb16 $d, $b, $o, i", "0Ebdoiii", "Loads a half word into both halves.");
};
struct Ldb16Register : Load<loaded::RepeatedHalf, InM<'r'>> {
  static constexpr Spec spec =
      worker_spec("ldb16 $d, $b, $o, $r", "4Dbro9d4", "Loads a half word into both halves.");
};
struct Ldb16Step : LoadStep<loaded::RepeatedHalf, SignedImm<'i'>> {
  static constexpr Spec spec =
      worker_spec("ldb16step $d, $b, $o+=, i", "1Ebdo6ii",
                  "Loads a half word into both halves, then steps the delta.");
};
struct Ldb16StepRegister : LoadStep<loaded::RepeatedHalf, InM<'r'>> {
  static constexpr Spec spec =
      worker_spec("ldb16step $d, $b, $o+=, $r", "47bro6d1",
                  "Loads a half word into both halves, then steps the delta.");
};

using LoadInstructions =
    List<Ld32, Ld32Register, Ld32Step, Ld32StepRegister, Ld32A, Ld32ARegister, Ld32AStep,
         Ld32AStepRegister, Ld64, Ld64Register, Ld64Step, Ld64StepRegister, Ld128, Ld128Register,
         Ld128Step, Ld128StepRegister, Ldz8, Ldz8Register, Ldz8Step, Ldz8StepRegister, Lds8,
         Lds8Register, Lds8Step, Lds8StepRegister, Ldb8, Ldb8Register, Ldb8Step, Ldb8StepRegister,
         Ldz16, Ldz16Register, Ldz16Step, Ldz16StepRegister, Lds16, Lds16Register, Lds16Step,
         Lds16StepRegister, Ldb16, Ldb16Register, Ldb16Step, Ldb16StepRegister>;

}  // namespace superstep::isa
