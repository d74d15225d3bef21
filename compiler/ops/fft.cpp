#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <utility>

#include "compiler/import/parser.h"
#include "compiler/ops/elements.h"
#include "compiler/ops/fourier.h"
#include "compiler/ops/host_fourier.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/verify.h"

namespace superstep {
namespace {

using Complex = std::complex<double>;

/// `kReal`: of real numbers, the first half of the result; `kInverseReal`: back from it.
enum class Kind : std::uint8_t { kForward, kInverse, kReal, kInverseReal };

Kind kind_of(const Op& op) {
  const std::string& type = attribute<std::string>(op, "fft_type");
  if (type == "FFT") return Kind::kForward;
  if (type == "IFFT") return Kind::kInverse;
  if (type == "RFFT") return Kind::kReal;
  if (type == "IRFFT") return Kind::kInverseReal;
  malformed(op, fmt::format("fft_type is {}, expected FFT, IFFT, RFFT or IRFFT", type));
}

/// Elements of the last dimension of a transform of `n` real numbers.
std::int64_t half_of(std::int64_t n) { return n == 0 ? 0 : n / 2 + 1; }

std::vector<TensorType> infer(const Op& op, std::span<const TensorType> operands) {
  const TensorType& operand = operands[0];
  const Kind kind = kind_of(op);
  const Indices& lengths = attribute<Indices>(op, "fft_length");
  if (lengths.empty() || lengths.size() > 3 || lengths.size() > operand.shape.size()) {
    malformed(op, fmt::format("has {} lengths, expected 1 to 3, and no more than {} has dimensions",
                              lengths.size(), operand.text()));
  }
  if (is_complex(operand.dtype) == (kind == Kind::kReal)) {
    malformed(op,
              fmt::format("{} of {}, expected {} numbers", attribute<std::string>(op, "fft_type"),
                          operand.text(), kind == Kind::kReal ? "real" : "complex"));
  }
  Shape transformed(operand.shape.end() - static_cast<std::ptrdiff_t>(lengths.size()),
                    operand.shape.end());
  Indices expected = lengths;
  if (kind == Kind::kInverseReal)
    expected.back() = half_of(std::max<std::int64_t>(lengths.back(), 0));
  if (std::ranges::any_of(lengths, [](std::int64_t n) { return n < 0; }) ||
      transformed != expected) {
    malformed(op, fmt::format("the lengths are [{}], which do not fit the last dimensions of {}",
                              fmt::join(lengths, ", "), operand.text()));
  }
  TensorType result = operand;
  if (kind == Kind::kReal) {
    result.dtype = complex_of(operand.dtype);
    result.shape.back() = half_of(lengths.back());
  } else if (kind == Kind::kInverseReal) {
    result.dtype = real_of(operand.dtype);
    result.shape.back() = lengths.back();
  }
  return {result};
}

/// Numbers of a tensor of `shape`, row-major.
struct HostNumbers {
  Shape shape;
  std::vector<Complex> values;
};

/// Each line along dimension `d` becomes what `change` makes of it.
template <class Change>
HostNumbers along(const HostNumbers& x, std::size_t d, std::int64_t length, const Change& change) {
  HostNumbers result{x.shape, {}};
  result.shape[d] = length;
  result.values.resize(static_cast<std::size_t>(TensorType{{}, result.shape}.elements()));
  const Indices from = row_major_strides(x.shape), to = row_major_strides(result.shape);
  Shape lines = x.shape;
  lines[d] = 1;
  Indices index(lines.size());
  do {
    std::vector<Complex> line(static_cast<std::size_t>(x.shape[d]));
    for (std::size_t i = 0; i < line.size(); ++i) {
      line[i] = x.values[element_at(index, from) + i * static_cast<std::size_t>(from[d])];
    }
    line = change(std::move(line));
    for (std::size_t i = 0; i < line.size(); ++i) {
      result.values[element_at(index, to) + i * static_cast<std::size_t>(to[d])] = line[i];
    }
  } while (next_index(index, lines));
  return result;
}

std::vector<Complex> inverse_of(const std::vector<Complex>& line) {
  std::vector<Complex> result = host_fourier(line, true);
  for (Complex& value : result) value /= static_cast<double>(line.size());
  return result;
}

/// The whole transform whose first half this is.
std::vector<Complex> whole(std::vector<Complex> half, std::size_t n) {
  half[0] = half[0].real();
  if (n % 2 == 0) half[n / 2] = half[n / 2].real();
  std::vector<Complex> all(n);
  for (std::size_t k = 0; k < n; ++k) all[k] = k <= n / 2 ? half[k] : std::conj(half[n - k]);
  return all;
}

std::vector<HostTensor> evaluate(const Op& op, std::span<const HostTensor> operands) {
  const std::vector<TensorType> types = {operands[0].type};
  HostTensor result(infer(op, types)[0]);
  if (result.type.elements() == 0) return {std::move(result)};
  const Kind kind = kind_of(op);
  const Indices& lengths = attribute<Indices>(op, "fft_length");
  HostNumbers x{operands[0].type.shape, {}};
  for (std::size_t i = 0; i < static_cast<std::size_t>(operands[0].type.elements()); ++i) {
    x.values.push_back(read_number(operands[0], i));
  }
  const std::size_t last = x.shape.size() - 1;
  const bool is_inverse = kind == Kind::kInverse || kind == Kind::kInverseReal;
  if (kind == Kind::kReal) {
    x = along(x, last, half_of(lengths.back()), [&](std::vector<Complex> line) {
      line = host_fourier(line, false);
      line.resize(line.size() / 2 + 1);
      return line;
    });
  }
  const bool has_other_last = kind == Kind::kReal || kind == Kind::kInverseReal;
  for (std::size_t i = has_other_last ? 1 : 0; i < lengths.size(); ++i) {
    x = along(x, last - i, x.shape[last - i], [&](const std::vector<Complex>& line) {
      return is_inverse ? inverse_of(line) : host_fourier(line, false);
    });
  }
  if (kind == Kind::kInverseReal) {
    const auto n = static_cast<std::size_t>(lengths.back());
    x = along(x, last, lengths.back(),
              [&](std::vector<Complex> line) { return inverse_of(whole(std::move(line), n)); });
  }
  for (std::size_t i = 0; i < x.values.size(); ++i) write_number(result, i, x.values[i]);
  return {std::move(result)};
}

/// The transform along dimension `d`.
Tensor along(Tensor x, std::size_t d, bool inverse) {
  const std::size_t last = x.shape().size() - 1;
  if (d == last) return fourier(x, inverse);
  Indices swap;
  for (std::size_t i = 0; i <= last; ++i) swap.push_back(static_cast<std::int64_t>(i));
  std::swap(swap[d], swap[last]);
  return transpose(fourier(transpose(x, swap), inverse), swap);
}

std::vector<Tensor> expand(GraphBuilder& builder, const Op& op, std::span<const Tensor> operands) {
  const std::vector<TensorType> types = {operands[0].type()};
  const TensorType result = infer(op, types)[0];
  if (result.elements() == 0) return {builder.constant(HostTensor(result))};
  const Kind kind = kind_of(op);
  const Indices& lengths = attribute<Indices>(op, "fft_length");
  const bool is_inverse = kind == Kind::kInverse || kind == Kind::kInverseReal;
  Tensor x = operands[0];
  const std::size_t last = x.shape().size() - 1;
  // Of real numbers the last dimension is transformed first, and back to them last.
  if (kind == Kind::kReal) x = half_fourier(x);
  const bool has_other_last = kind == Kind::kReal || kind == Kind::kInverseReal;
  for (std::size_t i = has_other_last ? 1 : 0; i < lengths.size(); ++i) {
    x = along(x, last - i, is_inverse);
  }
  return {kind == Kind::kInverseReal ? from_half_fourier(x, lengths.back()) : x};
}

// `%a, type = FFT, length = [4, 8] : types`
void parse(import::Parser& parser, import::SyntaxOp& op, int) {
  op.operands = {parser.parse_value()};
  const auto key = [&](const char* word) {
    parser.expect(',', fmt::format("in front of `{}`", word));
    if (!parser.accept_word(word)) {
      parser.fail(fmt::format("expected `{}`, found {}", word, parser.found()));
    }
    parser.expect('=', fmt::format("behind `{}`", word));
  };
  key("type");
  op.attributes.insert_or_assign("fft_type", std::string(parser.token().text));
  parser.advance();
  key("length");
  parser.add_attribute(op, "fft_length", parser.parse_attribute(0));
  parser.add_optional_dictionary(op);
  parser.parse_function_type(op);
}

}  // namespace

const OpDefinition kFftOp{
    .name = "stablehlo.fft",
    .summary =
        "Fourier transforms along the last one to three dimensions, or back; of real numbers one "
        "half.",
    .infer = infer,
    .evaluate = evaluate,
    .lowerings = {ExpandLowering{expand}},
    .traits = {.operands = {only(DType::kF32) | only(DType::kF64) | kComplex}},
    .syntax = {.parse = parse},
    .attributes = "fft_type fft_length",
};

}  // namespace superstep
