// The door of `base`: what every room shares: index types, scalars, dense views, errors, outcomes, names of
// choices, text of numbers, pseudo-random words, sizes in memory, timers, progress, processors, the mode of
// arithmetic, waiting, work that threads share, and the thread team. Depends on the standard library only.
#pragma once

#include "palmette/base/arithmetic_mode.hpp"
#include "palmette/base/checksum.hpp"
#include "palmette/base/choices.hpp"
#include "palmette/base/dense_view.hpp"
#include "palmette/base/errors.hpp"
#include "palmette/base/fork.hpp"
#include "palmette/base/hand_overs.hpp"
#include "palmette/base/inline.hpp"
#include "palmette/base/large_pages.hpp"
#include "palmette/base/memory_size.hpp"
#include "palmette/base/number_text.hpp"
#include "palmette/base/outcome.hpp"
#include "palmette/base/processors.hpp"
#include "palmette/base/progress.hpp"
#include "palmette/base/scalars.hpp"
#include "palmette/base/shared_work.hpp"
#include "palmette/base/spare.hpp"
#include "palmette/base/splitmix.hpp"
#include "palmette/base/thread_team.hpp"
#include "palmette/base/timing.hpp"
#include "palmette/base/waiting.hpp"
