// The interpreter's lock, let go of and taken again, in threads that may outlive the interpreter.
//
// An interpreter that ends takes every thread that asks for its lock out of the world, by pthread_exit: the
// stack is unwound through C++ frames that nothing may unwind, and the process would abort. Such a thread
// stands still instead: whatever it holds is kept until the process is gone.
#pragma once

#include <Python.h>
#include <unistd.h>

namespace palmette::python {

/// Runs `take_lock`, which the interpreter may use to end this thread: then it never returns.
template <class TakeLock>
void take_or_stand_still(const TakeLock& take_lock) {
  try {
    take_lock();
  } catch (...) {
    // The unwinding that ends a thread must not go further than this, and may not be dropped either.
    for (;;) ::pause();
  }
}

/// Other Python threads may run while this lives.
class LockReleased {
 public:
  LockReleased() : state_(PyEval_SaveThread()) {}
  ~LockReleased() {
    take_or_stand_still([this] { PyEval_RestoreThread(state_); });
  }
  LockReleased(const LockReleased&) = delete;
  LockReleased& operator=(const LockReleased&) = delete;

 private:
  PyThreadState* state_;
};

/// This thread may call the interpreter while this lives.
class LockTaken {
 public:
  LockTaken() {
    take_or_stand_still([this] { state_ = PyGILState_Ensure(); });
  }
  ~LockTaken() { PyGILState_Release(state_); }
  LockTaken(const LockTaken&) = delete;
  LockTaken& operator=(const LockTaken&) = delete;

 private:
  PyGILState_STATE state_{};
};

}  // namespace palmette::python
