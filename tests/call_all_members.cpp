// Tests of threads need all threads of a team, however busy the processors are.
#include "palmette/base/base.hpp"

namespace {

[[maybe_unused]] const bool all_members_are_called = (palmette::hand_overs_of_process().call_all(), true);

}  // namespace
