// Memory that is kept for the next object of its kind.
#pragma once

#include <memory>
#include <utility>

#include "palmette/base/fork.hpp"

namespace palmette {

/// A place for one object that is no longer used: a pointer, which may be null, or anything else that can be
/// moved and is empty at first. Threads may use it at the same time.
template <class Object>
class Spare {
 public:
  /// What is kept, or an empty object.
  Object take() {
    const BriefLock lock(this);
    return std::exchange(object_, Object());
  }
  /// Keep an object in place of the one before.
  void give_back(Object object) {
    const BriefLock lock(this);
    std::swap(object_, object);
  }

 private:
  Object object_{};  // under a brief lock
};

template <class T>
using SparePointer = Spare<std::unique_ptr<T>>;

/// An object that is kept when its last owner releases it.
template <class T>
std::shared_ptr<const T> returning(std::shared_ptr<SparePointer<T>> spare, std::unique_ptr<T> object) {
  return std::shared_ptr<const T>(object.release(), [spare = std::move(spare)](const T* used) {
    spare->give_back(std::unique_ptr<T>(const_cast<T*>(used)));
  });
}

}  // namespace palmette
