// Compiles a StableHLO program for a machine, keeps the image in a file, and runs what is in it.

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/hdf5.h"
#include "compiler/compile.h"
#include "isa/image_file.h"
#include "sim/simulation.h"

using namespace superstep;

namespace {

void compile_and_run(const std::string& machine, const std::string& program,
                     const std::string& inputs, const std::string& folder) {
  const std::string file = folder + "/image.h5";
  write_image(file,
              compile(import_stablehlo(read_text_file(program), program), load_machine(machine)));
  Simulation simulation(read_image(file));

  const TensorFile given = read_tensors(inputs, "arg");
  std::vector<HostTensor> arguments;
  for (std::size_t k = 0; k < simulation.image().arguments.size(); ++k)
    arguments.push_back(given.at("arg" + std::to_string(k)));
  const std::vector<HostTensor> found = simulation.call(arguments, true);

  TensorFile results;
  for (std::size_t k = 0; k < found.size(); ++k) results["result" + std::to_string(k)] = found[k];
  write_tensors(folder + "/results.h5", results);
  std::printf("%llu\n", static_cast<unsigned long long>(simulation.now().value()));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fputs("usage: package_test MACHINE PROGRAM INPUTS FOLDER\n", stderr);
    return 2;
  }
  try {
    compile_and_run(argv[1], argv[2], argv[3], argv[4]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
