// Runs a compiled program on a fabric of its own, on which a word takes as long from any tile to
// any other.

#include <exception>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>

#include "base/hdf5.h"
#include "isa/image_file.h"
#include "sim/simulation.h"

using namespace superstep;

class EqualWires : public Fabric {
 public:
  EqualWires(const MachineConfig& machine, Cycles way)
      : Fabric(machine, 0, [way](TileId, TileId) { return way; }) {}

  const FabricResult& resolve(std::span<const FabricPort> ports) override {
    const FabricResult& result = Fabric::resolve(ports);
    std::cout << ports.size() << " tiles receive " << result.bytes << " B\n";
    return result;
  }
};

int main(int argc, char** argv) try {
  if (argc != 4) throw std::invalid_argument("package_fabric IMAGE INPUTS CYCLES");
  const Cycles way(std::stoull(argv[3]));
  Simulation simulation(read_image(argv[1]), {.make_fabric = [&](const MachineConfig& machine) {
                          return std::make_unique<EqualWires>(machine, way);
                        }});
  const HostTensor result = simulation.call(read_tensor_list(argv[2], "arg"), true).at(0);
  std::cout << result.get<float>(0) << " in cycle " << simulation.now().value() << '\n';
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
