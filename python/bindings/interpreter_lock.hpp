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

/// The state with which this thread takes the lock again, while it has let go of it in the library.
inline PyThreadState*& state_let_go() {
  static thread_local PyThreadState* state = nullptr;
  return state;
}

/// Other Python threads may run while this lives.
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
  PyThreadState* outer_;  // of a solve in whose signal handler this one began
};

/// This thread may call the interpreter while this lives: it takes the lock again that its LockReleased let go
/// of; where there is none, it holds the lock already.
///
/// PyGILState_Ensure would do for any thread, but it reads a null pointer once the interpreter is gone;
/// PyEval_RestoreThread ends the thread then, too.
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
