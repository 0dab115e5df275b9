// The door of `transfer`: which grain of communication is fastest among devices that store into each other's
// memory. Interconnects and closed forms of their goodput.
#pragma once

#include "palmette/transfer/fabric.hpp"
#include "palmette/transfer/goodput.hpp"
