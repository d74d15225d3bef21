// Runs a compiled program on fabrics of its own: one that tells what each phase moves, and one with
// a law of its own.

#include <algorithm>
#include <cstring>
#include <exception>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>

#include "base/hdf5.h"
#include "isa/image_file.h"
#include "sim/simulation.h"

using namespace superstep;

class TalkingFabric : public Fabric {
 public:
  using Fabric::Fabric;

  const FabricResult& resolve(std::span<const FabricPort> ports) override {
    const FabricResult& result = Fabric::resolve(ports);
    std::uint64_t sent = 0;
    for (const PortResult& port : result.ports) sent += port.traffic.sent_bytes;
    std::cout << ports.size() << " tiles send " << sent << " B, " << result.bytes << " B arrive\n";
    return result;
  }
};

/// Every word takes as long as every other, from any tile to any.
class EqualWires : public FabricModel {
 public:
  EqualWires(const MachineConfig& machine, std::uint64_t cycles)
      : base_(machine.tile.memory_base), cycles_(cycles) {}

  const FabricResult& resolve(std::span<const FabricPort> ports) override {
    result_ = {};
    for (const FabricPort& port : ports) receive(ports, port, result_.ports.emplace_back());
    return result_;
  }

 private:
  /// What a port is told to listen to, and where its words go.
  void receive(std::span<const FabricPort> ports, const FabricPort& port, PortResult& result) {
    auto source = ports.end();
    std::uint32_t pointer = 0;
    std::uint64_t cycle = 0;
    for (const PortEvent& event : port.events()) {
      const bool sends = event.kind == PortEvent::Kind::kSend;
      result.last_event = std::max(result.last_event, event.cycle + (sends ? event.words - 1 : 0));
      if (sends) continue;
      for (; source != ports.end() && cycle < event.cycle; ++cycle, pointer += 4) {
        const std::byte* word = word_that_left(*source, cycle - cycles_);
        if (word == nullptr) return fail(cycle, port.tile, event.pc);
        std::memcpy(&port.memory[pointer - base_], word, 4);
        result_.bytes += 4;
      }
      cycle = event.cycle;
      if (event.kind == PortEvent::Kind::kPointer) {
        pointer = event.value;
      } else {  // another tile, or the host, or nobody
        source = std::ranges::find(ports, TileId{event.value}, &FabricPort::tile);
      }
    }
  }

  const std::byte* word_that_left(const FabricPort& port, std::uint64_t cycle) const {
    for (const PortEvent& event : port.events()) {
      if (event.kind != PortEvent::Kind::kSend || cycle - event.cycle >= event.words) continue;
      return &port.memory[event.value - base_ + 4 * (cycle - event.cycle)];
    }
    return nullptr;
  }

  void fail(std::uint64_t cycle, TileId tile, std::uint32_t pc) {
    if (result_.fault && result_.fault->cycle <= cycle) return;
    result_.fault = {.cycle = cycle, .tile = tile, .pc = pc, .cause = "no word arrives"};
  }

  std::uint32_t base_;
  std::uint64_t cycles_;
  FabricResult result_;
};

/// How a call ends on equal wires.
std::string end_on_wires(const char* image, const std::vector<HostTensor>& arguments,
                         std::uint64_t cycles) {
  Simulation simulation(read_image(image), {.make_fabric = [&](const MachineConfig& machine) {
                          return std::make_unique<EqualWires>(machine, cycles);
                        }});
  simulation.set_arguments(arguments);
  const Stop stop = simulation.call(true);
  if (stop.trap) return stop.trap->cause;
  std::string text = "cycle " + std::to_string(simulation.now().value()) + ", result";
  for (int i = 0; i < 4; ++i) text += " " + std::to_string(simulation.result(0).get<float>(i));
  return text;
}

int main(int argc, char** argv) try {
  if (argc != 3) throw std::invalid_argument("package_fabric IMAGE INPUTS");
  Simulation simulation(read_image(argv[1]), {.make_fabric = [](const MachineConfig& machine) {
                          return std::make_unique<TalkingFabric>(machine);
                        }});
  simulation.call(read_tensor_list(argv[2], "arg"), true);
  for (const std::uint64_t cycles : {32, 33}) {
    std::cout << cycles
              << " cycles: " << end_on_wires(argv[1], read_tensor_list(argv[2], "arg"), cycles)
              << '\n';
  }
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
