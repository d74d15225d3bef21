#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/hdf5_file.h"
#include "base/sha256.h"
#include "report/validation/validation.h"
#include "sim/trace/schema.h"
#include "sim/trace/trace_file.h"
#include "tests/tools/program.h"

namespace superstep {
namespace {

constexpr std::uint64_t kCalls = 3;

/// A trace of some calls of linear_regression on small64.
class TracedRun : public ::testing::Test {
 protected:
  void SetUp() override { file_ = traced("-j1"); }

  static Hdf5File traced(const std::string& words) {
    const std::string path = (scratch_folder() / ("run" + words + ".h5")).string();
    const ProgramRun run = superstep(
        "run models/linear_regression/train_step.mlir -m small64 --input "
        "models/linear_regression/train.h5 --repeat 3 --trace tile -q " +
        words + " -o " + path);
    EXPECT_EQ(run.code, 0) << run.err;
    return Hdf5File::open(path, Hdf5File::Access::kRead);
  }

  static std::vector<std::uint64_t> numbers_of(const Hdf5File& file, const std::string& path) {
    const Hdf5Type type = file.type(path);
    if (type == Hdf5Type::kU64) return file.read_all<std::uint64_t>(path, type);
    return type == Hdf5Type::kU8 ? widened(file.read_all<std::uint8_t>(path, type))
                                 : widened(file.read_all<std::uint32_t>(path, type));
  }
  [[nodiscard]] std::vector<std::uint64_t> numbers(const std::string& path) const {
    return numbers_of(*file_, path);
  }
  [[nodiscard]] std::uint64_t total(const std::string& name) const {
    return std::get<std::uint64_t>(file_->attribute("/summary", name).value());
  }
  [[nodiscard]] std::uint64_t sum(const std::string& path) const {
    const auto values = numbers(path);
    return std::accumulate(values.begin(), values.end(), std::uint64_t{0});
  }

  std::optional<Hdf5File> file_;

 private:
  template <class T>
  static std::vector<std::uint64_t> widened(const std::vector<T>& values) {
    return {values.begin(), values.end()};
  }
};

TEST_F(TracedRun, PhasesAddUpToTotals) {
  const std::string at = "/supersteps/";
  const auto start = numbers(at + "start_cycle");
  std::vector<std::vector<std::uint64_t>> parts;
  for (const char* part : {"exchange", "compute", "sync", "host"}) {
    const std::string name = std::string(part) + "_cycles";
    parts.push_back(numbers(at + name));
    EXPECT_EQ(sum(at + name), total(name));
    EXPECT_EQ(sum("/summary/step/" + name), total(name));
  }
  std::uint64_t cycle = 0;
  for (std::size_t s = 0; s < start.size(); ++s) {
    EXPECT_EQ(start[s], cycle);
    for (const auto& part : parts) cycle += part[s];
  }
  EXPECT_EQ(cycle, total("total_cycles"));
  EXPECT_EQ(sum(at + "bytes_sent"), total("bytes_exchanged"));
  EXPECT_EQ(sum(at + "host_bytes"), total("host_bytes"));
  EXPECT_EQ(sum(at + "instructions"), total("instructions"));
  EXPECT_EQ(sum(at + "flops"), total("flops"));
  EXPECT_EQ(total("flops"), kCalls * sum("/program/operation/flops"));
}

TEST_F(TracedRun, IsValidatedAsItWasOpened) {
  const std::filesystem::path path = scratch_folder() / "replaced.h5";
  std::filesystem::copy_file(scratch_folder() / "run-j1.h5", path);
  Hdf5File open = open_trace(path);
  std::filesystem::remove(path);
  std::ofstream(path) << "a run writes it anew";
  const Validation found = validate_trace(path, std::move(open));
  EXPECT_EQ(found.problems, std::vector<std::string>{});
  EXPECT_EQ(found.supersteps, total("supersteps"));
}

TEST_F(TracedRun, OfLevelSummaryIsValidatedWithItsSupersteps) {
  const std::filesystem::path path = scratch_folder() / "summary.h5";
  const ProgramRun run = superstep(
      "run models/linear_regression/train_step.mlir -m small64 --input "
      "models/linear_regression/train.h5 --repeat 3 --trace summary -q -o " +
      path.string());
  EXPECT_EQ(run.code, 0) << run.err;
  const Validation found = validate_trace(path);
  EXPECT_EQ(found.level, "summary");
  EXPECT_EQ(found.supersteps, total("supersteps"));
}

TEST_F(TracedRun, LaunchesOfASuperstepAddUpToItsComputeCycles) {
  const auto compute = numbers("/supersteps/compute_cycles");
  const auto superstep = numbers("/launches/superstep"), cycles = numbers("/launches/cycles");
  EXPECT_TRUE(std::ranges::is_sorted(superstep));
  std::vector<std::uint64_t> sums(compute.size());
  for (std::size_t l = 0; l < cycles.size(); ++l) sums.at(superstep[l]) += cycles[l];
  EXPECT_EQ(sums, compute);
}

TEST_F(TracedRun, RowsOfTilesAddUpToTheirSuperstep) {
  const std::uint64_t tiles = file_->dims("/program/used_tile")[0];
  const auto rows_of = [&](const std::string& path) {
    return [values = numbers(path), tiles](std::uint64_t row) {
      const auto begin = values.begin() + static_cast<std::ptrdiff_t>(row * tiles);
      return std::vector<std::uint64_t>(begin, begin + static_cast<std::ptrdiff_t>(tiles));
    };
  };
  const auto added = [](const std::vector<std::uint64_t>& values) {
    return std::accumulate(values.begin(), values.end(), std::uint64_t{0});
  };
  const auto compute = rows_of("/profiles/compute/cycles");
  const auto instructions = rows_of("/profiles/compute/instructions");
  const auto busy = rows_of("/profiles/compute/worker_busy");
  const auto exchange = rows_of("/profiles/exchange/cycles");
  const auto idle = rows_of("/profiles/exchange/idle_cycles");
  const auto sent = rows_of("/profiles/exchange/sent_bytes");
  const auto received = rows_of("/profiles/exchange/received_bytes");
  const auto compute_row = numbers("/supersteps/compute_profile");
  const auto exchange_row = numbers("/supersteps/exchange_profile");
  const auto compute_sum = numbers("/supersteps/compute_cycles_sum");
  const auto issued = numbers("/supersteps/instructions");
  const auto h = numbers("/supersteps/h_bytes"), moved = numbers("/supersteps/bytes_sent");
  for (std::size_t s = 0; s < h.size(); ++s) {
    EXPECT_EQ(added(compute(compute_row[s])), compute_sum[s]);
    EXPECT_EQ(added(instructions(compute_row[s])), issued[s]);
    for (std::uint64_t t = 0; t < tiles; ++t) {
      EXPECT_LE(busy(compute_row[s])[t], 6 * compute(compute_row[s])[t]);
      EXPECT_LE(idle(exchange_row[s])[t], exchange(exchange_row[s])[t]);
    }
    const auto out = sent(exchange_row[s]), in = received(exchange_row[s]);
    for (std::uint64_t t = 0; t < tiles; ++t) {
      // A word leaves and one arrives in a cycle, at the same time or not.
      const std::uint64_t busy_cycles = exchange(exchange_row[s])[t] - idle(exchange_row[s])[t];
      EXPECT_GE(busy_cycles, std::max(out[t], in[t]) / 4);
      EXPECT_LE(busy_cycles, (out[t] + in[t]) / 4);
    }
    EXPECT_EQ(added(in), moved[s]);
    EXPECT_EQ(std::max(std::ranges::max(out), std::ranges::max(in)), h[s]);
  }
}

TEST_F(TracedRun, TheExchangePlanIsWhatMoves) {
  const auto step = numbers("/exchange/step"), first = numbers("/exchange/first_message"),
             count = numbers("/exchange/messages");
  const auto bytes = numbers("/exchange/message/bytes"),
             start = numbers("/exchange/message/start_cycle"),
             cycles = numbers("/exchange/message/cycles");
  const auto planned = numbers("/program/step/exchange_bytes");
  const auto length = numbers("/program/step/predicted_cycles");
  ASSERT_FALSE(step.empty());
  std::uint64_t moved = 0;
  for (std::size_t e = 0; e < step.size(); ++e) {
    std::uint64_t sum_of_bytes = 0, end = 0;
    for (std::uint64_t m = first[e]; m < first[e] + count[e]; ++m) {
      sum_of_bytes += bytes[m];
      end = std::max(end, start[m] + cycles[m]);
    }
    EXPECT_LE(sum_of_bytes, planned[step[e]]);
    EXPECT_EQ(end, length[step[e]]);
    moved += sum_of_bytes;
  }
  EXPECT_EQ(total("bytes_exchanged"), kCalls * moved);
}

TEST_F(TracedRun, MostLiveBytesOfATileAreThoseOfItsCategories) {
  const auto bytes = numbers("/memory/bytes"), most = numbers("/memory/max_live_bytes");
  const std::uint64_t categories = file_->dims("/memory/category")[0];
  for (std::size_t t = 0; t < most.size(); ++t) {
    std::uint64_t all = 0;
    for (std::uint64_t c = 0; c < categories; ++c) all += bytes[t * categories + c];
    EXPECT_EQ(most[t], all) << t;
  }
  EXPECT_EQ(std::ranges::max(numbers("/memory/liveness/peak_tile_bytes")),
            total("peak_tile_bytes"));
}

TEST_F(TracedRun, HostTransfersFillTheirSupersteps) {
  const auto superstep = numbers("/host/superstep"), start = numbers("/host/start_cycle"),
             cycles = numbers("/host/cycles"), stream = numbers("/host/stream"),
             bytes = numbers("/host/bytes");
  const auto begin = numbers("/supersteps/start_cycle"), host = numbers("/supersteps/host_cycles");
  const auto stream_bytes = numbers("/program/stream/bytes");
  EXPECT_EQ(sum("/host/bytes"), total("host_bytes"));
  for (std::size_t i = 0; i < superstep.size(); ++i) {
    EXPECT_GE(start[i], begin[superstep[i]]);
    EXPECT_LE(start[i] + cycles[i], begin[superstep[i]] + host[superstep[i]]);
    EXPECT_EQ(bytes[i], stream_bytes[stream[i]]);
  }
  const auto iteration = numbers("/supersteps/iteration");
  EXPECT_TRUE(std::ranges::is_sorted(iteration));
  EXPECT_EQ(iteration.back(), kCalls - 1);
}

TEST_F(TracedRun, VisitsToTheHostHaveABeginningDataAndAnEnd) {
  const auto begin = numbers("/supersteps/start_cycle"), sync = numbers("/supersteps/sync_cycles"),
             host = numbers("/supersteps/host_cycles"),
             visit_begin = numbers("/supersteps/visit_begin_cycles"),
             visit_end = numbers("/supersteps/visit_end_cycles");
  std::vector<std::uint64_t> last(begin.size());
  const auto superstep = numbers("/host/superstep"), start = numbers("/host/start_cycle"),
             cycles = numbers("/host/cycles"), packets = numbers("/host/packets"),
             bytes = numbers("/host/bytes");
  for (std::size_t i = 0; i < superstep.size(); ++i) {
    last[superstep[i]] = std::max(last[superstep[i]], start[i] + cycles[i]);
    EXPECT_EQ(packets[i] == 0, bytes[i] == 0);
    EXPECT_LE(packets[i], bytes[i] / 4);
  }
  std::uint64_t visits = 0;
  for (std::size_t s = 0; s < begin.size(); ++s) {
    if (host[s] == 0) continue;
    ++visits;
    ASSERT_GT(s, 0U);
    EXPECT_EQ(visit_begin[s - 1], sync[s - 1]);
    EXPECT_EQ(last[s], begin[s] + host[s] - visit_end[s]);
  }
  EXPECT_EQ(visits, kCalls + 1);
  // All of a visit is of its own step.
  const auto step = numbers("/supersteps/step");
  const auto first = std::ranges::find_if(host, [](auto cycles) { return cycles != 0; });
  const std::uint64_t of_host = step[static_cast<std::size_t>(first - host.begin())];
  EXPECT_EQ(numbers("/summary/step/sync_cycles")[of_host], total("visit_begin_cycles"));
  EXPECT_EQ(total("visits"), visits);
  EXPECT_EQ(total("visit_begin_cycles"), sum("/supersteps/visit_begin_cycles"));
  EXPECT_EQ(total("visit_end_cycles"), sum("/supersteps/visit_end_cycles"));
}

TEST_F(TracedRun, IsTheSameForOneAndTwoThreads) {
  const Hdf5File other = traced("-j2");
  for (const TraceColumn& column : trace_columns()) {
    const std::string& path = column.path;
    if (column.level > TraceLevel::kTile) continue;
    if (column.type == Hdf5Type::kText) {
      EXPECT_EQ(file_->read_text(path), other.read_text(path)) << path;
    } else if (column.type == Hdf5Type::kI32) {
      EXPECT_EQ(file_->read_all<std::int32_t>(path, column.type),
                other.read_all<std::int32_t>(path, column.type))
          << path;
    } else {
      EXPECT_EQ(numbers_of(*file_, path), numbers_of(other, path)) << path;
    }
  }
}

TEST_F(TracedRun, NamesMachineAndProgramByTheirHashes) {
  const auto text = [&](const char* name) {
    return std::get<std::string>(file_->attribute("/", name).value());
  };
  EXPECT_EQ(text("config_sha256"), sha256(file_->read_text("/provenance/config_toml").at(0)));
  EXPECT_EQ(text("program_sha256"), sha256(text_of(std::filesystem::path(SUPERSTEP_SOURCE_DIR) /
                                                   "models/linear_regression/train_step.mlir")));
}

TEST_F(TracedRun, HoldsTheReportThatTheCommandPrints) {
  const ProgramRun report = superstep("report --json " + (scratch_folder() / "run-j1.h5").string());
  const auto whole = nlohmann::json::parse(report.out);
  const auto kept = nlohmann::json::parse(file_->read_text("/summary/json").at(0));
  EXPECT_EQ(kept["cycles"]["total"], total("total_cycles"));
  for (const auto& [name, value] : kept.items()) EXPECT_EQ(whole.at(name), value) << name;
}

}  // namespace
}  // namespace superstep
