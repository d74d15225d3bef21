#include "tools/codelet_memory.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "base/error.h"

namespace superstep {
namespace {

/// Behind each tensor, and looked at after the run.
constexpr std::uint32_t kGuardBytes = 8;
constexpr std::byte kGuard{0xa5};

std::uint32_t align_up(std::uint32_t address, std::uint32_t alignment, std::uint32_t offset = 0) {
  return address + ((offset - address) & (alignment - 1));
}

}  // namespace

CodeletMemory::CodeletMemory(const CodeletSpec& spec, CodeletRun& run, std::uint32_t code_end)
    : machine_(run.machine()),
      run_(run),
      next_{code_end, machine_.tile.region1_base},
      end_{run.free_end(), machine_.region2_base()} {
  placed_.push_back({"the code", nullptr, run.free_begin(), code_end - run.free_begin()});
  // Those that the user places first, so that others keep away from them.
  for (const bool fixed : {true, false}) {
    for (const CodeletTensor& tensor : spec.tensors) {
      if (tensor.address.has_value() == fixed) place_tensor(tensor);
    }
  }
  place_state(spec);
  check_overlaps(spec);
}

bool CodeletMemory::shares_element(const CodeletTensor& tensor, std::uint32_t address,
                                   std::uint32_t* beyond) const {
  // Region 1 interleaves two elements.
  const std::uint32_t base =
      tensor.region == 0 ? machine_.tile.memory_base : machine_.tile.region1_base;
  const std::uint32_t block = machine_.tile.element_bytes * (tensor.region + 1);
  const auto contains = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  const auto bytes = static_cast<std::uint32_t>(tensor.value.data.size());
  for (const Placed& other : placed_) {
    if (other.tensor == nullptr || other.begin < base) continue;
    if (!contains(tensor.apart, other.name) && !contains(other.tensor->apart, tensor.name)) {
      continue;
    }
    const auto last_of = [&](std::uint32_t begin, std::uint32_t size) {
      return (begin - base + std::max<std::uint32_t>(size, 1) - 1) / block;
    };
    const std::uint32_t last = last_of(other.begin, other.bytes);
    if ((address - base) / block > last || last_of(address, bytes) < (other.begin - base) / block) {
      continue;
    }
    *beyond = base + (last + 1) * block;
    return true;
  }
  return false;
}

void CodeletMemory::place_tensor(const CodeletTensor& tensor) {
  const auto bytes = static_cast<std::uint32_t>(tensor.value.data.size());
  std::uint32_t address = tensor.address.value_or(0);
  if (!tensor.address) {
    std::uint32_t& next = next_[tensor.region];
    address = align_up(next, tensor.alignment, tensor.offset);
    std::uint32_t beyond = 0;
    const auto is_taken = [&] {
      // Also what the user has placed lies in the way.
      for (const Placed& other : placed_) {
        if (address < other.begin + other.bytes + kGuardBytes &&
            other.begin < address + bytes + kGuardBytes) {
          beyond = other.begin + other.bytes + kGuardBytes;
          return true;
        }
      }
      return shares_element(tensor, address, &beyond);
    };
    while (address < end_[tensor.region] && is_taken()) {
      address = align_up(beyond, tensor.alignment, tensor.offset);
    }
    if (std::uint64_t{address} + bytes + kGuardBytes > end_[tensor.region]) {
      throw UserError(
          ExitCode::kDoesNotFit,
          {Problem{tensor.where, fmt::format("tensor '{}' of {} bytes has no room in region {}",
                                             tensor.name, bytes, tensor.region)}});
    }
    next = address + bytes + kGuardBytes;
  }
  placed_.push_back({tensor.name, &tensor, address, bytes});
  if (!run_.write(address, tensor.value.data)) {
    throw MalformedInput({Problem{
        tensor.where,
        fmt::format("{:#x} to {:#x} is not all in the tile's memory, {:#x} to {:#x}", address,
                    address + bytes, machine_.tile.memory_base, machine_.memory_end())}});
  }
  if (!tensor.address) {
    const std::vector<std::byte> guard(kGuardBytes, kGuard);
    SUPERSTEP_CHECK(run_.write(address + bytes, guard), "there is room for the guard");
  }
}

std::uint32_t CodeletMemory::place_words(const std::string& name, std::uint32_t bytes) {
  const std::uint32_t address = align_up(next_[0], 8);
  if (std::uint64_t{address} + bytes > end_[0]) {
    throw DoesNotFit(fmt::format("{} of {} bytes has no room in region 0", name, bytes));
  }
  next_[0] = address + bytes;
  placed_.push_back({name, nullptr, address, bytes});
  return address;
}

void CodeletMemory::add_field(VertexFields& state, const CodeletSpec& spec,
                              const CodeletField& field) {
  for (const std::uint64_t number : field.numbers) state.add_number(number, field.number_bytes);
  if (field.number_bytes != 0) return;
  std::vector<VertexVector> vectors;
  std::uint32_t element_bytes = 1;
  for (const std::string& name : field.tensors) {
    for (const CodeletTensor& tensor : spec.tensors) {
      if (tensor.name != name) continue;
      const std::uint32_t alignment = tensor.offset == 0 ? tensor.alignment : 1;
      vectors.push_back(
          {address_of(name), static_cast<std::uint32_t>(tensor.value.type.elements()), alignment});
      element_bytes = static_cast<std::uint32_t>(size_of(tensor.value.type.dtype));
    }
  }
  const auto rows = static_cast<std::uint32_t>(vectors.size());
  if (field.type == "delta_n_elements") {
    std::uint32_t base = vectors[0].address;
    for (const VertexVector& vector : vectors) base = std::min(base, vector.address);
    const std::vector<std::uint32_t> words = delta_table(vectors, base, element_bytes);
    const std::uint32_t table = place_words(fmt::format("the table of '{}'", field.name), 4 * rows);
    SUPERSTEP_CHECK(run_.write(table, std::as_bytes(std::span(words))), "the table has its place");
    return state.add_vector_list(base, table, rows);
  }
  if (!field.inner.empty()) {
    VertexFields table(machine_);
    for (const VertexVector& vector : vectors) {
      table.add_vector(*pointer_layout(field.inner), vector);
    }
    const std::uint32_t address = place_words(fmt::format("the vectors of '{}'", field.name),
                                              static_cast<std::uint32_t>(table.bytes().size()));
    SUPERSTEP_CHECK(run_.write(address, table.bytes()), "the table has its place");
    vectors = {{address, rows, 8}};
  }
  state.add_vector(*pointer_layout(field.type), vectors[0]);
}

void CodeletMemory::place_state(const CodeletSpec& spec) {
  VertexFields state(machine_);
  for (const CodeletField& field : spec.fields) {
    try {
      add_field(state, spec, field);
    } catch (const MalformedInput& error) {
      throw MalformedInput({Problem{field.where, error.problems().at(0).message}});
    }
  }
  state_ = place_words("the vertex state", static_cast<std::uint32_t>(state.bytes().size()));
  SUPERSTEP_CHECK(run_.write(state_, state.bytes()), "the vertex state has its place");
}

void CodeletMemory::check_overlaps(const CodeletSpec& spec) const {
  for (std::size_t i = 0; i < placed_.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const Placed &a = placed_[i], &b = placed_[j];
      if (a.begin >= b.begin + b.bytes || b.begin >= a.begin + a.bytes) continue;
      const CodeletTensor* tensor = a.tensor != nullptr ? a.tensor : b.tensor;
      const SourceLocation where = tensor != nullptr ? tensor->where : spec.tensors.at(0).where;
      throw MalformedInput({Problem{where, fmt::format("{} at {:#x} and {} at {:#x} overlap",
                                                       b.name, b.begin, a.name, a.begin)}});
    }
  }
}

std::uint32_t CodeletMemory::address_of(const std::string& tensor) const {
  for (const Placed& placed : placed_) {
    if (placed.tensor != nullptr && placed.name == tensor) return placed.begin;
  }
  SUPERSTEP_CHECK(false, "fields name tensors that exist");
  return 0;
}

HostTensor CodeletMemory::value_of(const CodeletTensor& tensor, CodeletRun& run) const {
  HostTensor value(tensor.value.type);
  SUPERSTEP_CHECK(run.read(address_of(tensor.name), value.data), "tensors are in the memory");
  return value;
}

std::vector<std::string> CodeletMemory::overrun(CodeletRun& run) const {
  std::vector<std::string> names;
  for (const Placed& placed : placed_) {
    if (placed.tensor == nullptr || placed.tensor->address) continue;
    std::vector<std::byte> found(kGuardBytes);
    SUPERSTEP_CHECK(run.read(placed.begin + placed.bytes, found), "there is room for the guard");
    if (found != std::vector<std::byte>(kGuardBytes, kGuard)) names.push_back(placed.name);
  }
  return names;
}

}  // namespace superstep
