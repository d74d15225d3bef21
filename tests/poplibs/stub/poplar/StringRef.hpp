#pragma once

#include "poplar/Type.hpp"
