// Counters decrease as blocks arrive.
#include "palmette/factorize/panel_waits.hpp"

#include <algorithm>

namespace palmette::factorize_detail {

PanelWaits::PanelWaits(const FanOut& fan, const SymbolicFactor& symbolic, const Placement& placement)
    : fan_(fan),
      symbolic_(symbolic),
      placement_(placement),
      panels_(fan.owned.panel.size()),
      blocks_(fan.used_block.size()),
      missing_(fan.steps.size()) {}

void PanelWaits::start() {
  for (std::size_t place = 0; place < blocks_.size(); ++place)
    blocks_[place].uses_left = fan_.use_ptr[place + 1] - fan_.use_ptr[place];
  for (std::size_t step = 0; step < missing_.size(); ++step)
    missing_[step] = fan_.need_ptr[step + 1] - fan_.need_ptr[step];
  for (std::size_t p = 0; p < panels_.size(); ++p) panels_[p].next_step = fan_.step_ptr[p];
  const std::lock_guard lock(mutex_);
  for (index_t p = 0; p < fan_.owned.num_panels(); ++p) schedule_if_ready(p);
}

void PanelWaits::diagonal_came(index_t p, SharedBytes bytes) {
  const std::lock_guard lock(mutex_);
  panels_[p].diagonal_there = true;
  panels_[p].diagonal = std::move(bytes);
  schedule_if_ready(p);
}

void PanelWaits::block_came(offset_t place, SharedBytes bytes) {
  const std::lock_guard lock(mutex_);
  const bool without_content = bytes.size() == 0;
  block_is_there(place, std::move(bytes), without_content);
}

index_t PanelWaits::take() {
  const std::lock_guard lock(mutex_);
  if (ready_.empty()) return -1;
  const index_t p = ready_.top().panel;
  ready_.pop();
  return p;
}

PanelWaits::Next PanelWaits::next(index_t p) {
  const std::lock_guard lock(mutex_);
  PanelState& panel = panels_[p];
  if (!can_go_on(p)) {
    panel.scheduled = false;
    return {};
  }
  if (panel.next_step == fan_.step_ptr[p + 1]) return {Go::finish, -1};
  return {Go::step, panel.next_step};
}

void PanelWaits::step_was_taken(index_t p, offset_t step) {
  const std::lock_guard lock(mutex_);
  ++panels_[p].next_step;
  for (offset_t need = fan_.need_ptr[step]; need < fan_.need_ptr[step + 1]; ++need) {
    BlockState& state = blocks_[fan_.need_place[need]];
    if (--state.uses_left == 0) state.bytes = {};
  }
}

void PanelWaits::panel_is_finished(index_t p, bool without_content) {
  const std::lock_guard lock(mutex_);
  panels_[p].finished = true;
  panels_[p].diagonal = {};
  for (offset_t own = fan_.owned.own_ptr[p]; own < fan_.owned.own_ptr[p + 1]; ++own)
    block_is_there(fan_.own_used[own], {}, without_content);
}

PanelWaits::Arrived PanelWaits::block(offset_t need) const {
  const BlockState& state = blocks_[fan_.need_place[need]];
  return {state.without_content, &state.bytes};
}

bool PanelWaits::can_go_on(index_t p) const {
  const PanelState& panel = panels_[p];
  if (panel.next_step < fan_.step_ptr[p + 1]) return missing_[panel.next_step] == 0;
  const bool needs_none = fan_.owned.owns_diagonal[p] != 0 || fan_.owned.panel[p] >= fan_.num_eliminated;
  return !panel.finished && (needs_none || panel.diagonal_there);
}

void PanelWaits::schedule_if_ready(index_t p) {
  PanelState& panel = panels_[p];
  if (panel.scheduled || !can_go_on(p)) return;
  panel.scheduled = true;
  ready_.push({fan_.priority[p], p});
}

void PanelWaits::block_is_there(offset_t place, SharedBytes bytes, bool without_content) {
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

std::string PanelWaits::waiting_for() const {
  const std::lock_guard lock(mutex_);
  for (index_t p = 0; p < fan_.owned.num_panels(); ++p)
    if (!panels_[p].finished && !panels_[p].scheduled)
      if (const std::string what = missing_of(p); !what.empty()) return what;
  return "nothing";
}

std::string PanelWaits::missing_of(index_t p) const {
  const PanelState& panel = panels_[p];
  const auto from = [&](index_t row, index_t column) {
    return " from rank " + std::to_string(placement_.owner(row, column));
  };
  const index_t s = fan_.owned.panel[p];
  if (panel.next_step == fan_.step_ptr[p + 1])
    return "the diagonal block of supernode " + std::to_string(s) + from(s, s);
  for (offset_t need = fan_.need_ptr[panel.next_step]; need < fan_.need_ptr[panel.next_step + 1]; ++need) {
    if (blocks_[fan_.need_place[need]].there) continue;
    const index_t row = symbolic_.blocks[fan_.needs[need]].row_supernode;
    const index_t column = fan_.steps[panel.next_step].source;
    return "block (" + std::to_string(row) + ", " + std::to_string(column) + ")" + from(row, column);
  }
  return "";
}

}  // namespace palmette::factorize_detail
