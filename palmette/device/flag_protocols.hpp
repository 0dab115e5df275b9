// What the microbenchmarks of devices do: values handed from one warp to another, on one device or on two, by
// four protocols, and a large array read once.
#pragma once

namespace palmette::device {

/// How the receiver learns that a value has come.
enum class Protocol {
  flag_after_release,  ///< the value, then a flag stored with release
  value_as_flag,       ///< the value alone: it differs from the one before
  tagged_value,        ///< the value and the number of its round in one access of 16 bytes
  counted_bytes,       ///< the value, then its bytes added with release to a count of all that came
};

/// What a test leaves out or breaks.
enum class ProtocolFault { none, relaxed_flag, plain_value, tag_apart, relaxed_count };

struct alignas(16) TaggedValue {
  double value;
  long long tag;
};

/// Two players send each other a value in turn. Each has its letter box in cache lines of its own, on two
/// devices in the memory of its own. All letters are zero at first.
struct HandOver {
  static constexpr int line_bytes = 128;
  int rounds;
  int first_player;  ///< of this launch: 0; 1 on the second of two devices
  double* value[2];  ///< by player
  int* flag[2];      ///< or the count of bytes
  TaggedValue* tagged[2];
  int* wrong;  ///< by player: values that came and were not those sent
};

/// Elements of a letter box.
template <class T>
constexpr int letter_box = HandOver::line_bytes / static_cast<int>(sizeof(T));

/// One player's, as one piece of memory of three cache lines.
struct LetterBox {
  double value[letter_box<double>];
  int flag[letter_box<int>];
  TaggedValue tagged[letter_box<TaggedValue>];
};

/// @param first, second  the players' letter boxes in device memory, which the host does not read
inline HandOver hand_over_between(LetterBox* first, LetterBox* second, int rounds, int* wrong) {
  return {
      rounds, 0, {first->value, second->value}, {first->flag, second->flag}, {first->tagged, second->tagged},
      wrong};
}

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
