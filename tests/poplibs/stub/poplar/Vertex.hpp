#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "poplar/HalfFloat.hpp"
#include "poplar/QuarterFloat.hpp"

namespace poplar {

/// Alignment of a vertex state in its class; the host needs none.
#define WORKER_ALIGN

enum class VectorLayout {
  SPAN,
  SHORT_SPAN,
  ONE_PTR,
  SCALED_PTR32,
  SCALED_PTR64,
  SCALED_PTR128,
  COMPACT_PTR
};
enum class VectorListLayout { ONE_PTR, DELTAN, DELTANELEMENTS, COMPACT_DELTAN };

/// What every connected field holds on the host: the harness writes it without knowing the type.
struct HostEdge {
  void* data = nullptr;
  std::size_t size = 0;
  const unsigned char* metadata = nullptr;
};

template <class T>
class Edge : public HostEdge {
 public:
  using value_type = std::remove_const_t<T>;

  T* begin() const { return static_cast<T*>(data); }
  T* end() const { return begin() + HostEdge::size; }
  T* cbegin() const { return begin(); }
  T* cend() const { return end(); }
  T& operator[](std::size_t index) const { return begin()[index]; }
  [[nodiscard]] std::size_t size() const { return HostEdge::size; }
  T& back() const { return begin()[HostEdge::size - 1]; }
  T& front() const { return *begin(); }
  [[nodiscard]] const unsigned char* getMetadata() const { return metadata; }
};

/// Elements of a vector of connected scalars lie side by side.
template <class T>
struct ElementOf {
  using type = T;
};

template <class T>
class Input;
template <class T>
class Output;
template <class T>
class InOut;
template <class T, VectorLayout L = VectorLayout::SPAN, unsigned A = alignof(T), bool I = false>
class Vector : public Edge<typename ElementOf<T>::type> {};
template <class T, VectorListLayout L, unsigned A = alignof(T), bool I = false>
class VectorList : public Edge<Edge<T>> {};

/// A scalar that is connected.
template <class T>
class ScalarEdge : public HostEdge {
 public:
  T& operator*() const { return *static_cast<T*>(data); }
  T* operator->() const { return static_cast<T*>(data); }
  T* operator&() const { return static_cast<T*>(data); }
  operator T&() const { return **this; }
  [[nodiscard]] const unsigned char* getMetadata() const { return metadata; }
};

template <class T>
class Input : public ScalarEdge<const T> {};
template <class T>
class Output : public ScalarEdge<T> {
 public:
  const Output& operator=(T value) const { return **this = value, *this; }
};
template <class T>
class InOut : public ScalarEdge<T> {
 public:
  const InOut& operator=(T value) const { return **this = value, *this; }
};
template <class T, VectorLayout L, unsigned A, bool I>
class Input<Vector<T, L, A, I>> : public Edge<const T> {};
template <class T, VectorLayout L, unsigned A, bool I>
class Output<Vector<T, L, A, I>> : public Edge<T> {};
template <class T, VectorLayout L, unsigned A, bool I>
class InOut<Vector<T, L, A, I>> : public Edge<T> {};
template <class T, VectorListLayout L, unsigned A, bool I>
class Input<VectorList<T, L, A, I>> : public Edge<Edge<const T>> {};
template <class T, VectorListLayout L, unsigned A, bool I>
class Output<VectorList<T, L, A, I>> : public Edge<Edge<T>> {};
template <class T, VectorListLayout L, unsigned A, bool I>
class InOut<VectorList<T, L, A, I>> : public Edge<Edge<T>> {};

template <class T>
concept Scalar = !std::is_base_of_v<HostEdge, T>;
template <Scalar T>
struct ElementOf<Input<T>> {
  using type = const T;
};
template <Scalar T>
struct ElementOf<Output<T>> {
  using type = T;
};
template <Scalar T>
struct ElementOf<InOut<T>> {
  using type = T;
};

class Vertex {};
class MultiVertex : public Vertex {
 public:
  static constexpr unsigned numWorkers() { return 6; }
};
class SupervisorVertex : public Vertex {};
template <bool Supervisor>
using SupervisorVertexIf = std::conditional_t<Supervisor, SupervisorVertex, Vertex>;

}  // namespace poplar
