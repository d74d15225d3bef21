#include "tests/program/plan_interpreter.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <stdexcept>

#include "compiler/ops/elements.h"
#include "compiler/vertex/interpret.h"

namespace superstep {
namespace {

/// The buffers of a tile.
class TileBuffers : public vertex::BufferMemory {
 public:
  template <class Bytes>
  explicit TileBuffers(const Bytes& bytes_of) : bytes_of_(bytes_of) {}
  [[nodiscard]] std::span<std::byte> bytes(BufferId buffer) override { return bytes_of_(buffer); }

 private:
  std::function<std::vector<std::byte>&(BufferId)> bytes_of_;
};

}  // namespace

PlanInterpreter::PlanInterpreter(const LoweredProgram& program) : program_(program) {
  std::uint32_t tiles = 0;
  for (const Buffer& buffer : program.buffers) {
    for (const Interval& interval : buffer.layout->intervals()) {
      for (const TileId tile : interval.tiles) tiles = std::max(tiles, index(tile) + 1);
    }
  }
  memory_.resize(program.buffers.size());
  for (std::uint32_t b = 0; b < memory_.size(); ++b) {
    memory_[b].resize(tiles);
    const Buffer& buffer = program.buffers[b];
    for (const Interval& interval : buffer.layout->intervals()) {
      for (const TileId tile : interval.tiles) {
        auto& bytes = memory_[b][index(tile)];
        // What nothing wrote must show.
        bytes.assign(buffer.bytes(interval), std::byte{0xa5});
        if (buffer.contents.empty()) continue;
        std::memcpy(bytes.data(), buffer.contents.data() + interval.begin * buffer.element_bytes,
                    static_cast<std::size_t>(interval.count * buffer.element_bytes));
      }
    }
  }
}

std::vector<std::byte>& PlanInterpreter::bytes(BufferId buffer, TileId tile) {
  auto& bytes = memory_[index(execution_.actual(buffer))][index(tile)];
  if (bytes.empty()) throw std::out_of_range("a buffer is used on a tile that does not hold it");
  return bytes;
}

void PlanInterpreter::fill(BufferId id, const HostTensor& tensor) {
  const Buffer& buffer = program_.buffers[index(id)];
  const std::size_t size = buffer.element_bytes;
  for (const auto& [i, box] : buffer.layout->parts(tensor.type.elements())) {
    const Interval& interval = buffer.layout->intervals()[i];
    for_each_index(box.axes, box.from, box.to, [&](std::int64_t from, std::int64_t to) {
      for (const TileId tile : interval.tiles) {
        std::memcpy(bytes(id, tile).data() + static_cast<std::size_t>(from - interval.begin) * size,
                    tensor.data.data() + static_cast<std::size_t>(to) * size, size);
      }
    });
  }
}

HostTensor PlanInterpreter::read(BufferId id, const TensorType& type) {
  HostTensor tensor(type);
  const Buffer& buffer = program_.buffers[index(id)];
  const std::size_t size = buffer.element_bytes;
  for (const auto& [i, box] : buffer.layout->parts(type.elements())) {
    const Interval& interval = buffer.layout->intervals()[i];
    const std::vector<std::byte>& stored = bytes(id, interval.tiles[0]);
    for_each_index(box.axes, box.from, box.to, [&](std::int64_t from, std::int64_t to) {
      std::memcpy(tensor.data.data() + static_cast<std::size_t>(to) * size,
                  stored.data() + static_cast<std::size_t>(from - interval.begin) * size, size);
    });
  }
  return tensor;
}

std::vector<HostTensor> PlanInterpreter::run(std::span<const HostTensor> arguments,
                                             std::span<const TensorType> results) {
  for (std::size_t a = 0; a < arguments.size(); ++a) {
    if (program_.arguments[a]) fill(*program_.arguments[a], arguments[a]);
  }
  results_ = results;
  run_block(program_.main);
  return read_results();
}

std::vector<std::vector<HostTensor>> PlanInterpreter::run_calls(
    std::span<const Arguments> calls, std::span<const TensorType> results) {
  calls_ = calls;
  results_ = results;
  run_block(program_.main);
  return std::move(finished_);
}

std::vector<HostTensor> PlanInterpreter::read_results() {
  std::vector<HostTensor> values;
  for (std::size_t r = 0; r < results_.size(); ++r) {
    values.push_back(program_.results[r] ? read(*program_.results[r], results_[r])
                                         : HostTensor(results_[r]));
  }
  return values;
}

void PlanInterpreter::visit_host(HostVisit visit) {
  if (visit.kind != HostVisit::Kind::kFirst) finished_.push_back(read_results());
  if (visit.kind == HostVisit::Kind::kLast) return;
  const Arguments& arguments = calls_[finished_.size()];
  for (std::size_t a = 0; a < arguments.size(); ++a) {
    if (program_.arguments[a] && arguments[a]) fill(*program_.arguments[a], *arguments[a]);
  }
  HostTensor goes_on(TensorType{DType::kU32, {}});
  goes_on.set<std::uint32_t>(0, finished_.size() + 1 < calls_.size() ? 1 : 0);
  fill(*program_.goes_on, goes_on);
}

void PlanInterpreter::visit_host(const Feed& feed) {
  if (feed.is_in) {
    std::deque<HostTensor>& values = infeeds[feed.stream];
    if (values.empty()) throw std::out_of_range("an infeed is empty");
    if (feed.buffer) fill(*feed.buffer, values.front());
    values.pop_front();
  } else {
    const TensorType none{DType::kU8, {0}};
    outfeeds[feed.stream].push_back(
        feed.buffer ? read(*feed.buffer, program_.buffers[index(*feed.buffer)].type)
                    : HostTensor(none));
  }
}

void PlanInterpreter::run_block(const Block& block) {
  for (const Step& step : block.steps) {
    if (const auto* superstep = std::get_if<Superstep>(&step)) {
      run_superstep(*superstep);
    } else if (const auto* call = std::get_if<Call>(&step)) {
      execution_.call = call;
      run_block(program_.procedures[index(call->procedure)].block);
      execution_.call = nullptr;
    } else if (const auto* loop = std::get_if<Loop>(&step)) {
      bool goes_on = run_scalars(loop->entry) != 0;
      for (;;) {
        run_block(loop->condition);
        if (loop->has_condition()) goes_on = run_scalars(loop->test) != 0;
        if (!goes_on) break;
        run_block(loop->body);
        goes_on = run_scalars(loop->step) != 0;
      }
    } else if (const auto* visit = std::get_if<HostVisit>(&step)) {
      visit_host(*visit);
    } else {
      const auto& branch = std::get<Branch>(step);
      run_block(branch.arms.at(run_scalars(branch.selector)));
    }
  }
}

void PlanInterpreter::run_superstep(const Superstep& superstep) {
  for (const Feed& feed : superstep.feeds) visit_host(feed);
  exchange(superstep.movements);
  for (const ComputeSet& set : superstep.computes) {
    for (const Launch& one : set.launches) {
      if (one.stages.empty()) {
        launch(set.codelet, one);
      } else {
        launch_weighted(one);
      }
    }
  }
}

/// All tiles have the same words: those of the first tell which, and go to all.
std::uint32_t PlanInterpreter::run_scalars(const vertex::Scalars& scalars) {
  std::vector<HostTensor> inputs;
  for (const vertex::Expression::Step& step : scalars.expression.steps()) {
    if (step.primitive != vertex::Primitive::kInput) continue;
    HostTensor& word = inputs.emplace_back(TensorType{step.dtype, {}});
    const std::size_t size = word.data.size();
    const BufferId buffer = scalars.inputs[step.bits];
    for (const Interval& interval : program_.buffers[index(buffer)].layout->intervals()) {
      for (const TileId tile : interval.tiles) {
        const auto begin = bytes(buffer, tile).begin();
        const std::vector<std::byte> its(begin, begin + static_cast<std::ptrdiff_t>(size));
        if (tile != interval.tiles[0] && its != word.data) {
          throw std::logic_error("tiles have different copies of a word");
        }
        word.data = its;
      }
    }
  }
  std::vector<HostTensor> stored;
  const auto value = [&](vertex::Node node) {
    return vertex::evaluate_expression(scalars.expression, node, inputs);
  };
  for (const auto& store : scalars.stores) stored.push_back(value(store.value));
  for (std::size_t s = 0; s < stored.size(); ++s) {
    const BufferId to = scalars.stores[s].to;
    for (const Interval& interval : program_.buffers[index(to)].layout->intervals()) {
      for (const TileId tile : interval.tiles) {
        std::ranges::copy(stored[s].data, bytes(to, tile).begin());
      }
    }
  }
  if (!scalars.decision) return 0;
  return static_cast<std::uint32_t>(read_bits(value(*scalars.decision), 0));
}

void PlanInterpreter::exchange(const std::vector<Movement>& movements) {
  const auto pointer = [&](const Movement::End& end) {
    return vertex::Pointer(bytes(end.buffer, end.tile), end.byte);
  };
  std::vector<std::vector<std::byte>> sent;
  for (const Movement& movement : movements) {
    std::vector<std::byte> words(movement.words * 4ULL);
    pointer(movement.source).read(words.data(), words.size());
    sent.push_back(std::move(words));
  }
  for (std::size_t i = 0; i < movements.size(); ++i) {
    for (const Movement::End& end : movements[i].destinations) {
      pointer(end).write(sent[i].data(), sent[i].size());
    }
  }
}

void PlanInterpreter::launch_weighted(const Launch& launch) {
  // The machine of the plan is not known here: workers are counted by their words.
  std::size_t blocks = 0;
  for (const Launch::Stage& stage : launch.stages) blocks += stage.blocks;
  const std::size_t workers = launch.state.size() / (blocks * launch.worker_words);
  TileBuffers memory([&](BufferId buffer) -> auto& { return bytes(buffer, launch.tile); });
  const vertex::StateView state(std::span(launch.state.begin(), launch.state.end()), memory);
  vertex::Pointer weights(bytes(launch.weights.buffer, launch.tile), launch.weights.value);
  std::size_t word = 0;
  for (const Launch::Stage& stage : launch.stages) {
    const auto& product = std::get<vertex::AmpProduct>(program_.codelets[stage.codelet]);
    for (std::uint32_t b = 0; b < stage.blocks; ++b) {
      for (std::size_t w = 0; w < workers; ++w, word += launch.worker_words) {
        product.interpret(state.from(word, launch.worker_words), weights);
      }
      weights = weights.plus(product.channels() * vertex::kAmpChannelBytes);
    }
  }
}

void PlanInterpreter::launch(std::uint32_t codelet, const Launch& launch) {
  TileBuffers memory([&](BufferId buffer) -> auto& { return bytes(buffer, launch.tile); });
  const vertex::StateView state(std::span(launch.state.begin(), launch.state.end()), memory);
  const std::size_t words = launch.worker_words == 0 ? state.size() : launch.worker_words;
  for (std::size_t w = 0; w < state.size(); w += words) {
    vertex::interpret(program_.codelets[codelet], state.from(w, words));
  }
}

}  // namespace superstep
