// What the microbenchmarks of a device do: values handed from one warp to another by three protocols, and a
// large array read once.
#pragma once

namespace palmette::device {

/// How the receiver learns that a value has come.
enum class Protocol {
  flag_after_release,  ///< the value, then a flag stored with release
  value_as_flag,       ///< the value alone: it differs from the one before
  tagged_value,        ///< the value and the number of its round in one access of 16 bytes
};

/// What a test leaves out or breaks.
enum class ProtocolFault { none, relaxed_flag, plain_value, tag_apart };

struct alignas(16) TaggedValue {
  double value;
  long long tag;
};

/// Two players send each other a value in turn. Each has its letter box in cache lines of its own. All
/// letters are zero at first.
struct HandOver {
  static constexpr int line_bytes = 128;
  int rounds;
  double* value;
  int* flag;
  TaggedValue* tagged;
  int* wrong;  ///< by player: values that came and were not those sent
};

/// Elements of an array of letter boxes.
template <class T>
constexpr int letter_boxes = 2 * HandOver::line_bytes / static_cast<int>(sizeof(T));

struct alignas(16) TwoDoubles {
  double first, second;
};

/// Each thread adds up every so many elements.
struct ReadArray {
  const TwoDoubles* element;
  long long count;
  double* sum;  ///< by thread of the launch
};

}  // namespace palmette::device
