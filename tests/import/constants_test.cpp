#include <gtest/gtest.h>

#include <bit>
#include <chrono>
#include <cmath>
#include <limits>

#include "tests/import/importing.h"

namespace superstep {
namespace {

HostTensor constant(const std::string& text) {
  const Op op = first_op("%0 = stablehlo.constant " + text);
  return std::get<SharedTensor>(op.attributes.at("value")).get();
}

template <class T>
std::vector<T> elements(const HostTensor& tensor) {
  std::vector<T> out;
  for (std::size_t i = 0; i < tensor.data.size() / sizeof(T); ++i) out.push_back(tensor.get<T>(i));
  return out;
}

TEST(Constants, SplatFillsTheTensor) {
  EXPECT_EQ(elements<float>(constant("dense<1.500000e+00> : tensor<2x2xf32>")),
            (std::vector<float>{1.5f, 1.5f, 1.5f, 1.5f}));
  EXPECT_EQ(elements<std::int32_t>(constant("dense<-7> : tensor<i32>")),
            std::vector<std::int32_t>{-7});
}

TEST(Constants, ListsAreRowMajor) {
  EXPECT_EQ(elements<float>(constant("dense<[[1.0, -2.5e-1, 3.0],\n [4.0, 5.0, 6.0]]> : "
                                     "tensor<2x3xf32>")),
            (std::vector<float>{1.0f, -0.25f, 3.0f, 4.0f, 5.0f, 6.0f}));
}

TEST(Constants, EmptyTensorsHaveNoElements) {
  EXPECT_TRUE(constant("dense<> : tensor<0xf32>").data.empty());
  EXPECT_TRUE(constant("dense<1.0> : tensor<2x0xf32>").data.empty());
  EXPECT_TRUE(constant("dense<[[], []]> : tensor<2x0xf32>").data.empty());
}

TEST(Constants, HexadecimalFloatsAreBitPatterns) {
  EXPECT_EQ(elements<float>(constant("dense<0xFF800000> : tensor<f32>")),
            std::vector<float>{-INFINITY});
  EXPECT_EQ(elements<std::uint32_t>(constant("dense<[0x7FC00000, 0x80000000]> : tensor<2xf32>")),
            (std::vector<std::uint32_t>{0x7fc00000, 0x80000000}));
  EXPECT_EQ(elements<std::uint16_t>(constant("dense<0xFC00> : tensor<f16>")),
            std::vector<std::uint16_t>{0xfc00});
}

TEST(Constants, WideNumbersKeepAllTheirBits) {
  EXPECT_EQ(
      elements<std::int64_t>(constant("dense<[-9223372036854775808, 5000000000]> : tensor<2xi64>")),
      (std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::min(), 5000000000}));
  EXPECT_EQ(elements<std::uint64_t>(constant("dense<18446744073709551615> : tensor<2xui64>")),
            (std::vector<std::uint64_t>{~std::uint64_t{0}, ~std::uint64_t{0}}));
  EXPECT_EQ(elements<double>(constant("dense<[0.1, 0xFFF0000000000000]> : tensor<2xf64>")),
            (std::vector<double>{0.1, -INFINITY}));
}

TEST(Constants, ComplexNumbersAreTwoFloats) {
  EXPECT_EQ(elements<float>(constant("dense<[(1.0,-2.5), (0x7F800000,3.0)]> : "
                                     "tensor<2xcomplex<f32>>")),
            (std::vector<float>{1, -2.5, INFINITY, 3}));
  EXPECT_EQ(elements<float>(constant("dense<(1.0,2.0)> : tensor<2xcomplex<f32>>")),
            (std::vector<float>{1, 2, 1, 2}));
  EXPECT_EQ(elements<float>(constant("dense<\"0x0000803F00000040\"> : tensor<complex<f32>>")),
            (std::vector<float>{1, 2}));
  EXPECT_EQ(elements<double>(constant("dense<[(0.1,-2.5), (0x7FF0000000000000,3.0)]> : "
                                      "tensor<2xcomplex<f64>>")),
            (std::vector<double>{0.1, -2.5, INFINITY, 3}));
  EXPECT_EQ(elements<double>(constant("dense<(0.1,2.0)> : tensor<2xcomplex<f64>>")),
            (std::vector<double>{0.1, 2, 0.1, 2}));
}

TEST(Constants, ShortFloatsOfEightBitsOfExponentAreRoundedToNearestEven) {
  EXPECT_EQ(elements<std::uint16_t>(
                constant("dense<[1.0, -2.0, 1.00390625, 1.01171875, 3.39e38, 0xFF80, 1.0e-40]> : "
                         "tensor<7xbf16>")),
            (std::vector<std::uint16_t>{0x3f80, 0xc000, 0x3f80, 0x3f82, 0x7f7f, 0xff80, 0x0001}));
}

TEST(Constants, HalvesAreRoundedToNearestEven) {
  // 1 + 2^-11 and 1 + 3*2^-11 are ties; 65519 is below the tie with infinity; 2^-25 ties with zero.
  EXPECT_EQ(elements<std::uint16_t>(
                constant("dense<[1.0, -2.0, 1.00048828125, 1.00146484375, 65504.0, 65519.0, "
                         "65520.0, 5.9604644775390625e-8, 2.98023223876953125e-8, "
                         "6.097555160522461e-5, 6.103515625e-5]> : tensor<11xf16>")),
            (std::vector<std::uint16_t>{0x3c00, 0xc000, 0x3c00, 0x3c02, 0x7bff, 0x7bff, 0x7c00,
                                        0x0001, 0x0000, 0x03ff, 0x0400}));
}

TEST(Constants, NarrowNumbersTakeAByteEach) {
  EXPECT_EQ(elements<std::int8_t>(constant("dense<[-8, 7, 15]> : tensor<3xi4>")),
            (std::vector<std::int8_t>{-8, 7, -1}));
  EXPECT_EQ(elements<std::int8_t>(constant("dense<\"0x0F0701\"> : tensor<3xi4>")),
            (std::vector<std::int8_t>{-1, 7, 1}));
  EXPECT_EQ(elements<std::uint8_t>(constant("dense<[0, 3]> : tensor<2xui2>")),
            (std::vector<std::uint8_t>{0, 3}));
  EXPECT_EQ(
      elements<std::uint8_t>(constant("dense<[1.0, -2.0, 1.0e9, 0x7A]> : tensor<4xf8E4M3FN>")),
      (std::vector<std::uint8_t>{0x38, 0xc0, 0x7f, 0x7a}));
}

TEST(Constants, BooleansAndUnsignedNumbers) {
  EXPECT_EQ(elements<std::uint8_t>(constant("dense<[true, false, true]> : tensor<3xi1>")),
            (std::vector<std::uint8_t>{1, 0, 1}));
  EXPECT_EQ(elements<std::uint32_t>(constant("dense<4294967295> : tensor<ui32>")),
            std::vector<std::uint32_t>{4294967295U});
  EXPECT_EQ(elements<std::int8_t>(constant("dense<[-128, 127]> : tensor<2xi8>")),
            (std::vector<std::int8_t>{-128, 127}));
}

TEST(Constants, RawBytesAreLittleEndian) {
  EXPECT_EQ(elements<float>(constant("dense<\"0x0000803F00000040\"> : tensor<2xf32>")),
            (std::vector<float>{1.0f, 2.0f}));
  EXPECT_EQ(elements<float>(constant("dense<\"0x0000803F\"> : tensor<3xf32>")),
            (std::vector<float>{1.0f, 1.0f, 1.0f}));
}

TEST(Constants, RawBooleansComeAsBytesOrAsBits) {
  const std::vector<std::uint8_t> expected = {1, 0, 1, 1, 0, 0, 0, 0, 0, 1};
  EXPECT_EQ(elements<std::uint8_t>(constant("dense<\"0x01000101000000000001\"> : tensor<10xi1>")),
            expected);
  EXPECT_EQ(elements<std::uint8_t>(constant("dense<\"0x0D02\"> : tensor<10xi1>")), expected);
  EXPECT_EQ(elements<std::uint8_t>(constant("dense<\"0xFF\"> : tensor<9xi1>")),
            std::vector<std::uint8_t>(9, 1));
}

TEST(Constants, OfMegabytesAreReadInSeconds) {
  // A weight matrix of a perceptron for MNIST, 784 x 512, as numbers and as raw bytes.
  std::string list = "dense<[";
  std::string raw = "dense<\"0x";
  for (int i = 0; i < 784; ++i) {
    list += i == 0 ? "[" : ", [";
    for (int j = 0; j < 512; ++j) {
      list += j == 0 ? "1.250000e-01" : ", 1.250000e-01";
      raw += "0000003E";
    }
    list += "]";
  }
  const auto start = std::chrono::steady_clock::now();
  const HostTensor a = constant(list + "]> : tensor<784x512xf32>");
  const HostTensor b = constant(raw + "\"> : tensor<784x512xf32>");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
  EXPECT_EQ(a.data, b.data);
  EXPECT_EQ(a.get<float>(784 * 512 - 1), 0.125f);
}

TEST(Constants, ThatDoNotFitTheirTypeAreMalformed) {
  const auto problem = [](const std::string& text) {
    const Refusal refused = refusal(in_main("%0 = stablehlo.constant " + text));
    EXPECT_EQ(refused.code, ExitCode::kMalformed) << text;
    return refused.problems.empty() ? std::string() : refused.problems.front();
  };
  EXPECT_EQ(problem("dense<300> : tensor<i8>"), "2:31: 300 does not fit i8");
  EXPECT_EQ(problem("dense<-1> : tensor<ui8>"), "2:31: -1 does not fit ui8");
  EXPECT_EQ(problem("dense<99999999999999999999> : tensor<i32>"),
            "2:31: 99999999999999999999 does not fit 64 bits");
  EXPECT_EQ(problem("dense<1> : tensor<f32>"),
            "2:31: expected a floating-point number such as 1.0, or its bits in hexadecimal");
  EXPECT_EQ(problem("dense<1.0> : tensor<i32>"),
            "2:31: expected an element of tensor<i32>, found `1.0`");
  EXPECT_EQ(problem("dense<true> : tensor<i32>"), "2:31: found true in a constant of tensor<i32>");
  EXPECT_EQ(problem("dense<[1, 2]> : tensor<3xi32>"),
            "2:36: this list of a constant has 2 entries, but its type tensor<3xi32> has 3");
  EXPECT_EQ(problem("dense<[1, 2]> : tensor<1xi32>"),
            "2:35: constant does not have the shape of tensor<1xi32>");
  EXPECT_EQ(problem("dense<[[1], [2]]> : tensor<2xi32>"),
            "2:32: constant is nested deeper than its type");
  EXPECT_EQ(problem("dense<\"0x00\"> : tensor<2xi32>"),
            "2:31: raw constant of 1 bytes, but tensor<2xi32> has 8");
  EXPECT_EQ(problem("dense<\"0x0G000000\"> : tensor<i32>"),
            "2:35: expected hexadecimal digits of raw bytes");
  EXPECT_EQ(problem("dense<1 : tensor<i32"), "2:31: this constant is never closed by `>`");
}

}  // namespace
}  // namespace superstep
