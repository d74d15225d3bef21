#include "sim/run_inputs.h"

#include <fmt/format.h>

#include <span>
#include <string_view>

#include "base/error.h"
#include "base/sha256.h"

namespace superstep {
namespace {

std::string digest_of(const HostTensor& tensor) {
  Sha256 hash;
  hash.add(tensor.type.text() + "\n");
  hash.add({reinterpret_cast<const char*>(tensor.data.data()), tensor.data.size()});
  return hash.digest();
}

}  // namespace

InputDigests digests_of(const std::vector<HostTensor>& arguments, const FeedTensors& infeeds) {
  InputDigests digests;
  for (std::size_t k = 0; k < arguments.size(); ++k)
    digests[fmt::format("arg{}", k)] = digest_of(arguments[k]);
  for (const auto& [position, tensor] : infeeds)
    digests[fmt::format("infeed{}", position)] = digest_of(tensor);
  return digests;
}

void check_inputs(const std::filesystem::path& path, const InputDigests& made_with,
                  const InputDigests& given) {
  if (made_with.empty()) return;
  std::vector<Problem> problems;
  const auto add = [&](const std::string& text) {
    problems.push_back({{path.string(), 0, 0}, text});
  };
  for (const auto& [name, digest] : given) {
    const auto before = made_with.find(name);
    if (before == made_with.end()) {
      add(fmt::format("was made without {}: a run goes on with the values that it began with",
                      name));
    } else if (before->second != digest) {
      add(fmt::format("was made with another {}: a run goes on with the values that it began with",
                      name));
    }
  }
  for (const auto& [name, digest] : made_with) {
    if (!given.contains(name)) add(fmt::format("was made with {}, which the run lacks", name));
  }
  if (!problems.empty()) throw MalformedInput(std::move(problems));
}

}  // namespace superstep
