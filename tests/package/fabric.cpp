// Runs a compiled program on a fabric of its own: one that tells how much each phase sends and
// moves.

#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "base/hdf5.h"
#include "isa/image_file.h"
#include "sim/exchange/fabric.h"
#include "sim/simulation.h"

using namespace superstep;

namespace {

class TalkingFabric : public FabricModel {
 public:
  explicit TalkingFabric(const MachineConfig& machine) : fabric_(machine) {}

  const FabricResult& resolve(std::span<const FabricPort> ports) override {
    std::uint64_t sent = 0;
    for (const FabricPort& port : ports) {
      for (const PortEvent& event : port.events()) {
        if (event.kind == PortEvent::Kind::kSend) sent += event.words;
      }
    }
    const FabricResult& result = fabric_.resolve(ports);
    std::printf("%zu tiles send %llu words, %llu B arrive\n", ports.size(),
                static_cast<unsigned long long>(sent),
                static_cast<unsigned long long>(result.bytes));
    return result;
  }

 private:
  Fabric fabric_;
};

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) return 2;
  Simulation simulation(read_image(argv[1]), {.make_fabric = [](const MachineConfig& machine) {
                          return std::make_unique<TalkingFabric>(machine);
                        }});
  std::vector<HostTensor> arguments;
  for (const auto& [name, tensor] : read_tensors(argv[2], "arg")) arguments.push_back(tensor);
  simulation.call(arguments, true);
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
