// The door of `transfer`: which grain of communication is fastest among devices that store into each other's
// memory. Interconnects and closed forms of their goodput; traces of stores; the queues of FinePack and GPS.
#pragma once

#include "palmette/transfer/advice.hpp"
#include "palmette/transfer/applications.hpp"
#include "palmette/transfer/chunk_graph.hpp"
#include "palmette/transfer/fabric.hpp"
#include "palmette/transfer/goodput.hpp"
#include "palmette/transfer/message_trace.hpp"
#include "palmette/transfer/packing.hpp"
#include "palmette/transfer/profile.hpp"
#include "palmette/transfer/publishing.hpp"
#include "palmette/transfer/ratings.hpp"
#include "palmette/transfer/region.hpp"
#include "palmette/transfer/region_devices.hpp"
#include "palmette/transfer/region_ranks.hpp"
#include "palmette/transfer/simulation.hpp"
#include "palmette/transfer/store_trace.hpp"
#include "palmette/transfer/trace_recorder.hpp"
#include "palmette/transfer/transfer_timeline.hpp"
