#include "compiler/vertex/add_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "compiler/vertex/worker_code.h"

namespace superstep::vertex {
namespace {

/// Up to so many parts a group is straight code in a loop without overhead [assumed: some 260 bytes
/// of code].
constexpr std::int64_t kMostStraight = 32;

/// The codelet as text. $m0 runs through the parts, $m2 through the sums, $m3 counts groups, $m5 is
/// the pitch, $m7 leads back to the first part, $m6 is the place of the last pair. Reading two
/// pairs of accumulators leaves zeros behind.
class AddPartsWriter {
 public:
  explicit AddPartsWriter(std::int64_t parts) : parts_(parts) {}

  std::string text() {
    line("{ ld32 $m3, $mvertex_base, $mzero, 0 ; setzi $a0, 8 }");
    line("brneg $m3, done");
    line("{ ld32 $m0, $mvertex_base, $mzero, 1 ; uput $FP_CLR, $a0 }");
    // The bodies of `rpt` must begin at a multiple of 8.
    const bool padded = parts_ <= 2;
    line(padded ? "{ ld32 $m2, $mvertex_base, $mzero, 2 ; fnop }"
                : "ld32 $m2, $mvertex_base, $mzero, 2");
    line("ld32 $m5, $mvertex_base, $mzero, 4");
    line("ld32 $m7, $mvertex_base, $mzero, 5");
    line(load(0));
    add_rest();
    const bool straight = parts_ <= kMostStraight;
    if (straight) {
      line(fmt::format("{{ rpt $m3, {} ; f32v4acc $a0:3 }}", parts_ + 1));
    } else {
      line("{ brz $m3, last ; f32v4acc $a0:3 }");
      line("add $m3, $m3, -1");
      line("group:");
    }
    line(fmt::format("{{ {} ; f32v2gina $a4:5, $azeros, 0 }}", load(0)));
    line("{ st64step $a4:5, $mzero, $m2+=, 1 ; f32v2gina $a6:7, $azeros, 0 }");
    if (straight) {
      for (std::int64_t p = 1; p < parts_; ++p) line(load_and_add(p));
    } else {
      add_rest();
    }
    line("{ st64step $a6:7, $mzero, $m2+=, 1 ; f32v4acc $a0:3 }");
    if (!straight) line("brnzdec $m3, group");
    line("last:");
    line("{ ld32 $m6, $mvertex_base, $mzero, 3 ; f32v2gina $a4:5, $azeros, 0 }");
    line("f32v2gina $a6:7, $azeros, 0");
    // When the group is a pair, both go to one place and the first remains.
    line("st64 $a6:7, $mzero, $m6, 0");
    line("st64 $a4:5, $mzero, $m2, 0");
    line("done: exitz $mzero");
    return std::move(text_);
  }

 private:
  void line(std::string_view text) { (text_ += text) += '\n'; }

  [[nodiscard]] std::string load(std::int64_t part) const {
    return fmt::format("ld128step $a0:3, $mzero, $m0+=, {}", part + 1 < parts_ ? "$m5" : "$m7");
  }
  [[nodiscard]] std::string load_and_add(std::int64_t part) const {
    return fmt::format("{{ {} ; f32v4acc $a0:3 }}", load(part));
  }

  /// Loads all parts but the first and adds all but the last.
  void add_rest() {
    if (parts_ > 2) {
      line(fmt::format("rpt {}, 0", parts_ - 2));
      line(load_and_add(1));
    }
    if (parts_ > 1) line(load_and_add(parts_ - 1));
  }

  const std::int64_t parts_;
  std::string text_;
};

}  // namespace

Codelet add_parts(std::int64_t parts) {
  SUPERSTEP_CHECK(parts >= 1 && parts <= 4096, "repeats have 12 bits");
  return assembled("add_parts", AddPartsWriter(parts).text());
}

Codelet AddParts::code(const MachineConfig&) const { return add_parts(parts); }

VertexState AddParts::State::words(std::int64_t parts, std::int64_t workers) const {
  constexpr std::int64_t kGroupBytes = 4 * kAddPartsGroup;
  const std::int64_t groups = (sums + kAddPartsGroup - 1) / kAddPartsGroup;
  const std::int64_t pitch = groups * kGroupBytes;
  std::vector<StateWord> words;
  for (std::int64_t w = 0; w < workers; ++w) {
    const std::int64_t first = w * groups / workers, last = (w + 1) * groups / workers;
    const std::int64_t end = std::min(last * kAddPartsGroup, sums);
    words.push_back(StateWord::number(last - first - 1));
    words.push_back(StateWord::address(from, first * kGroupBytes));
    words.push_back(StateWord::address(to, first * kGroupBytes));
    words.push_back(StateWord::address(to, (end - 2) * 4));
    words.push_back(StateWord::number(pitch / 16));
    words.push_back(StateWord::number(add_parts_back(parts, pitch)));
  }
  return words;
}

void AddParts::interpret(const StateView& state) const {
  if (state.number(0) < 0) return;
  const std::int64_t elements = (state.number(3) - state.number(2)) / 4 + 2;
  for (std::int64_t e = 0; e < elements; ++e) {
    float sum = 0;
    for (std::int64_t p = 0; p < parts; ++p) {
      sum += state.pointer(1).plus(p * state.number(4) * 16 + e * 4).get<float>();
    }
    state.pointer(2).plus(e * 4).write(&sum, sizeof sum);
  }
}

std::int64_t add_parts_back(std::int64_t parts, std::int64_t pitch) {
  return 1 - (parts - 1) * (pitch / 16);
}

std::int64_t add_parts_slots(std::int64_t parts, std::int64_t groups) {
  if (groups == 0) return 3;
  // The loop over the parts of a group, but of two, is a slot of its own.
  const std::int64_t first = 12 + parts + (parts > 2 ? 1 : 0);
  if (parts <= kMostStraight) return first + (groups - 1) * (parts + 2);
  return first + (groups > 1 ? 1 : 0) + (groups - 1) * (parts + 4);
}

}  // namespace superstep::vertex
