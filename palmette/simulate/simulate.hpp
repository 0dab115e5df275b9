// The door of `simulate`: virtual time. One loop of events, and one model of when a cluster's messages
// arrive, for predicted schedules and for simulated ranks.
#pragma once

#include "palmette/simulate/event_loop.hpp"
#include "palmette/simulate/interconnect.hpp"
#include "palmette/simulate/launches.hpp"
