#pragma once

#include "poplar/Type.hpp"

namespace poplar {

enum class TargetType { IPU, IPU_MODEL, CPU };

/// The facts of a Mk2 tile that PopLibs' estimators ask for.
class Target {
 public:
  [[nodiscard]] TargetType getTargetType() const { return TargetType::IPU; }
  [[nodiscard]] unsigned getNumWorkerContexts() const { return 6; }
  [[nodiscard]] unsigned getDataPathWidth() const { return 64; }
  [[nodiscard]] unsigned getVectorWidth(const Type& type) const {
    return unsigned(8 / type.bytes());
  }
  [[nodiscard]] unsigned getTypeSize(const Type& type) const { return unsigned(type.bytes()); }
  [[nodiscard]] unsigned getRptCountMax() const { return 0xffff; }
  [[nodiscard]] unsigned getAtomicStoreGranularity() const { return 4; }
  [[nodiscard]] unsigned getConvUnitCoeffLoadBytesPerCycle() const { return 16; }
  [[nodiscard]] unsigned getConvUnitMaxPipelineDepth(const Type&) const { return 4; }
  [[nodiscard]] unsigned getConvUnitInputLoadElemsPerCycle(const Type& type) const {
    return getVectorWidth(type);
  }
  [[nodiscard]] unsigned getFp16InFp16OutConvUnitsPerTile() const { return 16; }
  [[nodiscard]] unsigned getFp16InFp32OutConvUnitsPerTile() const { return 16; }
  [[nodiscard]] unsigned getFp32InFp32OutConvUnitsPerTile() const { return 16; }
  [[nodiscard]] unsigned getFp8ConvUnitInputLoadElemsPerCycle() const { return 8; }
  [[nodiscard]] unsigned getFp16ConvUnitInputLoadElemsPerCycle() const { return 4; }
  [[nodiscard]] unsigned getFp32ConvUnitInputLoadElemsPerCycle() const { return 2; }
  [[nodiscard]] unsigned getNumTiles() const { return 1472; }
  [[nodiscard]] unsigned getTilesPerIPU() const { return 1472; }
  [[nodiscard]] unsigned getNumIPUs() const { return 1; }
  [[nodiscard]] unsigned getBytesPerTile() const { return 624 * 1024; }
  [[nodiscard]] unsigned getExchangeBytesPerCycle() const { return 4; }
  [[nodiscard]] double getTileClockFrequency() const { return 1.85e9; }
};

}  // namespace poplar
