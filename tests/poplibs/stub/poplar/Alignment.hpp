#pragma once

namespace poplar {}
