#include "tests/program/plan_interpreter.h"

#include <algorithm>
#include <cstring>

#include "compiler/vertex/interpret.h"
#include "compiler/vertex/number.h"

namespace superstep {
namespace {

/// A position in tile memory: bytes of a buffer or of the vertex state.
struct Pointer {
  std::vector<std::byte>* bytes = nullptr;
  std::size_t at = 0;

  void read(void* to, std::size_t size) const {
    if (at + size > bytes->size()) throw std::out_of_range("read past a buffer");
    std::memcpy(to, bytes->data() + at, size);
  }
  void write(const void* from, std::size_t size) const {
    if (at + size > bytes->size()) throw std::out_of_range("write past a buffer");
    std::memcpy(bytes->data() + at, from, size);
  }
  [[nodiscard]] Pointer plus(std::int64_t n) const {
    return {bytes, static_cast<std::size_t>(static_cast<std::int64_t>(at) + n)};
  }
};

HostTensor element(DType dtype, const Pointer& from) {
  HostTensor tensor(TensorType{dtype, {}});
  from.read(tensor.data.data(), size_of(dtype));
  return tensor;
}

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
        if (buffer.kind != Buffer::Kind::kConstant) continue;
        std::memcpy(bytes.data(), buffer.contents.data() + interval.begin * buffer.element_bytes,
                    static_cast<std::size_t>(interval.count * buffer.element_bytes));
      }
    }
  }
}

std::vector<std::byte>& PlanInterpreter::bytes(BufferId buffer, TileId tile) {
  auto& bytes = memory_[index(buffer)][index(tile)];
  if (bytes.empty()) throw std::out_of_range("a buffer is used on a tile that does not hold it");
  return bytes;
}

void PlanInterpreter::fill(BufferId id, const HostTensor& tensor) {
  const Buffer& buffer = program_.buffers[index(id)];
  for (const Interval& interval : buffer.layout->intervals()) {
    for (const TileId tile : interval.tiles) {
      std::memcpy(bytes(id, tile).data(),
                  tensor.data.data() + interval.begin * buffer.element_bytes,
                  static_cast<std::size_t>(interval.count * buffer.element_bytes));
    }
  }
}

HostTensor PlanInterpreter::read(BufferId id, const TensorType& type) {
  HostTensor tensor(type);
  const Buffer& buffer = program_.buffers[index(id)];
  for (const Interval& interval : buffer.layout->intervals()) {
    std::memcpy(tensor.data.data() + interval.begin * buffer.element_bytes,
                bytes(id, interval.tiles[0]).data(),
                static_cast<std::size_t>(interval.count * buffer.element_bytes));
  }
  return tensor;
}

std::vector<HostTensor> PlanInterpreter::run(std::span<const HostTensor> arguments,
                                             std::span<const TensorType> results) {
  for (std::size_t a = 0; a < arguments.size(); ++a) {
    if (program_.arguments[a]) fill(*program_.arguments[a], arguments[a]);
  }
  for (const Superstep& superstep : program_.supersteps) {
    exchange(superstep.movements);
    for (const ComputeSet& set : superstep.computes) {
      for (const Launch& one : set.launches) {
        if (one.stages.empty()) {
          launch(program_.codelets[set.codelet], one);
        } else {
          launch_weighted(one);
        }
      }
    }
  }
  std::vector<HostTensor> values;
  for (std::size_t r = 0; r < results.size(); ++r) {
    values.push_back(program_.results[r] ? read(*program_.results[r], results[r])
                                         : HostTensor(results[r]));
  }
  return values;
}

void PlanInterpreter::exchange(const std::vector<Movement>& movements) {
  std::vector<std::vector<std::byte>> sent;
  for (const Movement& movement : movements) {
    std::vector<std::byte> words(movement.words * 4ULL);
    Pointer{&bytes(movement.source.buffer, movement.source.tile), movement.source.byte}.read(
        words.data(), words.size());
    sent.push_back(std::move(words));
  }
  for (std::size_t i = 0; i < movements.size(); ++i) {
    for (const Movement::End& end : movements[i].destinations) {
      Pointer{&bytes(end.buffer, end.tile), end.byte}.write(sent[i].data(), sent[i].size());
    }
  }
}

void PlanInterpreter::launch_weighted(const Launch& launch) {
  // The machine of the plan is not known here: workers are counted by their words.
  std::size_t blocks = 0;
  for (const Launch::Stage& stage : launch.stages) blocks += stage.blocks;
  const std::size_t workers = launch.state.size() / (blocks * launch.worker_words);
  const auto pointer = [&](const StateWord& word) {
    return Pointer{&bytes(word.buffer, launch.tile), word.value};
  };
  Pointer weights = pointer(launch.weights);
  auto state = launch.state.begin();
  for (const Launch::Stage& stage : launch.stages) {
    const auto& product = std::get<AmpProductSpec>(program_.codelets[stage.codelet]).product;
    const std::int64_t live = product.depth() - product.unused_inputs;
    const auto size = static_cast<std::int64_t>(size_of(product.operands));
    const auto number = [&](const Pointer& at) {
      const HostTensor one = element(product.operands, at);
      std::uint64_t bits = 0;
      std::memcpy(&bits, one.data.data(), one.data.size());
      return static_cast<float>(vertex::float_of(product.operands, bits));
    };
    for (std::uint32_t b = 0; b < stage.blocks; ++b) {
      for (std::size_t w = 0; w < workers; ++w, state += launch.worker_words) {
        const std::int64_t first_stride = static_cast<std::int64_t>(state[3].value & 0x3ffU) * 8;
        const std::int64_t row = product.rows_inside ? size : first_stride + 24;
        const std::int64_t input = product.rows_inside ? first_stride : size;
        const std::int64_t repeats = static_cast<std::int32_t>(state[2].value);
        const std::int64_t rows =
            product.rows_inside && repeats >= 0 ? 2 * repeats + 4 : repeats + 3;
        for (std::int64_t r = 0; r < rows; ++r) {
          for (std::int64_t c = 0; c < product.channels(); ++c) {
            const Pointer sum = pointer(state[0]).plus((r * product.channels() + c) * 4);
            float total = 0;
            if (product.accumulates) sum.read(&total, 4);
            const auto term = [&](std::int64_t k) {
              return number(pointer(state[1]).plus(r * row + k * input)) *
                     number(weights.plus(c * vertex::kAmpChannelBytes + k * size));
            };
            if (product.operands == DType::kF32) {
              for (std::int64_t k = 0; k < live; ++k) total += term(k);
            } else {
              for (std::int64_t k = 0; k < live; k += 4) {
                total += (term(k) + term(k + 1)) + (term(k + 2) + term(k + 3));
              }
            }
            sum.write(&total, 4);
          }
        }
      }
      weights = weights.plus(product.channels() * vertex::kAmpChannelBytes);
    }
  }
}

void PlanInterpreter::launch(const CodeletSpec& spec, const Launch& launch) {
  std::vector<std::byte> own(launch.state.size() * 4);
  for (std::size_t i = 0; i < launch.state.size(); ++i) {
    std::memcpy(own.data() + i * 4, &launch.state[i].value, 4);
  }
  const auto number = [&](std::size_t i) {
    return static_cast<std::int64_t>(launch.state[i].value);
  };
  // A worker's count that is negative.
  const auto is_idle = [&](std::size_t i) { return (launch.state[i].value >> 31) != 0; };
  const auto pointer = [&](std::size_t i) -> Pointer {
    const StateWord& word = launch.state[i];
    if (word.base == StateWord::Base::kState) return {&own, word.value};
    return {&bytes(word.buffer, launch.tile), word.value};
  };
  if (const auto* elementwise = std::get_if<ElementwiseSpec>(&spec)) {
    std::vector<DType> dtypes(elementwise->inputs.size(), DType::kF32);
    for (const auto& step : elementwise->expression.steps()) {
      if (step.primitive == vertex::Primitive::kInput) dtypes[step.bits] = step.dtype;
    }
    const std::size_t outputs = elementwise->outputs.size();
    std::vector<std::size_t> input_words{1 + outputs};
    for (const vertex::Access access : elementwise->inputs) {
      input_words.push_back(input_words.back() + vertex::state_words(access));
    }
    const auto element_of = [&](std::size_t i, std::int64_t e) -> std::int64_t {
      const std::size_t word = input_words[i];
      switch (elementwise->inputs[i]) {
        case vertex::Access::kScalar:
          return 0;
        case vertex::Access::kCyclic:
        case vertex::Access::kAlignedCyclic:
          return (number(word + 1) + e) % number(word + 2);
        case vertex::Access::kStretched:
        case vertex::Access::kAlignedStretched:
          return (number(word + 1) + e) / number(word + 2);
        default:
          return e;
      }
    };
    for (std::int64_t e = 0; e < number(0); ++e) {
      std::vector<HostTensor> inputs;
      for (std::size_t i = 0; i < dtypes.size(); ++i) {
        const std::int64_t at = element_of(i, e) * static_cast<std::int64_t>(size_of(dtypes[i]));
        inputs.push_back(element(dtypes[i], pointer(input_words[i]).plus(at)));
      }
      std::vector<HostTensor> values;
      for (const vertex::Node node : elementwise->outputs) {
        values.push_back(vertex::evaluate_expression(elementwise->expression, node, inputs));
      }
      for (std::size_t o = 0; o < outputs; ++o) {
        const auto size = static_cast<std::int64_t>(size_of(values[o].type.dtype));
        pointer(1 + o).plus(e * size).write(values[o].data.data(), values[o].data.size());
      }
    }
  } else if (const auto* reduce = std::get_if<ReduceSpec>(&spec)) {
    const std::size_t k = reduce->dtypes.size();
    std::vector<DType> elements = reduce->dtypes;
    for (const auto& step : reduce->expression.steps()) {
      if (step.primitive == vertex::Primitive::kInput && step.bits >= k) {
        elements[step.bits - k] = step.dtype;
      }
    }
    for (std::int64_t outer = 0; outer < number(0); ++outer) {
      for (std::int64_t inner = 0; inner < number(2); ++inner) {
        std::vector<HostTensor> values;
        for (std::size_t i = 0; i < k; ++i) {
          values.push_back(element(reduce->dtypes[i], pointer(3 + i)));
        }
        for (std::int64_t r = 0; r < number(1); ++r) {
          std::vector<HostTensor> inputs = values;
          for (std::size_t i = 0; i < k; ++i) {
            const std::int64_t at = (outer * number(1) + r) * number(2) + inner;
            inputs.push_back(element(
                elements[i],
                pointer(3 + 2 * k + i).plus(at * static_cast<std::int64_t>(size_of(elements[i])))));
          }
          for (std::size_t i = 0; i < k; ++i) {
            values[i] = vertex::evaluate_expression(reduce->expression, reduce->outputs[i], inputs);
          }
        }
        for (std::size_t i = 0; i < k; ++i) {
          const auto size = static_cast<std::int64_t>(values[i].data.size());
          pointer(3 + k + i)
              .plus((outer * number(2) + inner) * size)
              .write(values[i].data.data(), values[i].data.size());
        }
      }
    }
  } else if (const auto* copy = std::get_if<CopySpec>(&spec)) {
    for (std::int64_t b = 0; b < number(0); ++b) {
      const auto row = static_cast<std::size_t>(2 + 12 * b);
      const auto stride = [&](std::size_t i) {
        return static_cast<std::int64_t>(static_cast<std::int32_t>(launch.state[row + i].value));
      };
      for (std::int64_t x = 0; x < number(row + 2); ++x) {
        for (std::int64_t y = 0; y < number(row + 3); ++y) {
          for (std::int64_t z = 0; z < number(row + 4); ++z) {
            std::uint32_t value = 0;
            pointer(row + 1)
                .plus(x * stride(8) + y * stride(9) + z * stride(10))
                .read(&value, copy->element_bytes);
            pointer(row)
                .plus(x * stride(5) + y * stride(6) + z * stride(7))
                .write(&value, copy->element_bytes);
          }
        }
      }
    }
  } else if (const auto* append = std::get_if<AppendSpec>(&spec)) {
    std::int64_t to = 0;
    for (std::int64_t c = 0; c < number(1); ++c) {
      const auto command = static_cast<std::size_t>(3 + 5 * c);
      const auto stride = [&](std::size_t i) {
        return static_cast<std::int64_t>(
            static_cast<std::int32_t>(launch.state[command + i].value));
      };
      for (std::int64_t r = 0; r < number(command); ++r) {
        for (std::int64_t e = 0; e < number(command + 1); ++e, to += append->element_bytes) {
          std::uint32_t value = 0;
          pointer(command + 2)
              .plus(r * stride(4) + e * stride(3))
              .read(&value, append->element_bytes);
          pointer(0).plus(to).write(&value, append->element_bytes);
        }
      }
    }
  } else if (const auto* add = std::get_if<AddPartsSpec>(&spec)) {
    for (std::size_t w = 0; w < launch.state.size(); w += launch.worker_words) {
      if (is_idle(w)) continue;
      const std::int64_t elements = (number(w + 3) - number(w + 2)) / 4 + 2;
      for (std::int64_t e = 0; e < elements; ++e) {
        float sum = 0;
        for (std::int64_t p = 0; p < add->parts; ++p) {
          float part = 0;
          pointer(w + 1).plus(p * number(w + 4) * 16 + e * 4).read(&part, 4);
          sum += part;
        }
        pointer(w + 2).plus(e * 4).write(&sum, 4);
      }
    }
  } else if (std::holds_alternative<HalfTransposeSpec>(spec)) {
    for (std::size_t w = 0; w < launch.state.size(); w += launch.worker_words) {
      const std::int64_t pitch = number(w + 1) * 8, column_pitch = number(w + 3) * 8;
      for (std::int64_t s = 0; s < number(w); ++s) {
        const auto strip = w + 4 + 3 * static_cast<std::size_t>(s);
        for (std::int64_t c = 0; c < 4 * number(strip + 2); ++c) {
          for (std::int64_t k = 0; k < 4; ++k) {
            std::uint16_t value = 0;
            pointer(strip).plus(k * pitch + c * 2).read(&value, 2);
            pointer(strip + 1).plus(c * column_pitch + k * 2).write(&value, 2);
          }
        }
      }
    }
  } else if (std::holds_alternative<AmpTransposeSpec>(spec)) {
    for (std::size_t w = 0; w < launch.state.size(); w += launch.worker_words) {
      const std::int64_t pitch = number(w + 3) * 8;
      const std::int64_t next = ((number(w + 2) >> 20) + 7) * 8;
      for (std::int64_t s = 0; s < number(w); ++s) {
        const auto strip = w + 4 + 3 * static_cast<std::size_t>(s);
        for (std::int64_t b = 0; b < number(strip + 2); ++b) {
          for (std::int64_t k = 0; k < 8; ++k) {
            for (std::int64_t c = 0; c < 2; ++c) {
              std::uint32_t value = 0;
              pointer(strip).plus((b * 8 + k) * pitch + c * 4).read(&value, 4);
              pointer(strip + 1).plus(b * next + c * 32 + k * 4).write(&value, 4);
            }
          }
        }
      }
    }
  } else {
    const auto& matmul = std::get<MatmulSpec>(spec);
    vertex::Expression expression;
    const bool is_float_product = is_float(matmul.input);
    const DType sum = is_float_product ? DType::kF32 : matmul.output;
    const vertex::Node a = expression.convert(expression.input(0, matmul.input), sum);
    const vertex::Node b = expression.convert(expression.input(1, matmul.input), sum);
    const vertex::Node product = expression.apply(vertex::Primitive::kMul, {a, b});
    const vertex::Node next =
        expression.apply(vertex::Primitive::kAdd, {expression.input(2, sum), product});
    vertex::Expression last;
    const vertex::Node result = last.convert(last.input(0, sum), matmul.output);
    const auto size = static_cast<std::int64_t>(size_of(matmul.input));
    for (std::int64_t m = 0; m < number(0); ++m) {
      for (std::int64_t n = 0; n < number(1); ++n) {
        HostTensor total(TensorType{sum, {}});
        for (std::int64_t d = 0; d < number(2); ++d) {
          const std::vector<HostTensor> inputs{
              element(matmul.input, pointer(3).plus((m * number(2) + d) * size)),
              element(matmul.input, pointer(4).plus((n * number(2) + d) * size)), total};
          total = vertex::evaluate_expression(expression, next, inputs);
        }
        const std::vector<HostTensor> inputs{total};
        const HostTensor value = vertex::evaluate_expression(last, result, inputs);
        pointer(5)
            .plus((m * number(1) + n) * static_cast<std::int64_t>(value.data.size()))
            .write(value.data.data(), value.data.size());
      }
    }
  }
}

}  // namespace superstep
