// Compiles a StableHLO program for a machine, keeps the image in a file, and runs what is in it.

#include <exception>
#include <filesystem>
#include <iostream>
#include <stdexcept>

#include "base/files.h"
#include "base/hdf5.h"
#include "compiler/compile.h"
#include "isa/image_file.h"
#include "sim/simulation.h"

using namespace superstep;

int main(int argc, char** argv) try {
  if (argc != 5) throw std::invalid_argument("package_test MACHINE PROGRAM INPUTS FOLDER");
  const std::filesystem::path program = argv[2], inputs = argv[3], folder = argv[4];
  const Module module = import_stablehlo(read_text_file(program), program);
  write_image(folder / "image.h5", compile(module, load_machine(argv[1])));

  Simulation simulation(read_image(folder / "image.h5"));
  write_tensor_list(folder / "results.h5", "result",
                    simulation.call(read_tensor_list(inputs, "arg"), true));
  std::cout << simulation.now().value() << '\n';
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
