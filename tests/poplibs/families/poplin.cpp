#include "tests/poplibs/recipe.h"

// How PopLibs packs strides for its convolution vertices
// (lib/poplin/ConvPartialsStridesPacking.cpp).
namespace poplin {
int getTransformedInStride(unsigned height, unsigned stride, int row_stride, unsigned load_elements,
                           unsigned in_channels);
int getTransformedInRowStride(int row_stride, unsigned load_elements, unsigned in_channels);
int getTransformedInStrideNx1(unsigned height, int stride, int row_stride);
int getTransformedOutStride(int stride, unsigned out_channels, unsigned units, bool float_partials,
                            bool flip);
unsigned long long packAmpNx1Stride(unsigned bits, int third, int second, int first);
}  // namespace poplin

namespace superstep::poplibs {
namespace {

void reduce_add(Case& run, std::size_t size) {
  // With one input, rows are whole 128-bit words.
  const std::size_t n = run.has("initialPartial") ? (size + 7) / 8 * 8 : size;
  const std::size_t partials = 1 + n % 5;
  run.value("numPartials", double(partials));
  run.value("numElems", double(n));
  if (run.has("initialPartial")) {
    small_integers(run, "initialPartial", {n});
    small_integers(run, "partials", {partials * n});
  } else {
    small_integers(run, "partials", std::vector<std::size_t>(partials, n));
  }
  run.random("out", {n}, 0, 1);
}

void outer_product(Case& run, std::size_t n) {
  const std::size_t width = 1 + n % 5;
  const std::size_t groups = 3;
  run.value("chansPerGroup", double(n));
  run.random("in", {width}, -4, 4);
  run.random("weights", {groups * n}, -4, 4);
  run.random("out", std::vector<std::size_t>(groups, n * width), -4, 4);
}

/// Sizes of an AMP convolution whose units take `height` rows of the kernel at once and which goes
/// `passes` times over its inputs.
struct Amp {
  Amp(Case& run, std::size_t height, std::size_t passes)
      : units(type_number(run, 4)),
        load_elements(type_number(run, 5)),
        in_channels(4 * load_elements / height),
        out_channels(units * passes),
        in_bytes(run.state("in").field->element_bytes),
        out_bytes(run.state("out").field->element_bytes) {}

  unsigned units, load_elements;
  std::size_t in_channels, out_channels, in_bytes, out_bytes;
  std::size_t conv_groups = 2, out_groups = 2, in_groups = 2;

  void groups(Case& run, std::size_t positions, std::size_t in_positions,
              std::size_t kernel) const {
    run.value("numConvGroupsM1", double(conv_groups - 1));
    run.value("numOutGroupsM1", double(out_groups - 1));
    run.value("numInGroups", double(in_groups));
    run.value("inChansPerGroup", double(in_channels));
    run.value("outChansPerGroup", double(out_channels));
    small_integers(run, "in",
                   std::vector<std::size_t>(conv_groups * in_groups, in_positions * in_channels));
    small_integers(run, "weights",
                   std::vector<std::size_t>(conv_groups * in_groups * out_groups,
                                            kernel * in_channels * out_channels));
    small_integers(run, "out",
                   std::vector<std::size_t>(conv_groups * out_groups, positions * out_channels));
  }
  /// Offsets count 8 bytes, numbers of positions are 3 less.
  [[nodiscard]] std::vector<double> work(WorkerShare part, std::size_t in_begin) const {
    return {double(part.begin * out_channels * out_bytes / 8), double(part.count) - 3,
            double(in_begin * in_channels * in_bytes / 8)};
  }
};

void amp_1x1(Case& run, std::size_t n) {
  const Amp amp(run, 1, n % 4 == 0 ? 2 : 1);
  run.value("transformedInStride", 1);
  run.value("transformedOutStride",
            poplin::getTransformedOutStride(1, unsigned(amp.out_channels), amp.units,
                                            amp.out_bytes == 4, false));
  std::vector<double> work;
  for (std::size_t worker = 0; worker < kWorkers; ++worker) {
    const WorkerShare part = worker_share(n, worker);
    const std::vector<double> entry = amp.work(part, part.begin);
    work.insert(work.end(), entry.begin(), entry.end());
  }
  run.elements("worklists", work);
  amp.groups(run, n, n, 1);
}

void amp_nx1(Case& run, std::size_t n) {
  const unsigned height = n % 3 == 2 ? 1 : n % 3 == 1 ? 2 : 4;
  const Amp amp(run, height, n % 4 == 0 ? 2 : 1);
  const bool half_half_8 = amp.units == 8 && amp.in_bytes == 2 && amp.out_bytes == 2;
  const bool float_16 = amp.units == 16 && amp.in_bytes == 4;
  const std::size_t inner = 2;
  const std::size_t outer = 1 + n % 2;
  // Rows lie one after the other; a kernel of one row knows no stride of rows.
  const std::size_t width = n + inner * outer;
  const int row = height == 1 ? 1 : int(width);
  const auto in_channels = unsigned(amp.in_channels);
  const int row_stride = poplin::getTransformedInRowStride(row, amp.load_elements, in_channels);
  const int in_stride = poplin::getTransformedInStrideNx1(
      height, poplin::getTransformedInStride(height, 1, row, amp.load_elements, in_channels),
      row_stride);
  const int out_stride = poplin::getTransformedOutStride(1, unsigned(amp.out_channels), amp.units,
                                                         amp.out_bytes == 4, false) /
                         int(8 / amp.out_bytes);
  // Steps before the second pointer's turn (lib/poplin/ConvVertices.cpp).
  const int steps = half_half_8 ? 1 : float_16 ? 4 : 2;
  run.value("transformedInStride", double(poplin::packAmpNx1Stride(10, half_half_8 ? 0 : 1 + steps,
                                                                   in_stride, out_stride + steps) &
                                          0xffffffffU));
  run.value("transformedOutStride",
            double(poplin::packAmpNx1Stride(10, 0, height == 4 ? row_stride : 1,
                                            half_half_8 ? out_stride + steps : out_stride) &
                   0xffffffffU));
  run.value("kernelInnerElementsM1", double(inner - 1));
  run.value("kernelOuterSizeM1", double(outer - 1));
  run.value("ampKernelHeightM1", height - 1);
  run.value("transformedInRowStride", row_stride);
  run.value("zerosInfo", double(n * amp.out_channels));
  std::vector<std::vector<double>> lists;
  for (std::size_t k = 0; k < inner * outer; ++k) {
    for (std::size_t worker = 0; worker < kWorkers; ++worker) {
      const WorkerShare part = worker_share(n, worker);
      lists.push_back(part.count == 0 ? std::vector<double>() : amp.work(part, part.begin + k));
    }
  }
  run.element_rows("worklists", lists);
  amp.groups(run, n, height * width, height * inner * outer);
}

/// Multiplications across a vector of input channels: four at a time, or two where their number
/// asks for it; many in the large cases.
void horizontal(Case& run, std::size_t n) {
  const std::size_t in_channels = n < 17 ? 2 * (1 + n % 5) : n < 40 ? 16 : 256;
  const std::size_t out_channels = 2;
  const std::size_t conv_groups = 1;
  const std::size_t out_groups = 2;
  const std::size_t in_groups = 2;
  const bool one = !run.has("kernelSizeM1");
  const std::size_t kernel = one ? 1 : 2;
  run.value("zerosInfo", double(n * out_channels));
  run.value("transformedInStride", double(in_channels));
  run.value("transformedOutStride", 0);
  run.value("numOutGroupsM1", double(out_groups - 1));
  run.value("numInGroups", double(in_groups));
  run.value("numConvGroupsM1", double(conv_groups - 1));
  run.value("outChansPerGroup", double(out_channels));
  run.value("inChansPerGroup", double(in_channels));
  std::vector<std::vector<double>> lists;
  std::vector<double> flat;
  for (std::size_t k = 0; k < kernel; ++k) {
    for (std::size_t worker = 0; worker < kWorkers; ++worker) {
      const WorkerShare part = worker_share(n, worker);
      const std::vector<double> entry = {double(part.begin), double(part.count),
                                         double(part.begin + k)};
      flat.insert(flat.end(), entry.begin(), entry.end());
      lists.push_back(part.count == 0 ? std::vector<double>() : entry);
    }
  }
  if (one) {
    run.elements("worklists", flat);
  } else {
    run.value("kernelSizeM1", double(kernel - 1));
    run.element_rows("worklists", lists);
  }
  small_integers(run, "in",
                 std::vector<std::size_t>(conv_groups * in_groups, (n + kernel) * in_channels));
  small_integers(run, "weights",
                 std::vector<std::size_t>(conv_groups * in_groups * out_groups,
                                          kernel * in_channels * out_channels));
  small_integers(run, "out", std::vector<std::size_t>(conv_groups * out_groups, n * out_channels));
}

/// Products of several convolution groups side by side.
void vertical(Case& run, std::size_t n) {
  const std::size_t side = type_number(run, 3);
  const std::size_t conv_groups = 2;
  const std::size_t in_groups = 2;
  const std::size_t kernel = 3;
  run.value("zerosInfo", double(n * side));
  run.value("numInGroups", double(in_groups));
  run.value("numConvGroupsM1", double(conv_groups - 1));
  run.value("inStride", 1);
  run.value("weightsStride", 1);
  std::vector<std::vector<double>> lists;
  for (std::size_t worker = 0; worker < kWorkers; ++worker) {
    const WorkerShare part = worker_share(n, worker);
    std::vector<double> list;
    for (std::size_t i = 0; i < part.count; ++i) {
      // Where the result goes is counted from the one before.
      list.insert(list.end(), {i == 0 ? double(part.begin) : 1.0, 0, double(part.begin + i),
                               double(kernel - 1)});
    }
    lists.push_back(list);
  }
  run.element_rows("worklists", lists);
  small_integers(run, "in", std::vector<std::size_t>(conv_groups * in_groups, (n + kernel) * side));
  small_integers(run, "weights", std::vector<std::size_t>(conv_groups * in_groups, kernel * side));
  small_integers(run, "out", std::vector<std::size_t>(conv_groups, n * side));
  small_integers(run, "partials", {kWorkers * n * side});
  run.state("partials").compare = false;  // workers without work leave theirs as they are
}

/// Slim convolutions: windows of four positions, one partial kernel after the other.
void slim(Case& run, std::size_t n) {
  const unsigned stride = type_number(run, 2);
  const unsigned channels = type_number(run, 6);  // of all convolution groups of a vector
  constexpr std::size_t kWindow = 4;
  constexpr std::size_t kScratchBytes = 208;  // rearranged weights before the other output
  const std::size_t out_bytes = run.state("out").field->element_bytes;
  // 1, 2 or 4 input and output channels a group; the wider vertices have one.
  const std::size_t channels_log2 = channels > 4 ? 0 : n % 3;
  const std::size_t conv_groups = 1 + n % 2;
  const std::size_t kernels = 1 + n % 3;
  run.value("chansPerGroupLog2", double(channels_log2));
  run.value("outPtrLoadOffset", kernels % 2 != 0 ? 0 : 4);
  run.value("numSubKernelsM1", double(kernels - 1));
  run.value("numConvGroupGroupsM1", double(conv_groups - 1));
  std::vector<std::vector<double>> lists;
  for (std::size_t k = 0; k < kernels; ++k) {
    for (std::size_t worker = 0; worker < kWorkers; ++worker) {
      const WorkerShare part = worker_share(n, worker);
      lists.push_back(part.count == 0
                          ? std::vector<double>()
                          : std::vector<double>{double(part.begin * stride + k * kWindow),
                                                double(part.begin), double(part.count)});
    }
  }
  run.element_rows("worklists", lists);
  small_integers(
      run, "in",
      std::vector<std::size_t>(conv_groups, (n * stride + kernels * kWindow) * channels));
  small_integers(
      run, "weights",
      std::vector<std::size_t>(conv_groups * kernels, kWindow * channels << channels_log2));
  small_integers(run, "out", std::vector<std::size_t>(conv_groups, n * channels));
  small_integers(run, "outFieldBuffer", {kScratchBytes / out_bytes + n * channels});
  run.state("outFieldBuffer").compare = false;
}

}  // namespace

void add_poplin(Recipes& recipes) {
  const std::vector<std::size_t> positions = {1, 2, 6, 9, 17, 24, 40, 64};
  const std::vector<std::size_t> many = {1, 2, 6, 9, 17, 24, 40, 64, 602};
  recipes["poplin::ReduceAdd"] = {kSizes, reduce_add};
  recipes["poplin::OuterProduct"] = {{1, 2, 4, 6, 8, 12, 16, 24, 48, 96, 248}, outer_product};
  recipes["poplin::ConvPartial1x1Out"] = {many, amp_1x1};
  recipes["poplin::ConvPartialnx1"] = {many, amp_nx1};
  recipes["poplin::ConvPartialHorizontalMac"] = {positions, horizontal};
  recipes["poplin::ConvPartialHorizontalMac1x1"] = {positions, horizontal};
  recipes["poplin::ConvPartialVerticalMac"] = {positions, vertical};
  recipes["poplin::ConvPartial1xNSLIC"] = {many, slim};
}

}  // namespace superstep::poplibs
