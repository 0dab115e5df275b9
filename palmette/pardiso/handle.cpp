// Handles: what pt[0] points to, and which phases a call runs on which of its matrices.
#include <map>
#include <memory>
#include <mutex>
#include <new>

#include "palmette/pardiso/messages.hpp"
#include "palmette/pardiso/system.hpp"

namespace palmette::pardiso {
namespace {

struct Handle {
  ProcessMutex busy;                                        // one call at a time
  std::map<std::int64_t, std::unique_ptr<System>> systems;  // by mnum
  std::int64_t mtype = 0;
  std::unique_ptr<ThreadTeam> team;
  int threads = -1;  // that the team was made for

  ThreadTeam& team_of(int wanted) {
    if (!team || threads != wanted) team = std::make_unique<ThreadTeam>(wanted);
    threads = wanted;
    return *team;
  }
};

/// All live handles: pt may hold anything.
class Handles {
 public:
  std::shared_ptr<Handle> find(const void* address) {
    const BriefLock lock(this);
    const auto found = handles_.find(address);
    return found == handles_.end() ? nullptr : found->second;
  }
  std::shared_ptr<Handle> add() {
    auto made = std::make_shared<Handle>();
    const BriefLock lock(this);
    handles_.emplace(made.get(), made);
    return made;
  }
  std::shared_ptr<Handle> take(const void* address) {
    const BriefLock lock(this);
    const auto found = handles_.find(address);
    if (found == handles_.end()) return nullptr;
    auto taken = std::move(found->second);
    handles_.erase(found);
    return taken;
  }

 private:
  std::map<const void*, std::shared_ptr<Handle>> handles_;
};

Handles& handles() {
  static auto* all = new Handles;  // outlives every caller that frees its handle at the end of the program
  return *all;
}

struct Phases {
  bool analyze = false;
  bool factorize = false;
  bool solve = false;
};

Phases phases_of(std::int64_t phase) {
  switch (phase) {
    case 11:
      return {true, false, false};
    case 12:
      return {true, true, false};
    case 13:
      return {true, true, true};
    case 22:
      return {false, true, false};
    case 23:
      return {false, true, true};
    case 33:
    case 331:
    case 332:
    case 333:
      return {false, false, true};
    default:
      throw Refusal(Code::inconsistent, "phase is none of 11, 12, 13, 22, 23, 33, 331, 332, 333, 0, -1");
  }
}

/// Phases 0 and −1.
void release(Call& call) {
  if (call.phase == -1) {
    handles().take(call.pt[0]);
    call.pt[0] = nullptr;
    return;
  }
  const auto handle = handles().find(call.pt[0]);
  if (!handle) return;
  const std::lock_guard alone(handle->busy);
  const auto found = handle->systems.find(call.mnum);
  if (found != handle->systems.end()) found->second->release_factor();
}

std::shared_ptr<Handle> handle_of(Call& call, const Phases& phases) {
  if (call.pt[0] != nullptr) {
    auto handle = handles().find(call.pt[0]);
    if (!handle) throw Refusal(Code::inconsistent, "pt is neither NULL nor a handle of this library");
    return handle;
  }
  if (!phases.analyze) throw Refusal(Code::inconsistent, "the matrix was not analyzed (phase 11)");
  auto handle = handles().add();
  call.pt[0] = handle.get();
  return handle;
}

System& system_of(Handle& handle, const Call& call, const Settings& settings, const Phases& phases) {
  std::unique_ptr<System>& system = handle.systems[call.mnum];
  if (phases.analyze) {
    system = make_system(settings);
    handle.mtype = call.mtype;
  } else if (!system) {
    const auto other = handle.systems.begin();
    system = other->second ? other->second->sibling() : make_system(settings);
  }
  return *system;
}

void run_phases(Call& call) {
  const Phases phases = phases_of(call.phase);
  const Settings settings = read_settings(call);
  if (call.n < 1) throw Refusal(Code::inconsistent, "n is less than 1");
  if (call.n > std::numeric_limits<index_t>::max() - 1)
    throw Refusal(Code::overflow, "the matrix has more rows than 32 bits count");
  if (call.mnum < 1 || call.mnum > call.maxfct)
    throw Refusal(Code::inconsistent, "mnum is not one of 1 to maxfct");
  const auto handle = handle_of(call, phases);
  const std::lock_guard alone(handle->busy);
  if (!phases.analyze && call.mtype != handle->mtype)
    throw Refusal(Code::inconsistent, "mtype is not that of the analysis");
  System& system = system_of(*handle, call, settings, phases);
  ThreadTeam& team = handle->team_of(settings.threads);
  const auto tell = [&](std::string_view phase) {
    if (call.messages) print_facts(phase, call, settings, system.facts());
  };
  if (phases.analyze) system.analyze(call, settings, team), tell("analysis");
  if (phases.factorize) system.factorize(call, settings, team), tell("factorization");
  if (phases.solve) system.solve(call, settings, team), tell("solve");
}

Code failed(const Call& call, Code code, const char* text) noexcept {
  if (call.messages) print_failure(static_cast<int>(code), text);
  return code;
}

}  // namespace

Code run(Call& call) noexcept {
  try {
    if (call.pt == nullptr) throw Refusal(Code::inconsistent, "pt is missing");
    if (call.phase == 0 || call.phase == -1)
      release(call);
    else
      run_phases(call);
    return Code::ok;
  } catch (const Refusal& refusal) {
    return failed(call, refusal.code(), refusal.what());
  } catch (const MemoryError& error) {
    return failed(call, Code::no_memory, error.what());
  } catch (const std::bad_alloc&) {
    return failed(call, Code::no_memory, "out of memory");
  } catch (const std::length_error&) {
    return failed(call, Code::no_memory, "an array would exceed the memory of this machine");
  } catch (const UsageError& error) {
    return failed(call, Code::inconsistent, error.what());
  } catch (const std::exception& error) {
    return failed(call, Code::internal, error.what());
  } catch (...) {
    return failed(call, Code::internal, "unknown failure");
  }
}

}  // namespace palmette::pardiso
