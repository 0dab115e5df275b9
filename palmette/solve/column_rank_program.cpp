// A rank's host brings right-hand sides to its device, begins the kernel, and looks whether all have ended.
#include "palmette/solve/column_rank_program.hpp"

#include <algorithm>

namespace palmette::solve_detail {
namespace {

void check_options(const RankTriangleOptions& options) {
  check_num_ranks(options.num_ranks);
  check_rank(options.rank, options.num_ranks);
  if (!options.device || !options.network)
    throw UsageError("a plain triangle over ranks needs a device on each and a network of them");
  if (options.max_rhs < 1)
    throw UsageError("a plan for " + std::to_string(options.max_rhs) +
                     " right-hand sides; there must be at least 1");
}

const RankTriangleOptions& checked(const RankTriangleOptions& options) {
  check_options(options);
  return options;
}

}  // namespace

template <class T>
ColumnRankProgram<T>::ColumnRankProgram(LowerTriangle<T> triangle, const RankTriangleOptions& options)
    : triangle_(std::move(triangle)),
      options_(checked(options)),
      deal_(ColumnDeal::of(triangle_.size(), options.num_ranks, options.tasks_per_rank)),
      num_slots_(most_column_slots(triangle_.strict.pattern, deal_)),
      sweeps_(options.network, options.device, options.rank, num_slots_) {
  for (index_t row = 0; row < triangle_.size(); ++row)
    if (deal_.element_of(row) == options.rank) rows_.push_back(row);
}

template <class T>
const ColumnsThere<T>& ColumnRankProgram<T>::columns(bool transposed) {
  std::optional<ColumnsThere<T>>& kept = columns_[transposed];
  if (!kept) {
    const HostDeal<T> dealt = deal_columns(triangle_, transposed, deal_);
    ColumnsThere<T> made(options_.device, dealt, static_cast<int>(options_.rank));
    made.add_slots(options_.device, dealt.slots);
    kept.emplace(std::move(made));
  }
  return *kept;
}

template <class T>
PutTraffic ColumnRankProgram<T>::put_traffic(Operation operation, index_t num_rhs) const {
  const HostDeal<T> dealt = deal_columns(triangle_, turns(operation), deal_);
  const std::vector<int>& remaining = dealt.element[options_.rank].remaining;
  PutTraffic traffic;
  for (index_t row = 0; row < triangle_.size(); ++row)
    traffic.messages += remaining[row] > 0 && deal_.element_of(row) != options_.rank ? 1 : 0;
  if (num_rhs == 0) return {};
  traffic.bytes = traffic.messages * num_rhs * static_cast<offset_t>(sizeof(T));
  return traffic;
}

template <class T>
void ColumnRankProgram<T>::reserve(Operation operation, index_t num_rhs) {
  sweeps_.check();
  make_room(num_rhs);
  (void)columns(turns(operation));
}

template <class T>
void ColumnRankProgram<T>::allocate() {
  if (room_ == 0) return;
  sweeps_.allocate_signals();
  sums_.allocate(sweeps_.network());
}

template <class T>
void ColumnRankProgram<T>::make_room(index_t num_rhs) {
  // What another rank had no room for is asked for again, the same by all.
  if (sums_.is_there() ? room_ >= num_rhs : room_ == num_rhs) return;
  room_ = 0;
  sums_.release();
  b_there_ = {}, x_there_ = {};
  b_there_ = {options_.device, rows_.size() * static_cast<std::size_t>(num_rhs)};
  x_there_ = {options_.device, rows_.size() * static_cast<std::size_t>(num_rhs)};
  if (ticket_.size() == 0) {
    remaining_ = {options_.device, static_cast<std::size_t>(triangle_.size())};
    ticket_ = {options_.device, 1};
  }
  sweeps_.claim_signals();
  sums_.claim(sweeps_.network(), bytes_of_sums(num_rhs));
  room_ = num_rhs;
}

template <class T>
offset_t ColumnRankProgram<T>::memory_bytes() const {
  offset_t bytes = sweeps_.memory_bytes() +
                   static_cast<offset_t>(sums_.bytes() + b_there_.bytes() + x_there_.bytes() +
                                         remaining_.bytes() + ticket_.bytes());
  for (const std::optional<ColumnsThere<T>>& one : columns_)
    if (one) bytes += one->bytes();
  return bytes;
}

template <class T>
void ColumnRankProgram<T>::reset(const ProgramRun<T>& run, Transport& transport) {
  sweeps_.check();
  rank_ = transport.rank();
  transposed_ = turns(run.operation);
  conjugated_ = is_complex_v<T> && run.operation == Operation::adjoint;
  b_ = run.b;
  x_ = run.x;
  done_.store(run.b.cols == 0 || triangle_.size() == 0);
}

template <class T>
void ColumnRankProgram<T>::start() {
  if (done()) return;
  sweeps_.leave_out();  // until it begins: the other ranks do
  const ColumnsThere<T>& a = columns(transposed_);
  make_room(b_.cols);
  allocate();
  load(a);
  begin_kernel(a);
}

template <class T>
index_t ColumnRankProgram<T>::place_of(std::size_t k) const {
  return static_cast<index_t>(transposed_ ? rows_.size() - 1 - k : k);
}

/// Right-hand sides follow each other; sums are zero and counters full.
template <class T>
void ColumnRankProgram<T>::load(const ColumnsThere<T>& a) {
  Device& device = *options_.device;
  const auto num_rhs = static_cast<std::size_t>(b_.cols);
  std::vector<T> own;
  own.reserve(rows_.size() * num_rhs);
  for (std::size_t k = 0; k < rows_.size(); ++k)
    for (index_t j = 0; j < b_.cols; ++j) {
      const T value = b_(place_of(k), j);
      own.push_back(conjugated_ ? conjugate(value) : value);
    }
  device.copy_in(b_there_.data(), own.data(), own.size() * sizeof(T));
  device.clear(sums(), static_cast<std::size_t>(triangle_.size()) * num_rhs * sizeof(T));
  device.clear(ticket_.data(), ticket_.bytes());
  device.copy_there(remaining_.data(), a.remaining.data(), remaining_.bytes());
}

template <class T>
void ColumnRankProgram<T>::begin_kernel(const ColumnsThere<T>& a) {
  ++sweep_;
  const int num_rhs = b_.cols;
  running_ = {};
  running_.element = static_cast<int>(options_.rank);
  running_.num_elements = deal_.elements;
  running_.a = a.view(triangle_.size(), deal_);
  device::ElementVectors<T>& at = running_.at;
  at.num_rhs = num_rhs;
  at.b = b_there_.data();
  at.x = x_there_.data();
  at.left_sum = sums();
  at.remaining = remaining_.data();
  at.ticket = ticket_.data();
  at.slot = sums() + static_cast<std::ptrdiff_t>(triangle_.size()) * num_rhs;
  at.arrived = sweeps_.signals();
  at.run = static_cast<device::ElementSignal>(sweep_);
  if (options_.most_polls > 0) {
    running_.watch = {&sweeps_.report()->status, options_.most_polls};
    running_.alarm = &sweeps_.report()->alarm;
  }
  const device::KernelCall call{device::Kernel::put_columns, ScalarTraits<T>::type,
                                num_rhs == 1 ? 1 : device::rhs_of_lane, &running_};
  sweeps_.begin(sweep_, call, {0, 0, 0});
  ++launches_;
}

template <class T>
void ColumnRankProgram<T>::on_message(const Message& message) {
  throw BrokenRun("rank " + std::to_string(rank_) + " got a message from rank " +
                  std::to_string(message.source) + " while devices solve over their network");
}

/// If a device has waited in vain, its rank says so. The others end with it, and go no further until then.
template <class T>
bool ColumnRankProgram<T>::run_one_task(int thread) {
  if (thread != 0 || done()) return false;
  const std::optional<device::ElementStatus> status = sweeps_.take_end();
  if (!status) return false;
  if (status->gave_up != 0)
    throw DeviceError("the device of rank " + std::to_string(rank_) + " has waited " +
                      words_of_missing(*columns_[transposed_], *status) + ", in a sweep by columns of " +
                      std::to_string(deal_.elements) + " ranks");
  store();
  done_.store(true, std::memory_order_release);
  return true;
}

template <class T>
void ColumnRankProgram<T>::store() {
  std::vector<T> own(rows_.size() * static_cast<std::size_t>(x_.cols));
  options_.device->copy_out(own.data(), x_there_.data(), own.size() * sizeof(T));
  const T* value = own.data();
  for (std::size_t k = 0; k < rows_.size(); ++k)
    for (index_t j = 0; j < x_.cols; ++j, ++value)
      x_(place_of(k), j) = conjugated_ ? conjugate(*value) : *value;
}

/// Of the first of this rank's columns that lacks a sum. A device that was late, not dead, may have sent it
/// since, or may have waited for one that had given up itself.
template <class T>
std::string ColumnRankProgram<T>::words_of_missing(const ColumnsThere<T>& a,
                                                   const device::ElementStatus& status) const {
  const auto copy_of = [&]<class V>(const V* there, std::size_t size) {
    std::vector<V> here(size);
    options_.device->copy_out(here.data(), there, size * sizeof(V));
    return here;
  };
  const auto left = copy_of(remaining_.data(), remaining_.size());
  const auto sources = copy_of(a.sources.data(), a.sources.size());
  const auto first_slot = copy_of(a.first_slot.data(), a.first_slot.size());
  const auto arrived = copy_of(sweeps_.signals(), num_slots_);
  const unsigned own = 1u << options_.rank;
  for (const index_t row : a.own) {
    unsigned missing = (sources[row] & own) != 0 && left[row] != 0 ? own : 0;
    unsigned slot = first_slot[row];
    for (unsigned others = sources[row] & ~own; others != 0; others &= others - 1)
      if (arrived[slot++] != running_.at.run) missing |= others & -others;
    if (missing != 0)
      return "in vain, at column " + std::to_string(row + 1) + ", for what the device of rank " +
             numbers_of_bits(missing, " and ") + " adds to its row";
  }
  return "for too long at column " + std::to_string(status.task) + ", whose sums came later";
}

template <class T>
std::string ColumnRankProgram<T>::waiting_for() const {
  if (done()) return "nothing";
  if (sweeps_.is_stopped()) return "the rank whose device has waited in vain, to say for what";
  return "the kernels of all devices, its own included";
}

#define PALMETTE_INSTANTIATE(T) template class ColumnRankProgram<T>;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette::solve_detail
