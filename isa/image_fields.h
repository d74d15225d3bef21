#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>

#include "base/members.h"
#include "isa/program_image.h"

namespace superstep {

/// One field of a part of an image, as its file form calls it.
template <class Part, class Value>
struct ImageField {
  const char* name;
  Value Part::*member;
  unsigned minor = 0;  ///< of the format 1.x that brought it: files of earlier ones lack it

  [[nodiscard]] constexpr ImageField since(unsigned version) const {
    return {name, member, version};
  }
};
template <class Part, class Value>
ImageField(const char*, Value Part::*) -> ImageField<Part, Value>;

// The fields of every part of an image: writer and reader of its file form go by them.

constexpr auto fields_of(const Segment*) {
  return std::tuple{ImageField{"tiles", &Segment::tiles}, ImageField{"address", &Segment::address},
                    ImageField{"bytes", &Segment::bytes}};
}
constexpr auto fields_of(const TileEntry*) {
  return std::tuple{ImageField{"tile", &TileEntry::tile}, ImageField{"pc", &TileEntry::pc}};
}
constexpr auto fields_of(const TensorType*) {
  return std::tuple{ImageField{"dtype", &TensorType::dtype},
                    ImageField{"shape", &TensorType::shape}};
}
constexpr auto fields_of(const StreamBox::Axis*) {
  return std::tuple{ImageField{"count", &StreamBox::Axis::count},
                    ImageField{"piece_stride", &StreamBox::Axis::piece_stride},
                    ImageField{"host_stride", &StreamBox::Axis::host_stride}};
}
constexpr auto fields_of(const StreamBox*) {
  return std::tuple{ImageField{"piece_offset", &StreamBox::piece_offset},
                    ImageField{"host_offset", &StreamBox::host_offset},
                    ImageField{"bytes", &StreamBox::bytes}, ImageField{"axes", &StreamBox::axes}};
}
constexpr auto fields_of(const StreamPiece*) {
  return std::tuple{
      ImageField{"tile", &StreamPiece::tile}, ImageField{"address", &StreamPiece::address},
      ImageField{"bytes", &StreamPiece::bytes}, ImageField{"boxes", &StreamPiece::boxes}};
}
constexpr auto fields_of(const Stream*) {
  return std::tuple{ImageField{"kind", &Stream::kind}, ImageField{"position", &Stream::position},
                    ImageField{"type", &Stream::type}, ImageField{"pieces", &Stream::pieces},
                    ImageField{"label", &Stream::label}.since(3)};
}
constexpr auto fields_of(const HostPhase*) {
  return std::tuple{ImageField{"results", &HostPhase::results},
                    ImageField{"arguments", &HostPhase::arguments}};
}
constexpr auto fields_of(const FeedVisit*) {
  return std::tuple{ImageField{"pc", &FeedVisit::pc}, ImageField{"phase", &FeedVisit::phase}};
}
constexpr auto fields_of(const SourceLocation*) {
  return std::tuple{ImageField{"file", &SourceLocation::file},
                    ImageField{"line", &SourceLocation::line},
                    ImageField{"column", &SourceLocation::column}};
}
constexpr auto fields_of(const OpLocation*) {
  return std::tuple{ImageField{"module", &OpLocation::module},
                    ImageField{"python", &OpLocation::python}};
}
constexpr auto fields_of(const FusedOperation*) {
  return std::tuple{ImageField{"name", &FusedOperation::name},
                    ImageField{"operation", &FusedOperation::operation},
                    ImageField{"source", &FusedOperation::source},
                    ImageField{"cycles_alone", &FusedOperation::cycles_alone}};
}
constexpr auto fields_of(const StepInfo*) {
  return std::tuple{ImageField{"kind", &StepInfo::kind},
                    ImageField{"name", &StepInfo::name},
                    ImageField{"operation", &StepInfo::operation},
                    ImageField{"source", &StepInfo::source},
                    ImageField{"superstep", &StepInfo::superstep},
                    ImageField{"parent", &StepInfo::parent},
                    ImageField{"trips", &StepInfo::trips},
                    ImageField{"flops", &StepInfo::flops},
                    ImageField{"exchange_bytes", &StepInfo::exchange_bytes},
                    ImageField{"bound_cycles", &StepInfo::bound_cycles},
                    ImageField{"estimated_cycles", &StepInfo::estimated_cycles},
                    ImageField{"predicted_cycles", &StepInfo::predicted_cycles},
                    ImageField{"vertices", &StepInfo::vertices},
                    ImageField{"tiles", &StepInfo::tiles},
                    ImageField{"vertex_types", &StepInfo::vertex_types},
                    ImageField{"fused", &StepInfo::fused}.since(1),
                    ImageField{"shared_code", &StepInfo::shared_code}.since(2),
                    ImageField{"call_site", &StepInfo::call_site}.since(2)};
}
constexpr auto fields_of(const VertexTypeInfo*) {
  return std::tuple{ImageField{"name", &VertexTypeInfo::name},
                    ImageField{"code_bytes", &VertexTypeInfo::code_bytes}};
}
constexpr auto fields_of(const CodeletPlace*) {
  return std::tuple{ImageField{"tiles", &CodeletPlace::tiles}, ImageField{"pc", &CodeletPlace::pc},
                    ImageField{"vertex_type", &CodeletPlace::vertex_type}};
}
constexpr auto fields_of(const ExchangeMessage*) {
  return std::tuple{ImageField{"source_tile", &ExchangeMessage::source_tile},
                    ImageField{"destination_tile", &ExchangeMessage::destination_tile},
                    ImageField{"bytes", &ExchangeMessage::bytes},
                    ImageField{"start_cycle", &ExchangeMessage::start_cycle}};
}
constexpr auto fields_of(const ExchangeInfo*) {
  return std::tuple{ImageField{"step", &ExchangeInfo::step},
                    ImageField{"messages", &ExchangeInfo::messages}};
}
constexpr auto fields_of(const MemoryCategory*) {
  return std::tuple{ImageField{"name", &MemoryCategory::name},
                    ImageField{"bytes_by_tile", &MemoryCategory::bytes_by_tile}};
}
constexpr auto fields_of(const TensorInfo*) {
  return std::tuple{ImageField{"name", &TensorInfo::name},
                    ImageField{"type", &TensorInfo::type},
                    ImageField{"source", &TensorInfo::source},
                    ImageField{"bytes", &TensorInfo::bytes},
                    ImageField{"max_tile_bytes", &TensorInfo::max_tile_bytes},
                    ImageField{"tiles", &TensorInfo::tiles},
                    ImageField{"is_always_live", &TensorInfo::is_always_live},
                    ImageField{"first_step", &TensorInfo::first_step},
                    ImageField{"last_step", &TensorInfo::last_step}};
}
constexpr auto fields_of(const StepMemory*) {
  return std::tuple{ImageField{"always_live_bytes", &StepMemory::always_live_bytes},
                    ImageField{"not_always_live_bytes", &StepMemory::not_always_live_bytes},
                    ImageField{"peak_tile_bytes", &StepMemory::peak_tile_bytes},
                    ImageField{"peak_tile", &StepMemory::peak_tile}};
}
constexpr auto fields_of(const TilePeak*) {
  return std::tuple{ImageField{"bytes", &TilePeak::bytes}, ImageField{"step", &TilePeak::step}};
}
constexpr auto fields_of(const CompileEvent*) {
  return std::tuple{
      ImageField{"kind", &CompileEvent::kind}, ImageField{"operation", &CompileEvent::operation},
      ImageField{"source", &CompileEvent::source}, ImageField{"reason", &CompileEvent::reason},
      ImageField{"advice", &CompileEvent::advice}};
}
constexpr auto fields_of(const ProgramInfo*) {
  return std::tuple{ImageField{"module", &ProgramInfo::module},
                    ImageField{"steps", &ProgramInfo::steps},
                    ImageField{"estimated_cycles", &ProgramInfo::estimated_cycles},
                    ImageField{"predicted_cycles", &ProgramInfo::predicted_cycles},
                    ImageField{"memory", &ProgramInfo::memory},
                    ImageField{"tensors", &ProgramInfo::tensors},
                    ImageField{"vertex_types", &ProgramInfo::vertex_types},
                    ImageField{"codelets", &ProgramInfo::codelets}.since(1),
                    ImageField{"step_memory", &ProgramInfo::step_memory},
                    ImageField{"tile_peaks", &ProgramInfo::tile_peaks},
                    ImageField{"exchanges", &ProgramInfo::exchanges},
                    ImageField{"events", &ProgramInfo::events},
                    ImageField{"text_sha256", &ProgramInfo::text_sha256}};
}
constexpr auto fields_of(const StepMark*) {
  return std::tuple{ImageField{"tile", &StepMark::tile}, ImageField{"pc", &StepMark::pc},
                    ImageField{"step", &StepMark::step}};
}
/// All but its machine, which the file form has as the text of a machine file.
constexpr auto fields_of(const ProgramImage*) {
  return std::tuple{ImageField{"stack_bytes", &ProgramImage::stack_bytes},
                    ImageField{"segments", &ProgramImage::segments},
                    ImageField{"entries", &ProgramImage::entries},
                    ImageField{"streams", &ProgramImage::streams},
                    ImageField{"first", &ProgramImage::first},
                    ImageField{"next", &ProgramImage::next},
                    ImageField{"last", &ProgramImage::last},
                    ImageField{"visits", &ProgramImage::visits},
                    ImageField{"arguments", &ProgramImage::arguments},
                    ImageField{"results", &ProgramImage::results},
                    ImageField{"alias", &ProgramImage::alias},
                    ImageField{"info", &ProgramImage::info},
                    ImageField{"marks", &ProgramImage::marks},
                    ImageField{"calls", &ProgramImage::calls},
                    ImageField{"loops", &ProgramImage::loops}};
}

/// A part that has fields.
template <class Part>
concept ImagePart = requires {
  fields_of(static_cast<const Part*>(nullptr));
};

/// Calls `visit(ImageField)` for each field of a part.
template <ImagePart Part, class Visit>
constexpr void for_each_field(Visit&& visit) {
  using Fields = decltype(fields_of(static_cast<const Part*>(nullptr)));
  constexpr std::size_t kOfMachine = std::is_same_v<Part, ProgramImage> ? 2 : 0;
  static_assert(std::tuple_size_v<Fields> + kOfMachine == count_members<Part>(),
                "a member of this part is not among its fields");
  std::apply([&](const auto&... field) { (visit(field), ...); },
             fields_of(static_cast<const Part*>(nullptr)));
}

}  // namespace superstep
