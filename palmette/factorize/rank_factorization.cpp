// The state machine of one rank: panels wait for blocks, and advance as far as the received blocks allow.
#include "palmette/factorize/rank_factorization.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <queue>

#include "palmette/factorize/assemble.hpp"
#include "palmette/factorize/rank_work.hpp"

namespace palmette {
namespace factorizing {

/// A block that was received, or that the rank computed itself.
struct BlockState {
  bool there = false;
  bool without_content = false;  ///< its supernode depends on a bad pivot
  SharedBytes bytes;             ///< empty for own blocks
  std::int64_t uses_left = 0;
};

struct PanelState {
  offset_t next_step = 0;
  bool scheduled = false;         ///< in the queue, or running
  bool assembled = false;
  bool diagonal_there = false;
  bool without_content = false;
  bool finished = false;
  SharedBytes diagonal;           ///< another rank's diagonal block
};

/// The products that a task computed: their flops, number and size. The smallest dimension of a product
/// limits the speed at which a machine computes it.
struct DoneWork {
  double flops = 0;
  double products = 0;
  double flops_by_length = 0;  ///< Σ flops · smallest dimension
  void add(double work, double length) {
    flops += work;
    flops_by_length += work * length;
    ++products;
  }
};

template <class T>
class FanOutProgram final : public RankProgram {
 public:
  FanOutProgram(const RankWork<T>& work, const RankFactorizeOptions& options, const Placement& placement,
                Transport& transport)
      : work_(work),
        fan_(work.fan),
        placement_(placement),
        transport_(transport),
        numbers_(work.symbolic),
        pulls_(options.delivery == BlockDelivery::pull),
        panels_(fan_.owned.panel.size()),
        blocks_(fan_.used_block.size()),
        missing_(fan_.steps.size()),
        left_(fan_.owned.num_panels()) {
    for (int thread = 0; thread < options.threads; ++thread)
      scratch_.emplace_back(work.symbolic, options.kind);
    last_.resize(scratch_.size());
  }

  void start() override {
    for (std::size_t place = 0; place < blocks_.size(); ++place)
      blocks_[place].uses_left = fan_.use_ptr[place + 1] - fan_.use_ptr[place];
    for (std::size_t step = 0; step < missing_.size(); ++step)
      missing_[step] = fan_.need_ptr[step + 1] - fan_.need_ptr[step];
    for (std::size_t p = 0; p < panels_.size(); ++p) panels_[p].next_step = fan_.step_ptr[p];
    if (work_.factor.kind == FactorKind::lu) work_.assemble_upper();
    const std::lock_guard lock(mutex_);
    for (index_t p = 0; p < fan_.owned.num_panels(); ++p) schedule_if_ready(p);
  }

  void on_message(const Message& message) override {
    const bool fetched = message.tag >= numbers_.count(),
               signal = pulls_ && !fetched && message.payload.size() > 0;
    if (signal) {
      Offer offer;
      std::memcpy(&offer, message.payload.data(), sizeof offer);
      return transport_.get(message.source, offer);
    }
    const offset_t number = fetched ? message.tag - numbers_.count() : message.tag;
    const std::lock_guard lock(mutex_);
    if (numbers_.is_diagonal(number)) {
      const index_t p = fan_.owned.panel_number(number - numbers_.num_blocks);
      PanelState& panel = panels_[p];
      panel.diagonal_there = true;
      panel.diagonal = message.payload;
      return schedule_if_ready(p);
    }
    block_is_there(fan_.used_place(number), message.payload, message.payload.size() == 0);
  }

  bool run_one_task(int thread) override {
    index_t p = -1;
    {
      const std::lock_guard lock(mutex_);
      if (ready_.empty()) return false;
      p = ready_.top().panel;
      ready_.pop();
    }
    const DoneWork done = run_panel(p, scratch_[thread]);
    TaskNote& note = last_[thread];
    note = {"panel",
            SweepPhase::none,
            fan_.owned.panel[p],
            {0, (is_complex_v<T> ? 4 : 1) * done.flops, done.products, 0,
             done.flops > 0 ? done.flops_by_length / done.flops : 1}};
    return true;
  }

  bool done() const override { return left_.load(std::memory_order_acquire) == 0; }
  double last_cost() const override { return last_[0].work.flops; }
  TaskNote last_task(int thread) const override { return last_[thread]; }

  std::string waiting_for() const override {
    const std::lock_guard lock(mutex_);
    for (std::size_t p = 0; p < panels_.size(); ++p) {
      const PanelState& panel = panels_[p];
      if (panel.finished || panel.scheduled) continue;
      const index_t s = fan_.owned.panel[p];
      if (panel.next_step == fan_.step_ptr[p + 1])
        return "the diagonal block of supernode " + std::to_string(s) + " from rank " +
               std::to_string(placement_.owner(s, s));
      for (offset_t need = fan_.need_ptr[panel.next_step]; need < fan_.need_ptr[panel.next_step + 1];
           ++need) {
        const offset_t block = fan_.needs[need];
        if (state_of(need).there) continue;
        const index_t row = work_.symbolic.blocks[block].row_supernode;
        const index_t column = fan_.steps[panel.next_step].source;
        return "block (" + std::to_string(row) + ", " + std::to_string(column) + ") from rank " +
               std::to_string(placement_.owner(row, column));
      }
    }
    return "nothing";
  }

  const BadPivot& failure() const { return failure_; }
  PivotTally tally() const {
    PivotTally sum;
    for (const auto& [supernode, part] : tallies_) sum.append(part);
    return sum;
  }

 private:
  struct Ready {
    double priority;
    index_t panel;
    bool operator<(const Ready& other) const {
      return priority != other.priority ? priority < other.priority : panel > other.panel;
    }
  };

  const BlockState& state_of(offset_t need) const {
    return blocks_[fan_.need_place[need]];
  }
  // With mutex_ held.
  bool can_go_on(index_t p) const {
    const PanelState& panel = panels_[p];
    if (panel.next_step < fan_.step_ptr[p + 1])
      return missing_[panel.next_step] == 0;
    return !panel.finished && (work_.owns_diagonal(p) || panel.diagonal_there);
  }
  void schedule_if_ready(index_t p) {
    PanelState& panel = panels_[p];
    if (panel.scheduled || !can_go_on(p)) return;
    panel.scheduled = true;
    ready_.push({fan_.priority[p], p});
  }
  /// @param place  in fan_.used_block; −1: nothing on this rank reads it
  void block_is_there(offset_t place, SharedBytes bytes, bool without_content) {
    if (place == -1) return;
    BlockState& state = blocks_[place];
    state.there = true;
    state.without_content = without_content;
    state.bytes = std::move(bytes);
    for (offset_t use = fan_.use_ptr[place]; use < fan_.use_ptr[place + 1]; ++use) {
      const offset_t step = fan_.use[use];
      if (--missing_[step] != 0) continue;
      const auto after = std::upper_bound(fan_.step_ptr.begin(), fan_.step_ptr.end(), step);
      schedule_if_ready(static_cast<index_t>(after - fan_.step_ptr.begin()) - 1);
    }
  }
  /// After a step: free the blocks that are no longer needed.
  void leave_blocks(offset_t step) {
    for (offset_t need = fan_.need_ptr[step]; need < fan_.need_ptr[step + 1]; ++need) {
      BlockState& state = blocks_[fan_.need_place[need]];
      if (--state.uses_left == 0) state.bytes = {};
    }
  }

  DoneWork run_panel(index_t p, RankScratch<T>& scratch) {
    PanelState& panel = panels_[p];
    DoneWork done;
    bool finish = false;
    if (!panel.without_content) work_.map_rows(p, scratch);
    if (!panel.assembled) work_.assemble_lower(p, scratch);
    panel.assembled = true;
    for (;;) {
      offset_t step = -1;
      {
        const std::lock_guard lock(mutex_);
        if (!can_go_on(p)) {
          panel.scheduled = false;
          break;
        }
        finish = panel.next_step == fan_.step_ptr[p + 1];
        if (finish) break;
        step = panel.next_step;
      }
      take_step(p, step, scratch, done);
      const std::lock_guard lock(mutex_);
      ++panel.next_step;
      leave_blocks(step);
    }
    work_.forget_rows(p, scratch);
    if (finish) finish_panel(p, scratch, done);
    return done;
  }

  void take_step(index_t p, offset_t step, RankScratch<T>& scratch, DoneWork& done) {
    PanelState& panel = panels_[p];
    const UpdateStep& what = fan_.steps[step];
    const index_t target = work_.supernode(p);
    FinishedBlock<T> right, left;
    // The right factor is the first or the last of the blocks that the step needs.
    const offset_t begin = fan_.need_ptr[step], end = fan_.need_ptr[step + 1];
    if (!find(fan_.needs[begin] == what.right ? begin : end - 1, what.source,
              right))
      panel.without_content = true;
    const double triangles = work_.factor.kind == FactorKind::lu ? 2 : 1;
    for (offset_t need = begin; need < end; ++need) {
      const offset_t block = fan_.needs[need];
      const index_t row = work_.symbolic.blocks[block].row_supernode;
      if (placement_.owner(row, target) != fan_.owned.rank) continue;  // needed only as right factor
      if (!find(need, what.source, left)) panel.without_content = true;
      if (panel.without_content) continue;
      work_.subtract({p, what.source, block, what.right}, left, right, scratch);
      done.add(triangles * 2.0 * left.lower.rows * left.lower.cols * right.lower.rows,
               std::min({left.lower.rows, left.lower.cols, right.lower.rows}));
    }
  }

  /// @returns false if the block arrived without content
  bool find(offset_t need, index_t source, FinishedBlock<T>& found) {
    const Block& shape =
        work_.symbolic.blocks[fan_.needs[need]];
    const offset_t own =
        fan_.used_own[fan_.need_place[need]];
    if (own != -1) {
      const index_t p = fan_.owned.panel_number(source);
      if (panels_[p].without_content) return false;
      const index_t first_row = fan_.owned.own[own].first_row;
      found.lower = work_.factor.rows_of(work_.factor.lower, p, first_row, shape.count);
      if (work_.factor.kind == FactorKind::lu)
        found.upper = work_.factor.rows_of(work_.factor.upper, p, first_row, shape.count);
      found.pairs = work_.pairs(source);
      return true;
    }
    const BlockState& state = state_of(need);
    if (state.without_content) return false;
    const index_t width = work_.symbolic.width(source);
    const T* const entries = reinterpret_cast<const T*>(state.bytes.data());
    const offset_t count = offset_t{shape.count} * width;
    found.lower = {entries, shape.count, width, shape.count};
    if (work_.factor.kind == FactorKind::lu) found.upper = {entries + count, shape.count, width, shape.count};
    if (work_.factor.kind == FactorKind::ldlt)
      found.pairs = {work_.factor.hermitian, {entries + count, static_cast<std::size_t>(width)},
                     {entries + count + width, static_cast<std::size_t>(width)}};
    return true;
  }

  void finish_panel(index_t p, RankScratch<T>& scratch, DoneWork& done) {
    PanelState& panel = panels_[p];
    const index_t s = work_.supernode(p), width = work_.symbolic.width(s);
    DenseView<T> block;
    if (work_.owns_diagonal(p)) {
      block = work_.factor.rows_of(work_.factor.lower, p, 0, width);
      make_diagonal(p, block);
      send_diagonal(p, block);
    } else if (panel.diagonal.size() == 0) {
      panel.without_content = true;
    } else {
      block = receive_diagonal(p);
    }
    const RowRange below = work_.below(p);
    if (!panel.without_content) finish_below(p, block, scratch);
    send_blocks(p);
    const std::lock_guard lock(mutex_);
    panel.finished = true;
    panel.diagonal = {};
    for (offset_t own = fan_.owned.own_ptr[p]; own < fan_.owned.own_ptr[p + 1]; ++own)
      block_is_there(fan_.own_used[own], {}, panel.without_content);
    left_.fetch_sub(1, std::memory_order_release);
    done.add(static_cast<double>(width) * width *
                 (below.end - below.first + (work_.owns_diagonal(p) ? width / 3.0 : 0)),
             width);
  }

  /// With BLAS the bits of a row depend on how many rows are computed with it. A panel that lies on one rank
  /// for any grid is finished as a whole, other panels block by block: no grid cuts a block.
  void finish_below(index_t p, DenseView<T> block, RankScratch<T>& scratch) {
    const PanelParts<T> parts = work_.parts(p, block);
    const auto finish = [&](index_t first, index_t rows) {
      DenseView<T> upper;
      if (work_.factor.kind == FactorKind::lu)
        upper = work_.factor.rows_of(work_.factor.upper, p, first, rows);
      finish_rows(parts, work_.factor.rows_of(work_.factor.lower, p, first, rows), upper, scratch.product);
    };
    const RowRange below = work_.below(p);
    if (below.first == below.end) return;
    if (placement_.lies_whole(work_.supernode(p))) return finish(below.first, below.end - below.first);
    for (const OwnBlock& own : fan_.owned.blocks_of_panel(p))
      finish(own.first_row, work_.symbolic.blocks[own.block].count);
  }

  void make_diagonal(index_t p, DenseView<T> block) {
    PanelState& panel = panels_[p];
    if (panel.without_content) return;
    PivotTally tally;
    const BadPivot bad = finish_diagonal(work_.parts(p, block), tally);
    const std::lock_guard lock(mutex_);
    tallies_.emplace(work_.supernode(p), std::move(tally));
    if (bad.supernode < 0) return;
    panel.without_content = true;
    if (failure_.supernode < 0 || bad.supernode < failure_.supernode) failure_ = bad;
  }

  static std::byte* write(const void* from, std::size_t bytes, std::byte* to) {
    if (bytes > 0) std::memcpy(to, from, bytes);
    return to + bytes;
  }
  static std::byte* write(DenseView<const T> view, std::byte* to) {
    for (index_t column = 0; column < view.cols; ++column)
      to = write(view.column(column), static_cast<std::size_t>(view.rows) * sizeof(T), to);
    return to;
  }

  void send_diagonal(index_t p, DenseView<const T> block) {
    const auto first = static_cast<std::size_t>(fan_.diagonal_goes_ptr[p]),
               end = static_cast<std::size_t>(fan_.diagonal_goes_ptr[p + 1]);
    if (first == end) return;
    const offset_t number = numbers_.diagonal(work_.supernode(p));
    SharedBytes bytes;
    if (!panels_[p].without_content) {
      bytes = pool_.take(
          static_cast<std::size_t>(message_bytes(work_.symbolic, work_.factor.kind, number, sizeof(T))));
      const PanelParts<T> parts = work_.parts(p, {});
      std::byte* to = write(block, bytes.writable().data());
      to = write(parts.d.data(), parts.d.size_bytes(), to);
      to = write(parts.d_below.data(), parts.d_below.size_bytes(), to);
      write(parts.place.data(), parts.place.size_bytes(), to);
    }
    deliver(number, std::move(bytes), std::span(fan_.diagonal_goes_to).subspan(first, end - first));
  }
  /// If pulled, the signal carries the offer; a block without content is a signal without an offer.
  void deliver(offset_t number, SharedBytes bytes, std::span<const index_t> ranks) {
    if (pulls_ && bytes.size() > 0) {
      const Offer offer = transport_.offer(numbers_.count() + number, std::move(bytes));
      bytes = pool_.copy(std::as_bytes(std::span(&offer, 1)));
    }
    for (const index_t rank : ranks) transport_.send(rank, number, bytes);
  }

  DenseView<T> receive_diagonal(index_t p) {
    const index_t width = work_.symbolic.width(work_.supernode(p));
    const PanelParts<T> parts = work_.parts(p, {});
    SharedBytes& bytes = panels_[p].diagonal;
    const std::byte* from =
        bytes.data() + static_cast<std::size_t>(width) * static_cast<std::size_t>(width) * sizeof(T);
    const auto read = [&](auto span) {
      if (!span.empty()) std::memcpy(span.data(), from, span.size_bytes());
      from += span.size_bytes();
    };
    read(parts.d);
    read(parts.d_below);
    read(parts.place);
    // The block is only read; PanelParts has one type of view for writing and for reading.
    return {const_cast<T*>(reinterpret_cast<const T*>(bytes.data())), width, width, width};
  }

  void send_blocks(index_t p) {
    const index_t s = work_.supernode(p);
    for (offset_t own = fan_.owned.own_ptr[p]; own < fan_.owned.own_ptr[p + 1]; ++own) {
      const auto first = static_cast<std::size_t>(fan_.goes_ptr[own]),
                 end = static_cast<std::size_t>(fan_.goes_ptr[own + 1]);
      if (first == end) continue;
      const OwnBlock& block = fan_.owned.own[own];
      SharedBytes bytes;
      if (!panels_[p].without_content) bytes = packed(p, s, block);
      deliver(block.block, std::move(bytes), std::span(fan_.goes_to).subspan(first, end - first));
    }
  }
  SharedBytes packed(index_t p, index_t s, const OwnBlock& block) {
    const index_t rows = work_.symbolic.blocks[block.block].count;
    SharedBytes bytes = pool_.take(
        static_cast<std::size_t>(message_bytes(work_.symbolic, work_.factor.kind, block.block, sizeof(T))));
    std::byte* to =
        write(work_.factor.rows_of(work_.factor.lower, p, block.first_row, rows), bytes.writable().data());
    if (work_.factor.kind == FactorKind::lu)
      write(work_.factor.rows_of(work_.factor.upper, p, block.first_row, rows), to);
    if (work_.factor.kind == FactorKind::ldlt) {
      const PairDiagonal<T> pairs = work_.pairs(s);
      to = write(pairs.d.data(), pairs.d.size_bytes(), to);
      write(pairs.d_below.data(), pairs.d_below.size_bytes(), to);
    }
    return bytes;
  }

  const RankWork<T> work_;
  const FanOut& fan_;
  const Placement& placement_;
  Transport& transport_;
  BlockNumbers numbers_;
  bool pulls_;
  BytePool pool_;
  std::vector<RankScratch<T>> scratch_;  // one for each thread
  mutable std::mutex mutex_;
  std::vector<PanelState> panels_;
  std::vector<BlockState> blocks_;       // by place in fan_.used_block
  std::vector<offset_t> missing_;        // length steps: number of blocks that have not arrived
  std::priority_queue<Ready> ready_;
  std::map<index_t, PivotTally> tallies_;  // by supernode
  BadPivot failure_;
  std::atomic<index_t> left_;
  std::vector<TaskNote> last_;  // by thread
};

}  // namespace factorizing

std::string_view name_of(BlockDelivery delivery) { return delivery == BlockDelivery::push ? "push" : "pull"; }

BlockDelivery delivery(std::string_view name) {
  for (const BlockDelivery one : {BlockDelivery::push, BlockDelivery::pull})
    if (name == name_of(one)) return one;
  throw UsageError("unknown delivery \"" + std::string(name) + "\"; choose push or pull");
}

template <class T>
struct RankFactorization<T>::State {
  std::shared_ptr<const Placement> placement;
  FanOut fan;
  RankFactor<T> factor;
  std::unique_ptr<factorizing::FanOutProgram<T>> program;
};

template <class T>
RankFactorization<T>::RankFactorization(const RankSystem<T>& system, const RankFactorizeOptions& options,
                                        Transport& transport)
    : state_(std::make_unique<State>()) {
  const SparseMatrix<T>& matrix = system.matrix;
  const std::shared_ptr<const SymbolicFactor>& symbolic = system.symbolic;
  const std::shared_ptr<const Placement>& placement = system.placement;
  if (matrix.rows() != symbolic->n || matrix.cols() != symbolic->n)
    throw DimensionError("a matrix of " + std::to_string(matrix.rows()) + " × " +
                         std::to_string(matrix.cols()) + " for a structure of " +
                         std::to_string(symbolic->n));
  if (transport.num_ranks() != placement->num_ranks())
    throw UsageError("the transport has " + std::to_string(transport.num_ranks()) + " ranks, the placement " +
                     std::to_string(placement->num_ranks()));
  blas::use_one_thread();
  State& state = *state_;
  state.placement = placement;
  state.fan = fan_out(*symbolic, *placement, transport.rank());
  RankFactor<T>& factor = state.factor;
  const auto n = static_cast<std::size_t>(symbolic->n);
  factor.kind = options.kind;
  factor.hermitian =
      is_complex_v<T> && (options.kind == FactorKind::llt ||
                          (options.kind == FactorKind::ldlt && matrix.symmetry == Symmetry::hermitian));
  factor.lower = PanelArray<T>(state.fan.owned.entries(), Uninitialised());
  if (options.kind == FactorKind::lu)
    factor.upper = PanelArray<T>(state.fan.owned.entries(), Uninitialised());
  if (options.kind == FactorKind::ldlt) {
    factor.d.resize(n);
    factor.d_below.resize(n);
  }
  if (options.kind != FactorKind::llt) factor.place.resize(n);
  factor.row_scale = system.ordering.row_scale;
  factor.column_scale = system.ordering.column_scale;
  factor.symbolic = symbolic;
  factor.placement = placement;
  factor.owned = state.fan.owned;
  const double largest = system.largest_entry > 0
                             ? system.largest_entry
                             : factorizing::largest_scaled_entry(matrix, system.ordering);
  const double relative =
      options.tiny_pivot > 0 ? options.tiny_pivot : factorizing::default_tiny_pivot(unit_roundoff<T>);
  const factorizing::RankWork<T> work{matrix, *symbolic, state.fan, factor,
                                      static_cast<real_t<T>>(relative * largest)};
  state.program = std::make_unique<factorizing::FanOutProgram<T>>(work, options, *placement, transport);
}

template <class T>
RankFactorization<T>::~RankFactorization() = default;
template <class T>
RankFactorization<T>::RankFactorization(RankFactorization&&) noexcept = default;

template <class T>
RankProgram& RankFactorization<T>::program() {
  return *state_->program;
}

template <class T>
index_t RankFactorization<T>::bad_supernode() const {
  return state_->program->failure().supernode;
}

template <class T>
NumericalFailure RankFactorization<T>::failure() const {
  return factorizing::failure_at(state_->program->failure(), *state_->factor.symbolic);
}

template <class T>
PivotReport RankFactorization<T>::pivots() const {
  const factorizing::PivotTally tally = state_->program->tally();
  const RankFactor<T>& factor = state_->factor;
  PivotReport report;
  report.perturbed = static_cast<index_t>(tally.perturbed_columns.size());
  for (const index_t column : tally.perturbed_columns)
    report.perturbed_columns.push_back(factor.symbolic->column.new_to_old()[column]);
  std::sort(report.perturbed_columns.begin(), report.perturbed_columns.end());
  report.smallest_pivot = tally.smallest;
  report.largest_pivot = tally.largest;
  const bool has_inertia = factor.kind != FactorKind::lu &&
                           (factor.kind == FactorKind::llt || !is_complex_v<T> || factor.hermitian);
  if (has_inertia) report.inertia = tally.inertia;
  report.log_abs_determinant = tally.log_modulus();
  report.determinant_sign = tally.sign;
  return report;
}

template <class T>
RankFactor<T> RankFactorization<T>::take() {
  if (!state_->program->done())
    throw UsageError("the factor of a rank is not ready: its program is not done");
  return std::move(state_->factor);
}

#define PALMETTE_INSTANTIATE(T) template class RankFactorization<T>;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
