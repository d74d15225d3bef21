#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "compiler/vertex/codelet.h"
#include "compiler/vertex/interpret.h"
#include "tests/vertex/vertex_run.h"
#include "tests/vertex/values.h"

namespace superstep::vertex {
namespace {

const std::vector<DType> kFloats = {DType::kF16, DType::kF32};
const std::vector<DType> kIntegers = {DType::kI8, DType::kI16, DType::kI32,
                                      DType::kU8, DType::kU16, DType::kU32};
const std::vector<DType> kAll = {DType::kI1,  DType::kI8,  DType::kI16, DType::kI32, DType::kU8,
                                 DType::kU16, DType::kU32, DType::kF16, DType::kF32};

struct Case {
  Expression expression;
  std::vector<Node> outputs;
  std::vector<DType> inputs;
  std::vector<Access> access;
  std::int64_t elements = 37;
  std::uint32_t workers = 6;
  std::uint64_t units_in_last_place = 0;
  bool data_decides = false;
};

std::uint64_t distance(const HostTensor& got, const HostTensor& want, std::size_t i) {
  const auto ordered = [](std::int64_t bits, std::int64_t sign) {
    return bits & sign ? sign - bits : bits;
  };
  std::int64_t a = 0, b = 0;
  if (got.type.dtype == DType::kF32) {
    a = ordered(got.get<std::uint32_t>(i), 0x80000000),
    b = ordered(want.get<std::uint32_t>(i), 0x80000000);
  } else if (got.type.dtype == DType::kF16) {
    a = ordered(got.get<std::uint16_t>(i), 0x8000), b = ordered(want.get<std::uint16_t>(i), 0x8000);
  } else {
    const std::size_t size = size_of(got.type.dtype);
    std::memcpy(&a, got.data.data() + i * size, size);
    std::memcpy(&b, want.data.data() + i * size, size);
  }
  return static_cast<std::uint64_t>(std::abs(a - b));
}

void check(const Case& c, const std::string& what) {
  SCOPED_TRACE(what + ", " + std::to_string(c.elements) + " elements, " +
               std::to_string(c.workers) + " workers");
  VertexRun tile(c.workers);
  std::vector<HostTensor> inputs;
  std::vector<std::uint32_t> state = {static_cast<std::uint32_t>(c.elements)};
  for (const Node output : c.outputs) {
    state.push_back(tile.put(HostTensor({c.expression.dtype(output), {c.elements}})));
  }
  std::uint32_t seed = 1;
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    const bool scalar = c.access[i] == Access::kScalar;
    inputs.push_back(sample({c.inputs[i], scalar ? Shape{} : Shape{c.elements}}, seed++));
    state.push_back(tile.put(inputs.back()));
  }
  if (c.data_decides) tile.let_data_decide();
  tile.run(elementwise(tile.machine(), c.expression, c.outputs, c.access), state);
  for (std::size_t o = 0; o < c.outputs.size(); ++o) {
    HostTensor want = evaluate_expression(c.expression, c.outputs[o], inputs);
    const HostTensor got = tile.get(state[1 + o], {want.type.dtype, {c.elements}});
    int reported = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(c.elements) && reported < 3; ++i) {
      if (distance(got, want, i) <= c.units_in_last_place) continue;
      ++reported;
      std::string operands;
      for (const HostTensor& input : inputs)
        operands += " " + hex(input, input.type.shape.empty() ? 0 : i);
      ADD_FAILURE() << "output " << o << " element " << i << " is" << hex(got, i) << ", not"
                    << hex(want, i) << ", of" << operands;
    }
  }
}

Case unary(Primitive p, DType dtype) {
  Case c;
  c.outputs = {c.expression.apply(p, {c.expression.input(0, dtype)})};
  c.inputs = {dtype};
  c.access = {Access::kVector};
  return c;
}

Case binary(Primitive p, DType dtype) {
  Case c;
  c.outputs = {c.expression.apply(p, {c.expression.input(0, dtype), c.expression.input(1, dtype)})};
  c.inputs = {dtype, dtype};
  c.access = {Access::kVector, Access::kVector};
  return c;
}

std::string title(Primitive p, DType dtype) {
  return "primitive " + std::to_string(static_cast<int>(p)) + " of " + std::string(name_of(dtype));
}

void check_all(const std::vector<Primitive>& primitives, const std::vector<DType>& dtypes, bool two,
               std::int64_t elements, std::uint64_t units = 0) {
  for (const Primitive p : primitives) {
    for (const DType dtype : dtypes) {
      Case c = two ? binary(p, dtype) : unary(p, dtype);
      c.elements = elements;
      c.units_in_last_place = units;
      c.data_decides = p == Primitive::kRem && is_float(dtype);
      check(c, title(p, dtype));
    }
  }
}

TEST(Elementwise, FloatArithmeticMatchesTheHost) {
  check_all({Primitive::kAdd, Primitive::kSub, Primitive::kMul, Primitive::kDiv, Primitive::kMin,
             Primitive::kMax},
            kFloats, true, 1001);
  check_all(
      {Primitive::kNeg, Primitive::kAbs, Primitive::kFloor, Primitive::kCeil, Primitive::kRoundEven,
       Primitive::kRoundAway, Primitive::kTruncate, Primitive::kIsFinite, Primitive::kSqrt},
      kFloats, false, 501);
}

TEST(Elementwise, FloatRemainderIsExact) { check_all({Primitive::kRem}, kFloats, true, 2000); }

TEST(Elementwise, TranscendentalsAreNearTheHost) {
  check_all({Primitive::kExp, Primitive::kLog, Primitive::kRsqrt, Primitive::kReciprocal,
             Primitive::kTanh, Primitive::kSigmoid},
            kFloats, false, 501, 1);
}

TEST(Elementwise, IntegerArithmeticWraps) {
  check_all({Primitive::kAdd, Primitive::kSub, Primitive::kMul, Primitive::kMin, Primitive::kMax,
             Primitive::kAnd, Primitive::kOr, Primitive::kXor, Primitive::kShl,
             Primitive::kShrLogical, Primitive::kShrArithmetic},
            kIntegers, true, 701);
  check_all(
      {Primitive::kNeg, Primitive::kAbs, Primitive::kNot, Primitive::kClz, Primitive::kPopcount},
      kIntegers, false, 301);
}

TEST(Elementwise, ShiftsByOneAmountForAllElements) {
  for (const DType dtype : kIntegers) {
    for (const Primitive p : {Primitive::kShl, Primitive::kShrLogical, Primitive::kShrArithmetic}) {
      const std::uint64_t width = 8 * size_of(dtype);
      for (const std::uint64_t amount : {std::uint64_t{0}, std::uint64_t{3}, width - 1, width}) {
        Case known;
        const Node x = known.expression.input(0, dtype);
        known.outputs = {known.expression.apply(p, {x, known.expression.constant(dtype, amount)})};
        known.inputs = {dtype};
        known.access = {Access::kVector};
        check(known, title(p, dtype) + " by " + std::to_string(amount));
      }
      Case scalar = binary(p, dtype);
      scalar.access = {Access::kVector, Access::kScalar};
      check(scalar, title(p, dtype) + " by a scalar");
    }
  }
}

TEST(Elementwise, IntegerDivisionIsExact) {
  check_all({Primitive::kDiv, Primitive::kRem}, kIntegers, true, 3000);
}

TEST(Elementwise, ComparisonsGiveOneByteEach) {
  check_all({Primitive::kEq, Primitive::kNe, Primitive::kLt, Primitive::kLe, Primitive::kGt,
             Primitive::kGe},
            kAll, true, 401);
}

TEST(Elementwise, BooleanLogic) {
  check_all({Primitive::kAnd, Primitive::kOr, Primitive::kXor, Primitive::kMin, Primitive::kMax},
            {DType::kI1}, true, 21);
  check_all({Primitive::kNot}, {DType::kI1}, false, 21);
}

TEST(Elementwise, ConvertsBetweenAnyTwoDtypes) {
  for (const DType from : kAll) {
    for (const DType to : kAll) {
      Case c;
      c.outputs = {c.expression.convert(c.expression.input(0, from), to)};
      c.inputs = {from};
      c.access = {Access::kVector};
      c.elements = 333;
      check(c, std::string(name_of(from)) + " to " + std::string(name_of(to)));
    }
  }
}

TEST(Elementwise, BitcastKeepsBits) {
  for (const DType from : kAll) {
    for (const DType to : kAll) {
      if (size_of(from) != size_of(to) || to == DType::kI1) continue;
      Case c;
      c.outputs = {c.expression.bitcast(c.expression.input(0, from), to)};
      c.inputs = {from};
      c.access = {Access::kVector};
      check(c, std::string(name_of(from)) + " as " + std::string(name_of(to)));
    }
  }
}

TEST(Elementwise, SelectMovesBits) {
  for (const DType dtype : kAll) {
    for (const bool by_comparison : {false, true}) {
      Case c;
      const Node x = c.expression.input(1, dtype), y = c.expression.input(2, dtype);
      Node condition = c.expression.input(0, DType::kI1);
      if (by_comparison) condition = c.expression.apply(Primitive::kLt, {x, y});
      c.outputs = {c.expression.apply(Primitive::kSelect, {condition, x, y})};
      c.inputs = {DType::kI1, dtype, dtype};
      c.access = {Access::kVector, Access::kVector, Access::kVector};
      c.elements = 130;
      check(c, "select of " + std::string(name_of(dtype)));
    }
  }
}

TEST(Elementwise, AnySizeOnAnyNumberOfWorkers) {
  for (const std::uint32_t workers : {1U, 4U, 6U, 8U}) {
    for (const std::int64_t elements :
         {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 23, 24, 25, 31, 33, 64, 1000}) {
      for (const DType dtype : {DType::kF32, DType::kF16, DType::kI8, DType::kI32}) {
        Case c = binary(Primitive::kSub, dtype);
        c.workers = workers;
        c.elements = elements;
        check(c, "sub of " + std::string(name_of(dtype)));
      }
      for (const DType dtype : {DType::kF32, DType::kF16, DType::kI32}) {
        Case c = binary(Primitive::kLt, dtype);
        c.workers = workers;
        c.elements = elements;
        check(c, "less of " + std::string(name_of(dtype)));
      }
    }
  }
}

// Two functions, of which every loop, of pairs too, calls each at two places.
TEST(Elementwise, FunctionsAreCalledForTheElementsThatNeedThem) {
  Expression square, root;
  const Node s = square.input(0, DType::kF32), r = root.input(0, DType::kF32);
  square.apply(Primitive::kMul, {s, s});
  const Node bits = root.bitcast(r, DType::kI32);
  const Node half = root.apply(Primitive::kShrArithmetic, {bits, root.constant(DType::kI32, 1)});
  root.bitcast(half, DType::kF32);
  for (const bool in_pairs : {true, false}) {
    Case c;
    Expression& e = c.expression;
    const Node x = e.input(0, DType::kF32), y = e.input(1, DType::kF32);
    Node result = e.apply(Primitive::kMul, {x, y});
    for (const Node argument : {x, y}) {
      const Node is_great = e.apply(Primitive::kGt, {argument, e.constant_f32(2)});
      const Node is_less = e.apply(Primitive::kLt, {argument, e.constant_f32(-2)});
      result = e.apply(Primitive::kAdd, {e.call_where(is_great, result, square, argument), x});
      result = e.apply(Primitive::kSub, {e.call_where(is_less, result, root, argument), y});
    }
    EXPECT_EQ(e.functions().size(), 2U);
    if (!in_pairs) result = e.convert(result, DType::kI32);
    c.outputs = {result};
    c.inputs = {DType::kF32, DType::kF32};
    c.access = {Access::kVector, Access::kVector};
    c.data_decides = true;
    for (const std::uint32_t workers : {1U, 6U}) {
      for (const std::int64_t elements : {0, 1, 2, 3, 13, 200}) {
        c.workers = workers;
        c.elements = elements;
        check(c, in_pairs ? "pairs" : "elements");
      }
    }
  }
}

TEST(Elementwise, OutputsOfDifferentWidthsTogether) {
  for (const std::int64_t elements : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 99}) {
    Case c;
    Expression& e = c.expression;
    const Node x = e.input(0, DType::kF32), y = e.input(1, DType::kF16), z = e.input(2, DType::kI8);
    const Node wide = e.apply(Primitive::kAdd, {x, e.convert(y, DType::kF32)});
    c.outputs = {wide, e.convert(wide, DType::kI8), e.convert(wide, DType::kF16),
                 e.apply(Primitive::kLt, {e.convert(z, DType::kF32), wide}),
                 e.convert(z, DType::kI32)};
    c.inputs = {DType::kF32, DType::kF16, DType::kI8};
    c.access = {Access::kVector, Access::kVector, Access::kVector};
    c.elements = elements;
    check(c, "mixed widths");
  }
}

TEST(Elementwise, ScalarInputsAndConstantsCountForAllElements) {
  for (const DType dtype : kAll) {
    if (dtype == DType::kI1) continue;
    Case c;
    Expression& e = c.expression;
    const Node x = e.input(0, dtype), s = e.input(1, dtype);
    const Node one = e.convert(e.constant(DType::kI32, 1), dtype);
    const Node shifted = e.apply(Primitive::kAdd, {e.apply(Primitive::kMul, {s, s}), one});
    c.outputs = {e.apply(Primitive::kSub, {x, shifted}), shifted};
    c.inputs = {dtype, dtype};
    c.access = {Access::kVector, Access::kScalar};
    c.elements = 50;
    check(c, "scalar of " + std::string(name_of(dtype)));
  }
}

TEST(Elementwise, FoursOfHalvesWithScalarsAndConstants) {
  for (const std::int64_t elements : {1, 2, 3, 4, 5, 24, 25, 500}) {
    Case c;
    Expression& e = c.expression;
    const Node x = e.input(0, DType::kF16), s = e.input(1, DType::kF16);
    const Node scaled =
        e.apply(Primitive::kSub, {e.apply(Primitive::kMul, {s, x}),
                                  e.apply(Primitive::kAdd, {s, e.constant(DType::kF16, 0x3e00)})});
    const Node positive = e.apply(Primitive::kMax, {scaled, e.constant(DType::kF16, 0)});
    c.outputs = {positive, e.apply(Primitive::kSelect, {e.apply(Primitive::kIsFinite, {x}),
                                                        e.apply(Primitive::kNeg, {x}), s})};
    c.inputs = {DType::kF16, DType::kF16};
    c.access = {Access::kVector, Access::kScalar};
    c.elements = elements;
    check(c, "halves");
  }
}

// What is an f16 has four elements a turn, so that an f32 has two pairs, the last one perhaps
// empty.
TEST(Elementwise, HalvesAndSinglesTogether) {
  for (const std::int64_t elements : {1, 2, 3, 4, 5, 6, 7, 8, 25, 26, 27, 500}) {
    Case c;
    Expression& e = c.expression;
    const Node x = e.input(0, DType::kF16), y = e.input(1, DType::kF32),
               s = e.input(2, DType::kF32);
    const Node wide = e.apply(Primitive::kAdd, {e.convert(x, DType::kF32), y});
    const Node root =
        e.convert(e.apply(Primitive::kSqrt, {e.apply(Primitive::kAbs, {wide})}), DType::kF16);
    const Node above = e.apply(Primitive::kGt, {wide, s}),
               below = e.apply(Primitive::kLt, {x, root});
    c.outputs = {wide, root, e.apply(Primitive::kSelect, {above, x, root}),
                 e.apply(Primitive::kSelect, {e.apply(Primitive::kAnd, {above, below}), y, wide}),
                 e.apply(Primitive::kDiv, {x, root})};
    c.inputs = {DType::kF16, DType::kF32, DType::kF32};
    c.access = {Access::kVector, Access::kVector, Access::kScalar};
    c.elements = elements;
    check(c, "halves and singles");
  }
}

TEST(Elementwise, MoreLiveValuesThanRegisters) {
  for (const DType dtype : kAll) {
    if (dtype == DType::kI1) continue;
    Case c;
    Expression& e = c.expression;
    std::vector<Node> terms;
    for (std::uint32_t i = 0; i < 6; ++i) {
      terms.push_back(e.input(i, dtype));
      c.inputs.push_back(dtype);
      c.access.push_back(i == 5 ? Access::kScalar : Access::kVector);
    }
    for (std::size_t i = 0; i < 20; ++i)
      terms.push_back(e.apply(Primitive::kSub, {terms[i], terms[i + 3]}));
    Node total = terms[0];
    for (const Node term : terms) total = e.apply(Primitive::kAdd, {total, term});
    for (const Node term : terms) total = e.apply(Primitive::kMax, {total, term});
    c.outputs = {total};
    c.elements = 29;
    check(c, "many values of " + std::string(name_of(dtype)));
  }
}

TEST(Elementwise, ExtremesOfManyAreNotANumberWhereAnyIsNone) {
  for (const DType dtype : {DType::kF32, DType::kF16}) {
    Case c;
    Expression& e = c.expression;
    std::vector<Node> x;
    for (std::uint32_t i = 0; i < 6; ++i) {
      x.push_back(e.input(i, dtype));
      c.inputs.push_back(dtype);
      c.access.push_back(i == 5 ? Access::kScalar : Access::kVector);
    }
    const auto greater = [&](Node a, Node b) { return e.apply(Primitive::kMax, {a, b}); };
    const auto less = [&](Node a, Node b) { return e.apply(Primitive::kMin, {a, b}); };
    const Node shared = greater(x[1], x[2]), rectified = greater(x[3], e.constant(dtype, 0));
    c.outputs = {greater(greater(greater(x[0], x[1]), x[2]), x[3]),
                 less(greater(x[0], x[1]), greater(x[2], less(x[3], x[5]))),
                 e.apply(Primitive::kMul, {less(shared, x[4]), shared}),
                 greater(less(rectified, x[0]), greater(x[0], x[0]))};
    c.elements = 997;
    check(c, "extremes of many of " + std::string(name_of(dtype)));
  }
}

TEST(Elementwise, AnOutputMayLieOverAnInput) {
  for (const std::int64_t elements : {1, 2, 3, 5, 6, 7, 64, 999}) {
    Expression e;
    const Node x = e.input(0, DType::kF32);
    const Node doubled = e.apply(Primitive::kAdd, {x, x});
    const Node positive = e.apply(Primitive::kGt, {x, e.constant_f32(0)});
    VertexRun tile(6);
    const HostTensor data = sample({DType::kF32, {elements}}, 3);
    const std::uint32_t address = tile.put(data);
    const std::uint32_t flags = tile.put(HostTensor({DType::kI1, {elements}}));
    tile.run(elementwise(tile.machine(), e, {doubled, positive}, {Access::kVector}),
             {static_cast<std::uint32_t>(elements), address, flags, address});
    EXPECT_EQ(tile.get(address, data.type).data, evaluate_expression(e, doubled, {{data}}).data);
    EXPECT_EQ(tile.get(flags, {DType::kI1, {elements}}).data,
              evaluate_expression(e, positive, {{data}}).data);
  }
}

// So long that a turn makes one element of any width.
TEST(Elementwise, NarrowOutputsOfLongFormulasArePutIntoTheirWords) {
  for (const std::uint32_t workers : {1U, 6U}) {
    for (const std::int64_t elements : {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 23, 24, 25, 99}) {
      Case c;
      Expression& e = c.expression;
      const Node x = e.input(0, DType::kU32), y = e.input(1, DType::kI1);
      const Node z = e.input(2, DType::kI8);
      const Node number = e.constant(DType::kU32, 0x12345678);
      Node sum = x;
      for (std::uint32_t i = 0; i < 300; ++i) {
        sum = e.apply(i % 3 == 0 ? Primitive::kXor : Primitive::kAdd, {sum, number});
      }
      const Node is_below = e.apply(Primitive::kLt, {sum, x});
      c.outputs = {sum,
                   is_below,
                   e.convert(sum, DType::kI16),
                   e.convert(sum, DType::kI8),
                   e.apply(Primitive::kXor, {is_below, y}),
                   e.convert(z, DType::kF16)};
      c.inputs = {DType::kU32, DType::kI1, DType::kI8};
      c.access = {Access::kVector, Access::kVector, Access::kVector};
      c.elements = elements;
      c.workers = workers;
      check(c, "narrow outputs of a long formula");
      c.outputs = {c.outputs[2]};
      check(c, "halves of a long formula");
    }
  }
}

TEST(Elementwise, BytesOfLongFormulasMayLieOverBytesThatTheyRead) {
  for (const std::int64_t elements : {1, 2, 3, 5, 6, 7, 64, 999}) {
    Expression e;
    const Node x = e.input(0, DType::kI8);
    Node sum = x;
    for (std::uint32_t i = 0; i < 50; ++i) {
      sum = e.apply(Primitive::kAdd, {sum, e.apply(Primitive::kMul, {sum, x})});
    }
    VertexRun tile(6);
    const HostTensor data = sample({DType::kI8, {elements}}, 3);
    const std::uint32_t address = tile.put(data);
    tile.run(elementwise(tile.machine(), e, {sum}, {Access::kVector}),
             {static_cast<std::uint32_t>(elements), address, address});
    EXPECT_EQ(tile.get(address, data.type).data, evaluate_expression(e, sum, {{data}}).data);
  }
}

struct Repeat {
  std::uint32_t start = 0, period = 0;
};

/// Rows, columns and elements that an output of any size and place reads again and again.
void check_repeated(DType dtype, DType result, std::int64_t elements, Repeat cyclic,
                    Repeat stretched, std::uint32_t workers, bool aligned = false) {
  SCOPED_TRACE(fmt::format("{} to {}, {} elements, cyclic {} of {}, stretched {} of {}, {} workers",
                           name_of(dtype), name_of(result), elements, cyclic.start, cyclic.period,
                           stretched.start, stretched.period, workers));
  Expression e;
  const Node row = e.input(0, dtype), column = e.input(1, dtype), x = e.input(2, dtype),
             scalar = e.input(3, dtype);
  const Node term = e.apply(Primitive::kSub, {e.apply(Primitive::kAdd, {x, column}), scalar});
  const Node output = result == DType::kI1 ? e.apply(Primitive::kLt, {row, term})
                                           : e.apply(Primitive::kSub, {row, term});
  const std::vector<Access> access = {aligned ? Access::kAlignedCyclic : Access::kCyclic,
                                      aligned ? Access::kAlignedStretched : Access::kStretched,
                                      Access::kVector, Access::kScalar};
  VertexRun tile(workers);
  const std::size_t size = size_of(dtype);
  const auto n = static_cast<std::uint32_t>(elements);
  const HostTensor row_data = sample({dtype, {cyclic.period}}, 1);
  const HostTensor column_data = sample({dtype, {(stretched.start + n) / stretched.period + 1}}, 2);
  std::vector<HostTensor> inputs = {HostTensor({dtype, {elements}}),
                                    HostTensor({dtype, {elements}}), sample({dtype, {elements}}, 3),
                                    sample({dtype, {}}, 4)};
  for (std::uint32_t i = 0; i < n; ++i) {
    std::memcpy(inputs[0].data.data() + i * size,
                row_data.data.data() + (cyclic.start + i) % cyclic.period * size, size);
    std::memcpy(inputs[1].data.data() + i * size,
                column_data.data.data() + (stretched.start + i) / stretched.period * size, size);
  }
  const std::uint32_t to = tile.put(HostTensor({result, {elements}}));
  const std::vector<std::uint32_t> state = {n,
                                            to,
                                            tile.put(row_data),
                                            cyclic.start,
                                            cyclic.period,
                                            tile.put(column_data),
                                            stretched.start,
                                            stretched.period,
                                            tile.put(inputs[2]),
                                            tile.put(inputs[3])};
  tile.run(elementwise(tile.machine(), e, {output}, access), state);
  const HostTensor want = evaluate_expression(e, output, inputs);
  const HostTensor got = tile.get(to, {result, {elements}});
  for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(hex(got, i), hex(want, i)) << "element " << i;
}

TEST(Elementwise, InputsRepeatAsRowsAndColumns) {
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kI8, DType::kI16, DType::kU32}) {
    for (const DType result : {dtype, DType::kI1}) {
      for (const std::uint32_t period : {1U, 2U, 3U, 4U, 10U, 64U}) {
        for (const std::uint32_t start : {0U, period / 2, period - 1}) {
          if (start >= period) continue;
          for (const std::uint32_t workers : {1U, 6U, 8U}) {
            for (const std::int64_t elements : {0, 1, 3, 8, 61, 300})
              check_repeated(dtype, result, elements, {start, period}, {start, period}, workers);
          }
        }
      }
    }
  }
  for (const std::int64_t elements : {5, 32, 100}) {
    check_repeated(DType::kF32, DType::kF32, elements, {3, 10}, {1, 7}, 6);
    check_repeated(DType::kF32, DType::kF32, elements, {0, 32}, {10, 64}, 4);
  }
}

TEST(Elementwise, WholeTurnsOfRowsAndColumns) {
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kI8}) {
    for (const std::uint32_t period : {4U, 12U, 64U}) {
      for (const std::uint32_t start : {0U, period / 8 * 4, period - 4}) {
        for (const std::int64_t elements : {0, 1, 4, 7, 61, 300})
          check_repeated(dtype, dtype, elements, {start, period}, {start, period}, 6, true);
      }
    }
  }
}

}  // namespace
}  // namespace superstep::vertex
