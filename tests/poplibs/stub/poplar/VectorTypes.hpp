#pragma once

#include "poplar/Vertex.hpp"
