#include "base/hdf5_types.h"

#include <algorithm>
#include <stdexcept>

namespace superstep {

hid_t memory_type(Hdf5Type type) {
  switch (type) {
    case Hdf5Type::kU8:
      return H5T_NATIVE_UINT8;
    case Hdf5Type::kU16:
      return H5T_NATIVE_UINT16;
    case Hdf5Type::kU32:
      return H5T_NATIVE_UINT32;
    case Hdf5Type::kU64:
      return H5T_NATIVE_UINT64;
    case Hdf5Type::kI32:
      return H5T_NATIVE_INT32;
    case Hdf5Type::kI64:
      return H5T_NATIVE_INT64;
    case Hdf5Type::kF64:
      return H5T_NATIVE_DOUBLE;
    case Hdf5Type::kText:
      break;
  }
  throw std::logic_error("text has no number type");
}

hid_t file_type(Hdf5Type type) {
  switch (type) {
    case Hdf5Type::kU8:
      return H5T_STD_U8LE;
    case Hdf5Type::kU16:
      return H5T_STD_U16LE;
    case Hdf5Type::kU32:
      return H5T_STD_U32LE;
    case Hdf5Type::kU64:
      return H5T_STD_U64LE;
    case Hdf5Type::kI32:
      return H5T_STD_I32LE;
    case Hdf5Type::kI64:
      return H5T_STD_I64LE;
    case Hdf5Type::kF64:
      return H5T_IEEE_F64LE;
    case Hdf5Type::kText:
      break;
  }
  throw std::logic_error("text has no number type");
}

Hdf5Id text_type(std::size_t bytes) {
  Hdf5Id type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type, std::max<std::size_t>(bytes, 1));
  H5Tset_cset(type, H5T_CSET_UTF8);
  H5Tset_strpad(type, H5T_STR_NULLPAD);
  return type;
}

std::optional<Hdf5Type> our_type(Hdf5Id stored) {
  if (H5Tget_class(stored) == H5T_STRING) return Hdf5Type::kText;
  if (H5Tget_class(stored) == H5T_ENUM) stored = Hdf5Id(H5Tget_super(stored), H5Tclose);
  for (const Hdf5Type type : {Hdf5Type::kU8, Hdf5Type::kU16, Hdf5Type::kU32, Hdf5Type::kU64,
                              Hdf5Type::kI32, Hdf5Type::kI64, Hdf5Type::kF64}) {
    if (H5Tequal(stored, file_type(type)) > 0) return type;
  }
  return std::nullopt;
}

std::size_t size_of(Hdf5Type type) {
  constexpr std::size_t kSizes[] = {1, 2, 4, 8, 4, 8, 8, 0};
  return kSizes[static_cast<std::size_t>(type)];
}

std::string_view name_of(Hdf5Type type) {
  constexpr std::string_view kNames[] = {"u1", "u2", "u4", "u8", "i4", "i8", "f8", "text"};
  return kNames[static_cast<std::size_t>(type)];
}

}  // namespace superstep
