// Damaged images, and whole ones whose fields have other values: each is refused, or runs to an
// end, a trap or an interruption.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>

#include "base/error.h"
#include "base/files.h"
#include "compiler/compile.h"
#include "isa/image_fields.h"
#include "isa/image_file.h"
#include "sim/run_image.h"
#include "sim/trace/trace.h"
#include "tests/errors/damage.h"
#include "tests/scratch_folder.h"

namespace superstep {
namespace {

/// A loop that takes from an infeed and gives to an outfeed, a branch, a donated argument and
/// results of all sizes.
constexpr const char* kModule =
    R"(func.func public @main(%x: tensor<6x5xf32> {tf.aliasing_output = 1 : i32}, %n: tensor<i32>) -> (tensor<i32>, tensor<6x5xf32>) {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %r:2 = stablehlo.while(%i = %c, %y = %x) : tensor<i32>, tensor<6x5xf32>
    cond {
    %p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %t = stablehlo.reverse %y, dims = [0, 1] : tensor<6x5xf32>
    %begin = stablehlo.after_all : !stablehlo.token
    %fed:2 = "stablehlo.infeed"(%begin) : (!stablehlo.token) -> (tensor<6x5xf32>, !stablehlo.token)
    %u = stablehlo.add %t, %fed#0 : tensor<6x5xf32>
    %end = "stablehlo.outfeed"(%u, %fed#1) : (tensor<6x5xf32>, !stablehlo.token) -> !stablehlo.token
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %u : tensor<i32>, tensor<6x5xf32>
  }
  return %r#0, %r#1 : tensor<i32>, tensor<6x5xf32>
})";

ProgramImage whole_image() {
  ProgramImage image = compile(import_stablehlo(kModule, "m.mlir"), load_machine("tiny4"),
                               {.keep_exchange_plan = true});
  image.sources = machine_sources("tiny4");
  return image;
}

/// Gives one number or text of an image another value, or a list other elements.
class Vandal {
 public:
  template <class Value>
  void change(Value& value) {
    if constexpr (ImagePart<Value>) {
      std::size_t count = 0;
      for_each_field<Value>([&](const auto&) { ++count; });
      std::size_t left = below(count);
      for_each_field<Value>([&](const auto& field) {
        if (left-- == 0) change(value.*field.member);
      });
    } else if constexpr (std::is_enum_v<Value>) {
      auto number = static_cast<std::underlying_type_t<Value>>(value);
      change(number);
      value = static_cast<Value>(number);
    } else if constexpr (std::is_same_v<Value, bool>) {
      value = !value;
    } else if constexpr (std::is_integral_v<Value>) {
      change_number(value);
    } else {
      change_elements(value);
    }
  }

 private:
  std::size_t below(std::size_t n) { return random_() % n; }

  template <class Number>
  void change_number(Number& number) {
    using Limits = std::numeric_limits<Number>;
    const std::array values = {Number{0}, Number{1}, Number{3}, Limits::max(), Limits::min()};
    switch (below(4)) {
      case 0:
        number = values[below(values.size())];
        return;
      case 1:
        number = static_cast<Number>(number ^ Number{1} << below(Limits::digits));
        return;
      default:
        number = static_cast<Number>(static_cast<std::uint64_t>(number) + below(17) - 8);
    }
  }
  template <class Element>
  void change_elements(std::optional<Element>& element) {
    if (!element) {
      element.emplace();
    } else if (below(4) == 0) {
      element.reset();
    } else {
      change(*element);
    }
  }
  void change_elements(std::string& text) {
    text = below(2) == 0 ? "" : std::string(below(300), static_cast<char>(below(256)));
  }
  template <class Element>
  void change_elements(std::vector<Element>& list) {
    const std::size_t what = below(8);
    if (list.empty() || what == 0) {
      list.insert(list.begin() + static_cast<std::ptrdiff_t>(below(list.size() + 1)), Element());
      return;
    }
    const auto at = list.begin() + static_cast<std::ptrdiff_t>(below(list.size()));
    if (what == 1) {
      list.erase(at);
    } else if (what == 2) {
      list.insert(at, Element(*at));
    } else {
      change(*at);
    }
  }

  std::mt19937 random_{16 * fuzz_seed() + 9};
};

/// Whether the file holds an image that the reader takes; else it says that it is malformed.
std::optional<ProgramImage> taken(const std::filesystem::path& path) {
  try {
    return read_image(path);
  } catch (const MalformedInput& error) {
    EXPECT_FALSE(error.problems().empty());
    return std::nullopt;
  }
}

/// Arguments of the types that an image says it has, if they are small.
std::optional<std::vector<HostTensor>> arguments_of(const ProgramImage& image) {
  std::vector<HostTensor> arguments;
  for (const TensorType& type : image.arguments) {
    if (type.bytes() > 4096) return std::nullopt;
    arguments.emplace_back(type);
    if (type.shape.empty() && type.dtype == DType::kI32) arguments.back().set<std::int32_t>(0, 3);
  }
  return arguments;
}

/// Values for the infeeds that an image says it has, if they are small.
std::optional<FeedTensors> infeeds_of(const ProgramImage& image) {
  constexpr std::int64_t kVisits = 4;
  FeedTensors infeeds;
  for (const auto& [position, queue] : feed_queues(image, Stream::Kind::kInfeed)) {
    TensorType type = queue.type;
    if (type.bytes() > 4096) return std::nullopt;
    type.shape.insert(type.shape.begin(), kVisits);
    infeeds.emplace(position, HostTensor(type));
  }
  return infeeds;
}

/// Runs an image for a while, into a trace.
void run(const ProgramImage& image, const std::vector<HostTensor>& arguments,
         const FeedTensors& infeeds) {
  constexpr int kPolls = 40;
  std::atomic<int> polls = 0;
  TraceWriter trace(scratch_folder() / "run.h5", {.level = TraceLevel::kTile, .calls = 2}, image,
                    {});
  RunOptions options;
  options.calls = 2;
  options.infeeds = infeeds;
  options.max_supersteps = 200;
  options.on_superstep = [&](const SuperstepRecord& record) { trace.on_superstep(record); };
  options.interrupted = [&] { return ++polls > kPolls; };
  trace.finish(run_image(image, arguments, options));
}

TEST(Fuzz, DamagedImagesAreRefused) {
  const std::filesystem::path path = scratch_folder() / "image.h5";
  const ProgramImage image = whole_image();
  write_image(path, image);
  const std::string bytes = read_text_file(path);
  Damage damage(8);
  int refused = 0;
  const int inputs = fuzz_inputs(400);
  for (int i = 0; i < inputs; ++i) {
    SCOPED_TRACE(i);
    std::ofstream(path, std::ios::binary) << damage.apply_to_bytes(bytes);
    const auto found = taken(path);
    refused += !found;
    if (found) {
      EXPECT_TRUE(*found == image);
    }
  }
  EXPECT_GT(refused, inputs / 2);
}

TEST(Fuzz, ImagesOfOtherValuesAreRefusedOrRun) {
  const std::filesystem::path path = scratch_folder() / "image.h5";
  const ProgramImage whole = whole_image();
  ASSERT_TRUE(problems(whole).empty());
  Vandal vandal;
  int refused = 0, ran = 0;
  const int inputs = fuzz_inputs(300);
  for (int i = 0; i < inputs; ++i) {
    SCOPED_TRACE(i);
    ProgramImage image = whole;
    for (int change = 0; change <= i % 3; ++change) vandal.change(image);
    write_image(path, image);
    const auto found = taken(path);
    refused += !found;
    if (!found) continue;
    const auto arguments = arguments_of(*found);
    const auto infeeds = infeeds_of(*found);
    if (!arguments || !infeeds) continue;
    run(*found, *arguments, *infeeds);
    ++ran;
  }
  EXPECT_GT(refused, inputs / 10);
  EXPECT_GT(ran, inputs / 10);
}

}  // namespace
}  // namespace superstep
