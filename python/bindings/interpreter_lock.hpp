// Releases and takes the interpreter's lock, in threads that may outlive the interpreter.
//
// An interpreter that ends terminates every thread that requests its lock, by pthread_exit: that would unwind
// the stack through C++ frames that must not be unwound, and abort the process. Such a thread is suspended
// instead: what it holds is kept until the process ends.
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
    // The unwinding that ends a thread must not go further than this, and must not be swallowed either.
    for (;;) ::pause();
  }
}

/// The state with which this thread takes the lock again, while it has released it in the library.
inline PyThreadState*& state_let_go() {
  static thread_local PyThreadState* state = nullptr;
  return state;
}

/// Other Python threads may run during the lifetime of this object.
class LockReleased {
 public:
  LockReleased() : state_(PyEval_SaveThread()), outer_(state_let_go()) { state_let_go() = state_; }
  ~LockReleased() {
    state_let_go() = outer_;
    take_or_stand_still([this] { PyEval_RestoreThread(state_); });
  }
  LockReleased(const LockReleased&) = delete;
  LockReleased& operator=(const LockReleased&) = delete;

 private:
  PyThreadState* state_;
  PyThreadState* outer_;  // of a solve whose signal handler started this one
};

/// This thread may call the interpreter while this lives: it takes the lock again that its LockReleased
/// released; without one, it holds the lock already.
///
/// PyGILState_Ensure would work for any thread, but it reads a null pointer once the interpreter is gone;
/// PyEval_RestoreThread then ends the thread too.
class LockTaken {
 public:
  LockTaken() : state_(state_let_go()) {
    if (state_ != nullptr) take_or_stand_still([this] { PyEval_RestoreThread(state_); });
  }
  ~LockTaken() {
    if (state_ != nullptr) PyEval_SaveThread();
  }
  LockTaken(const LockTaken&) = delete;
  LockTaken& operator=(const LockTaken&) = delete;

 private:
  PyThreadState* state_;
};

}  // namespace palmette::python
