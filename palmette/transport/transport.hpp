// The door of `transport`: how ranks exchange bytes, and how a rank's program is driven.
#pragma once

#include "palmette/transport/mpi_world.hpp"
#include "palmette/transport/planned.hpp"
#include "palmette/transport/rank.hpp"
#include "palmette/transport/simulated.hpp"
#include "palmette/transport/thread_world.hpp"
#include "palmette/transport/time_figures.hpp"
#include "palmette/transport/timeline.hpp"
#include "palmette/transport/together.hpp"
#include "palmette/transport/wrappers.hpp"
