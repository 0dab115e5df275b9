// What the kernels of element_sweep.cuh are given: one element's share of a sweep over several devices, as
// flat arrays in its memory. An element is a device of a world.
#pragma once

#include <cstdint>

#include "palmette/device/triangle_sweep.hpp"
#include "palmette/device/watch.hpp"

namespace palmette::device {

using ElementSignal = std::uint64_t;

/// What a task does.
enum class ElementTaskKind : int {
  tree,      ///< a task of the element's own subtrees; `number` is the one of the Tree
  add_up,    ///< the sums [begin, end)
  arrive,    ///< passes on a value that another element sent; `number` is the value
  reduce,    ///< the reduction `number`: its sums, then it is sent on, or the value is found
  triangle,  ///< multiplies by the diagonal block of the value `number`
  blocks,    ///< multiplies by the blocks [begin, end)
  meet       ///< one direction of an exchange with another layer; `number` is the meeting
};

/// It runs when the tasks and signals that it names are there.
struct ElementTask {
  ElementTaskKind kind;
  int number;
  int begin, end;
  int wait_begin, wait_end;      ///< in ElementProgram::wait
  int signal_begin, signal_end;  ///< in ElementProgram::signal
};

/// Rows of a store, added to rows of another vector: the k-th to `place` number list + k, or to row start +
/// k. Rows of a store below `shared_rows` lie in memory to which others send, the rest in the element's own.
struct ElementPart {
  long long at;
  long long list;  ///< −1: consecutive rows from `start` on
  int start, count;
};

/// The vector at `at` becomes the sum of the parts, from left to right.
struct ElementSum {
  long long at;
  int rows;
  int begin, end;  ///< parts
};

/// A message to another element: rows to its store, then the signal.
struct ElementSend {
  int element;
  int signal;
  long long at;
};

/// A share of a sum over elements. The root adds the parts to the right-hand side of a supernode.
struct ElementReduction {
  int sum_begin, sum_end;
  int part_begin, part_end;  ///< what is sent, in this order, or added
  int send;                  ///< −1: this is the root
  int value;                 ///< what the root finds
  long long outgoing;        ///< rows of the store in which a message is put together
  int rows;                  ///< of that message
};

/// A supernode of which several elements have blocks: the vector that they multiply by.
struct ElementValue {
  int supernode;  ///< number in the element's Tree; −1: another element has its diagonal block
  int width;
  long long at;              ///< first row in the store
  int send_begin, send_end;  ///< to whom it is passed on
  int copy_begin, copy_end;  ///< in ElementProgram::copy: rows that the element's own subtrees read
};

struct RowCopy {
  int from, to;  ///< row of the value; row of the element's vectors
};

/// A block below a diagonal block: C·B⁻¹, or C where B is not inverted.
struct ElementBlock {
  int panel;
  int value;      ///< forward: what it is multiplied by
  long long in;   ///< backward: first of the rows of the store that it is multiplied by, in `place`
  long long out;  ///< rows of the store: the product with a minus
};

/// The rows of y that two layers share, as one message to the other layer or from it.
struct ElementMeeting {
  long long list;  ///< in `place`: rows of the element's vectors
  long long at;    ///< first row of the message in the store
  int rows;
  int send;  ///< −1: the message comes from the other layer
  int adds;  ///< what comes is added to the rows; 0: it replaces them
};

/// One sweep.
struct ElementProgram {
  const ElementTask* task;
  const int* wait;
  const int* signal;
  const ElementSum* sum;
  const ElementPart* part;
  const int* place;
  const ElementReduction* reduction;
  const ElementSend* send;
  const ElementValue* value;
  const RowCopy* copy;
  const ElementBlock* block;
  const ElementMeeting* meeting;
};

/// The blocks of one triangle. Their rows lie in chunks as those of a panel that are below its diagonal
/// block.
struct BlockPanel {
  long long values;  ///< first entry
  int width, rows;
  int log_height;
};
template <class T>
struct BlockPanels {
  const T* values;
  const BlockPanel* panel;
};

/// The tasks of one launch, in an order in which every task waits only for earlier ones, of any element.
struct ElementOrder {
  const int* task;
  int num_tasks;
  int* ticket;  ///< 0 at the start
};

/// What the elements of a world share.
template <class T>
struct ElementLink {
  T* const* store;                ///< by element: its shared rows
  ElementSignal* const* signals;  ///< by element
};

/// Of a rank over a network, in symmetric memory, for its host to read when the kernels of all ranks have
/// ended.
struct ElementReport {
  /// The number of the sweep in which an element gave up, from the last such element: then no rank goes on.
  ElementSignal alarm;
  ElementStatus status;  ///< of this rank
};

/// The only argument of the kernels.
template <class T>
struct ElementSweep {
  TriangleSweep<T>
      own;  ///< the element's subtrees and diagonal blocks; its sweep is the number of this sweep
  ElementProgram program;
  BlockPanels<T> blocks;
  ElementOrder order;
  ElementLink<T> link;
  T* shared;               ///< shared_rows × stride
  T* local;                ///< the other rows of the store
  /// hold the number of the sweep whose message has come; null: the hosts carry messages, and start a task
  /// when all that it waits for has come
  ElementSignal* signals;
  int* done;               ///< by task: number of the sweep
  ElementWatch watch;      ///< what has given up goes on with what is there
  ElementSignal* alarm;  ///< over a network, that of ElementReport; or null
  long long shared_rows;
};

/// How a message travels.
enum class Link {
  peers,   ///< stores to the other element's memory by its address
  network  ///< puts of NVSHMEM, or of the emulator's network
};

}  // namespace palmette::device
