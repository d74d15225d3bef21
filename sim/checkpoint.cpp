#include "sim/checkpoint.h"

#include <fmt/format.h>

#include <optional>
#include <stdexcept>
#include <variant>

#include "base/error.h"
#include "base/hdf5_file.h"
#include "base/output_file.h"
#include "base/sha256.h"
#include "isa/image_file.h"

namespace superstep {
namespace {

constexpr std::uint64_t kChunkRows = 1 << 16;
constexpr const char* kInputs = "/inputs";  ///< a group with a digest of each

/// Calls `visit(name, type, list)` for each dataset.
template <class Content, class Visit>
void for_each_dataset(Content& checkpoint, const Visit& visit) {
  visit("/state", Hdf5Type::kU8, checkpoint.state);
  visit("/codes", Hdf5Type::kU32, checkpoint.codes);
  visit("/code_words", Hdf5Type::kU32, checkpoint.code_words);
  visit("/pages", Hdf5Type::kU32, checkpoint.pages);
  visit("/page_bytes", Hdf5Type::kU8, checkpoint.page_bytes);
}

std::string digest_of(const Checkpoint& checkpoint) {
  Sha256 hash;
  hash.add(checkpoint.image_sha256);
  for (const auto& [name, digest] : checkpoint.inputs)
    hash.add(fmt::format("{} {}\n", name, digest));
  for_each_dataset(checkpoint, [&](const char* name, Hdf5Type, const auto& list) {
    hash.add(fmt::format("{} {}\n", name, list.size()));
    hash.add({reinterpret_cast<const char*>(list.data()), list.size() * sizeof(list[0])});
  });
  return hash.digest();
}

std::uint64_t number_attribute(const Hdf5File& file, const char* name) {
  const std::optional<Hdf5Value> value = file.attribute("/", name);
  const auto* number = value ? std::get_if<std::uint64_t>(&*value) : nullptr;
  return number == nullptr ? 0 : *number;
}

/// Throws MalformedInput for a file that this reader does not take.
void check_format(const Hdf5File& file, const std::filesystem::path& path) {
  const std::string format = file.text_attribute("/", "format");
  const std::string version = file.text_attribute("/", "format_version");
  std::string why;
  if (format.empty()) {
    why = "is an HDF5 file, but no checkpoint; `superstep run --save-checkpoint FILE` writes one";
  } else if (format != kCheckpointFormat) {
    why = fmt::format("is a {}, no checkpoint; `superstep run --save-checkpoint FILE` writes one",
                      format);
  } else if (version != kCheckpointVersion) {
    why = fmt::format("is {}/{}, and this version of Superstep reads {}/{}: run from the beginning",
                      format, version, kCheckpointFormat, kCheckpointVersion);
  }
  if (!why.empty()) throw MalformedInput({{{path.string(), 0, 0}, why}});
}

Checkpoint read(const Hdf5File& file) {
  Checkpoint checkpoint{.image_sha256 = file.text_attribute("/", "image_sha256"),
                        .cycle = number_attribute(file, "cycle"),
                        .supersteps = number_attribute(file, "supersteps"),
                        .calls_done = number_attribute(file, "calls_done")};
  for (const std::string& name : file.attributes(kInputs))
    checkpoint.inputs[name] = file.text_attribute(kInputs, name);
  for_each_dataset(checkpoint, [&](const char* name, Hdf5Type type, auto& list) {
    if (file.type(name) != type) throw std::runtime_error(std::string(name) + " has another type");
    (void)file.shape(name, 1);
    list = file.read_all<std::remove_cvref_t<decltype(list[0])>>(name, type);
  });
  if (digest_of(checkpoint) != file.text_attribute("/", "content_sha256")) {
    throw std::runtime_error("its contents are not those that were written");
  }
  return checkpoint;
}

}  // namespace

std::string digest_of_what_runs(const ProgramImage& image) {
  ProgramImage what_runs = image;
  what_runs.machine.name.clear();
  what_runs.machine.description.clear();
  what_runs.sources.clear();
  what_runs.info = {};
  what_runs.info.steps.resize(image.info.steps.size());
  return image_digest(what_runs);
}

void write_checkpoint(const std::filesystem::path& path, const Checkpoint& checkpoint) {
  OutputFile output(path);
  Hdf5File file = Hdf5File::create(output.temporary(), path);
  for_each_dataset(checkpoint, [&](const char* name, Hdf5Type type, const auto& list) {
    file.make_dataset(name, {.type = type, .dims = {0}, .chunk_rows = kChunkRows});
    if (!list.empty()) file.append(name, list.data(), list.size());
  });
  file.make_group(kInputs);
  for (const auto& [name, digest] : checkpoint.inputs) file.set_attribute(kInputs, name, digest);
  file.set_attribute("/", "format", std::string(kCheckpointFormat));
  file.set_attribute("/", "format_version", std::string(kCheckpointVersion));
  file.set_attribute("/", "image_sha256", checkpoint.image_sha256);
  file.set_attribute("/", "cycle", checkpoint.cycle);
  file.set_attribute("/", "supersteps", checkpoint.supersteps);
  file.set_attribute("/", "calls_done", checkpoint.calls_done);
  file.set_attribute("/", "content_sha256", digest_of(checkpoint));
  file.close();
  output.commit();
}

Checkpoint read_checkpoint(const std::filesystem::path& path, const ProgramImage& image) {
  try {
    const Hdf5File file = Hdf5File::open(path, Hdf5File::Access::kRead);
    check_format(file, path);
    Checkpoint checkpoint = read(file);
    if (checkpoint.image_sha256 == digest_of_what_runs(image)) return checkpoint;
    throw MalformedInput({{{path.string(), 0, 0},
                           "is a checkpoint of another program, or of another machine: give the "
                           "image that it was made with"}});
  } catch (const UserError&) {
    throw;
  } catch (const std::runtime_error& error) {
    refuse_checkpoint(path, error.what());
  }
}

void refuse_checkpoint(const std::filesystem::path& path, const std::string& why) {
  throw MalformedInput(
      {{{path.string(), 0, 0},
        fmt::format("is a damaged checkpoint ({}): run from the beginning", why)}});
}

}  // namespace superstep
