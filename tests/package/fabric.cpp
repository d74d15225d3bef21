// Runs a compiled program on a fabric of its own: one that tells what each phase moves.

#include <exception>
#include <iostream>
#include <memory>
#include <stdexcept>

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

int main(int argc, char** argv) try {
  if (argc != 3) throw std::invalid_argument("package_fabric IMAGE INPUTS");
  Simulation simulation(read_image(argv[1]), {.make_fabric = [](const MachineConfig& machine) {
                          return std::make_unique<TalkingFabric>(machine);
                        }});
  simulation.call(read_tensor_list(argv[2], "arg"), true);
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
