// Regions between devices by stores to peers [Muthukrishnan 2022, chapter II], one source for nvcc, hipcc and
// the emulator.
//
// Two rules make every read right. A chunk is handed over by the block whose decrement returned one, and by
// no other: the value that was returned decides, not a later look at the counter. Words are counted with
// release in the memory of their reader, each warp those that it has stored, for the epoch that they carry; a
// landing has room for the open epoch and the next one.
//
// Liveness: writers wait for jobs of earlier epochs, agents for chunks and for room. The room of an epoch
// waits for readers of the epoch two before, all of whose chunks have been sent. Readers wait for chunks of
// the open epoch alone.
#pragma once

#include "palmette/device/region_exchange.hpp"
#include "palmette/device/vocabulary.hpp"

namespace palmette::device {

using gpu::Scope;

struct TwoNumbers {
  int first, second;
};

/// What the first thread finds, for all threads of the block.
template <class Find>
PALMETTE_DEVICE TwoNumbers found_by_first(Find&& find) {
  TwoNumbers* const shared = reinterpret_cast<TwoNumbers*>(gpu::shared_bytes());
  if (gpu::thread() == 0) *shared = find();
  gpu::block_barrier();
  const TwoNumbers found = *shared;
  gpu::block_barrier();
  return found;
}

PALMETTE_DEVICE int jobs_of(const RegionExchange& a) {
  return (a.ranks - 1) * a.num_chunks;
}
/// The rank at a place among the others.
PALMETTE_DEVICE int other_rank(const RegionExchange& a, int place) {
  return place + (place >= a.rank ? 1 : 0);
}
PALMETTE_DEVICE long long words_of(const RegionExchange& a, int chunk) {
  const long long left = a.words - chunk * a.chunk_words;
  return left < a.chunk_words ? left : a.chunk_words;
}
PALMETTE_DEVICE long long slot_of(int source, int epoch) {
  return 2LL * source + epoch % 2;
}

// ---- agents ----

/// @returns whether the reader takes this epoch; called by one thread
template <ExchangeFault fault>
PALMETTE_DEVICE bool has_room(const RegionExchange& a, int reader, int epoch) {
  if constexpr (fault == ExchangeFault::epoch_unchecked) return true;
  const int* const released = &a.released[a.rank][reader];
  if (gpu::load_relaxed<Scope::system>(released) + 1 < epoch) return false;
  (void)gpu::load_acquire<Scope::system>(released);
  return true;
}

PALMETTE_DEVICE void store_chunk(const RegionExchange& a, int reader, int chunk, int epoch) {
  const long long begin = chunk * a.chunk_words, size = words_of(a, chunk);
  const long long* const from = a.source + begin;
  long long* const to = a.landing[reader] + slot_of(a.rank, epoch) * a.words + begin;
  for (long long k = gpu::thread(); k < size; k += gpu::threads()) to[k] = from[k];
}

/// Words of a chunk that this warp stores.
PALMETTE_DEVICE int words_of_warp(const RegionExchange& a, int chunk) {
  const long long size = words_of(a, chunk), rounds = size / gpu::threads();
  const long long rest = size % gpu::threads() - gpu::thread() / gpu::warp_size * gpu::warp_size;
  const long long last = rest < 0 ? 0 : rest < gpu::warp_size ? rest : gpu::warp_size;
  return static_cast<int>(rounds * gpu::warp_size + last);
}

/// Each warp counts what it has stored. Behind a fence no count needs a release of its own.
template <ExchangeFault fault, bool fenced>
PALMETTE_DEVICE void count_chunk(const RegionExchange& a, int reader, int chunk, int epoch) {
  if (gpu::lane() != 0) return;
  int* const counted = &a.counted[reader][slot_of(a.rank, epoch) * a.num_chunks + chunk];
  const int words = words_of_warp(a, chunk);
  if constexpr (fenced || fault == ExchangeFault::unfenced_count)
    (void)gpu::add_relaxed<Scope::system>(counted, words);
  else if constexpr (fault == ExchangeFault::narrow_count)
    (void)gpu::add_release<Scope::device>(counted, words);
  else
    (void)gpu::add_release<Scope::system>(counted, words);
}

/// The source may be overwritten when all jobs of its epoch have been noted.
PALMETTE_DEVICE void note_sent(const RegionExchange& a, int jobs) {
  gpu::block_barrier();
  if (gpu::thread() != 0) return;
  (void)gpu::add_relaxed<Scope::device>(a.packets, 1);
  (void)gpu::add_release<Scope::device>(a.sent, jobs);
}

template <ExchangeFault fault>
PALMETTE_DEVICE void send_job(const RegionExchange& a, int job, int epoch) {
  const int reader = other_rank(a, job / a.num_chunks), chunk = job % a.num_chunks;
  store_chunk(a, reader, chunk, epoch);
  gpu::warp_barrier();
  count_chunk<fault, false>(a, reader, chunk, epoch);
  note_sent(a, 1);
}

template <ExchangeFault fault>
PALMETTE_DEVICE void send_when_there_is_room(const RegionExchange& a, int job, int epoch) {
  const int reader = other_rank(a, job / a.num_chunks);
  if (gpu::thread() == 0)
    while (!has_room<fault>(a, reader, epoch)) gpu::pause();
  gpu::block_barrier();
  send_job<fault>(a, job, epoch);
}

/// Whether a job of this epoch can be sent now; then it counts as sent. Called by one thread.
template <ExchangeFault fault>
PALMETTE_DEVICE bool take_job(const RegionExchange& a, int job, int epoch) {
  const int* const ready = &a.ready[job % a.num_chunks];
  if (a.agent_sent[job] > epoch || gpu::load_relaxed<Scope::device>(ready) <= epoch) return false;
  if (!has_room<fault>(a, other_rank(a, job / a.num_chunks), epoch)) return false;
  (void)gpu::load_acquire<Scope::device>(ready);
  a.agent_sent[job] = epoch + 1;
  return true;
}

template <ExchangeFault fault>
PALMETTE_DEVICE void poll_jobs(const RegionExchange& a, int agent) {
  const int jobs = jobs_of(a), share = (jobs - agent + a.agent_blocks - 1) / a.agent_blocks;
  for (int epoch = 0; epoch < a.epochs; ++epoch)
    for (int left = share; left > 0; --left) {
      const int job = found_by_first([&] {
                        for (;; gpu::pause())
                          for (int one = agent; one < jobs; one += a.agent_blocks)
                            if (take_job<fault>(a, one, epoch)) return TwoNumbers{one, 0};
                      }).first;
      send_job<fault>(a, job, epoch);
    }
}

template <ExchangeFault fault>
PALMETTE_DEVICE void take_from_queue(const RegionExchange& a) {
  const int jobs = jobs_of(a);
  for (;;) {
    const TwoNumbers found = found_by_first([&] {
      const int place = gpu::add_relaxed<Scope::device>(&a.queue_ends[1], 1);
      if (place >= a.epochs * jobs) return TwoNumbers{-1, 0};
      const int epoch = place / jobs;
      const int* const at = &a.queue[place % jobs];
      while (gpu::load_relaxed<Scope::device>(at) <= epoch * jobs) gpu::pause();
      return TwoNumbers{gpu::load_acquire<Scope::device>(at) - 1 - epoch * jobs, epoch};
    });
    if (found.first < 0) return;
    send_when_there_is_room<fault>(a, found.first, found.second);
  }
}

/// The complete chunks of some reader of this agent: their number is found, and they are marked by −epoch −
/// 1. Called by one thread.
template <ExchangeFault fault>
PALMETTE_DEVICE TwoNumbers gather_jobs(const RegionExchange& a, int agent, int epoch) {
  for (;; gpu::pause())
    for (int place = agent; place < a.ranks - 1; place += a.agent_blocks) {
      int count = 0;
      for (int chunk = 0; chunk < a.num_chunks; ++chunk) {
        const int job = place * a.num_chunks + chunk;
        if (!take_job<fault>(a, job, epoch)) continue;
        a.agent_sent[job] = -epoch - 1;
        ++count;
      }
      if (count > 0) return {place, count};
    }
}

template <ExchangeFault fault>
PALMETTE_DEVICE void send_packet(const RegionExchange& a, int place, int count, int epoch) {
  const int reader = other_rank(a, place);
  const int* const sent = a.agent_sent + place * a.num_chunks;
  for (int chunk = 0; chunk < a.num_chunks; ++chunk)
    if (sent[chunk] == -epoch - 1) store_chunk(a, reader, chunk, epoch);
  gpu::warp_barrier();
  if constexpr (fault != ExchangeFault::unfenced_count)
    if (gpu::lane() == 0) gpu::fence<Scope::system>();
  for (int chunk = 0; chunk < a.num_chunks; ++chunk)
    if (sent[chunk] == -epoch - 1) count_chunk<fault, true>(a, reader, chunk, epoch);
  note_sent(a, count);
  if (gpu::thread() != 0) return;
  for (int chunk = 0; chunk < a.num_chunks; ++chunk)
    if (sent[chunk] == -epoch - 1) a.agent_sent[place * a.num_chunks + chunk] = epoch + 1;
}

template <ExchangeFault fault>
PALMETTE_DEVICE void pack_jobs(const RegionExchange& a, int agent) {
  const int places = (a.ranks - 1 - agent + a.agent_blocks - 1) / a.agent_blocks;
  for (int epoch = 0; epoch < a.epochs; ++epoch)
    for (int left = places * a.num_chunks; left > 0;) {
      const TwoNumbers found = found_by_first([&] { return gather_jobs<fault>(a, agent, epoch); });
      send_packet<fault>(a, found.first, found.second, epoch);
      left -= found.second;
    }
}

template <ExchangeFault fault>
PALMETTE_DEVICE void run_agent(const RegionExchange& a, int agent) {
  if (a.mechanism == RegionMechanism::polling) poll_jobs<fault>(a, agent);
  if (a.mechanism == RegionMechanism::launched) take_from_queue<fault>(a);
  if (a.mechanism == RegionMechanism::packed) pack_jobs<fault>(a, agent);
}

// ---- writers ----

/// One writer of the chunk is done. @returns whether it was the last one; called by one thread
template <ExchangeFault fault>
PALMETTE_DEVICE bool takes_to_zero(const RegionExchange& a, int chunk) {
  int* const left = &a.writers_left[chunk];
  int before = gpu::add_release<Scope::device>(left, -1);
  if constexpr (fault == ExchangeFault::read_again) before = gpu::load_relaxed<Scope::device>(left) + 1;
  if (before != 1) return false;
  if constexpr (fault != ExchangeFault::unfenced_take) (void)gpu::load_acquire<Scope::device>(left);
  gpu::store_relaxed<Scope::device>(left, a.writers[chunk]);
  return true;
}

/// Called by all threads of the block that wrote last.
template <ExchangeFault fault>
PALMETTE_DEVICE void hand_over(const RegionExchange& a, int chunk, int epoch) {
  const int jobs = jobs_of(a);
  if (a.mechanism == RegionMechanism::by_writer) {
    for (int job = chunk; job < jobs; job += a.num_chunks) send_when_there_is_room<fault>(a, job, epoch);
    return;
  }
  if (gpu::thread() != 0) return;
  const auto publish = [](int* at, int value) {
    if constexpr (fault == ExchangeFault::unfenced_hand_over)
      gpu::store_relaxed<Scope::device>(at, value);
    else
      gpu::store_release<Scope::device>(at, value);
  };
  if (a.mechanism != RegionMechanism::launched) return publish(&a.ready[chunk], epoch + 1);
  int place = gpu::add_relaxed<Scope::device>(&a.queue_ends[0], a.ranks - 1);
  for (int job = chunk; job < jobs; job += a.num_chunks, ++place)
    publish(&a.queue[place % jobs], epoch * jobs + job + 1);
}

/// The tasks of this block may write the epoch. Called by one thread.
PALMETTE_DEVICE void wait_for_epoch(const RegionExchange& a, int epoch) {
  while (gpu::load_relaxed<Scope::device>(a.sent) < epoch * jobs_of(a)) gpu::pause();
  (void)gpu::load_acquire<Scope::device>(a.sent);
  if (a.runs_ahead != 0) return;
  for (int place = 0; place < a.ranks - 1; ++place) {
    const int* const opened = &a.opened[other_rank(a, place)];
    while (gpu::load_relaxed<Scope::device>(opened) < epoch) gpu::pause();
    (void)gpu::load_acquire<Scope::device>(opened);
  }
}

/// @param work  compute(a, task, epoch): the words of a task, by all threads of a block
template <class Work, ExchangeFault fault>
PALMETTE_DEVICE void write_region(const RegionExchange& a, const Work& work) {
  for (int epoch = 0; epoch < a.epochs; ++epoch) {
    if (gpu::thread() == 0) wait_for_epoch(a, epoch);
    gpu::block_barrier();
    for (int task = gpu::block(); task < a.num_tasks; task += a.writing_blocks) {
      work.compute(a, task, epoch);
      gpu::block_barrier();
      const RegionTask words = a.task[task];
      const int first = static_cast<int>(words.begin / a.chunk_words);
      for (int chunk = first; chunk * a.chunk_words < words.end; ++chunk) {
        const int is_last = found_by_first([&] {
                              return TwoNumbers{takes_to_zero<fault>(a, chunk) ? 1 : 0, 0};
                            }).first;
        if (is_last != 0) hand_over<fault>(a, chunk, epoch);
      }
    }
  }
}

// ---- readers ----

/// A chunk of an open epoch that is complete and was not read yet, and that epoch. Called by one thread.
PALMETTE_DEVICE TwoNumbers find_complete(const RegionExchange& a, int reader, int readers) {
  for (;; gpu::pause())
    for (int job = reader; job < jobs_of(a); job += readers) {
      const int source = other_rank(a, job / a.num_chunks), chunk = job % a.num_chunks;
      const int epoch = gpu::load_relaxed<Scope::device>(&a.opened[source]);
      if (epoch == a.epochs || a.seen[job] > epoch) continue;
      (void)gpu::load_acquire<Scope::device>(&a.opened[source]);
      const int* const counted = &a.counted[a.rank][slot_of(source, epoch) * a.num_chunks + chunk];
      if (gpu::load_relaxed<Scope::system>(counted) != words_of(a, chunk)) continue;
      (void)gpu::load_acquire<Scope::system>(counted);
      a.seen[job] = epoch + 1;
      return {job, epoch};
    }
}

/// A chunk has been read. After the last one the slot is free for the epoch after the next one.
PALMETTE_DEVICE void note_read(const RegionExchange& a, int source, int epoch) {
  if (gpu::add_release<Scope::device>(&a.read[source], 1) + 1 != a.num_chunks) return;
  (void)gpu::load_acquire<Scope::device>(&a.read[source]);
  gpu::store_relaxed<Scope::device>(&a.read[source], 0);
  int* const counted = &a.counted[a.rank][slot_of(source, epoch) * a.num_chunks];
  for (int chunk = 0; chunk < a.num_chunks; ++chunk) gpu::store_relaxed<Scope::system>(&counted[chunk], 0);
  gpu::store_release<Scope::device>(&a.opened[source], epoch + 1);
  gpu::store_release<Scope::system>(&a.released[source][a.rank], epoch + 1);
}

/// @param work  use(a, source, epoch, chunk, words): by all threads of a block
template <class Work>
PALMETTE_DEVICE void read_regions(const RegionExchange& a, const Work& work, int reader, int readers) {
  const int share = (jobs_of(a) - reader + readers - 1) / readers;
  for (int left = share * a.epochs; left > 0; --left) {
    const TwoNumbers found = found_by_first([&] { return find_complete(a, reader, readers); });
    const int source = other_rank(a, found.first / a.num_chunks), chunk = found.first % a.num_chunks;
    work.use(a, source, found.second, chunk,
             a.landing[a.rank] + slot_of(source, found.second) * a.words + chunk * a.chunk_words);
    gpu::block_barrier();
    if (gpu::thread() == 0) note_read(a, source, found.second);
  }
}

/// Called by all blocks of a launch, which has 8 bytes of shared memory.
template <class Work, ExchangeFault fault>
PALMETTE_DEVICE void exchange_regions(const RegionExchange& a, const Work& work) {
  const int agent = gpu::block() - a.writing_blocks, reader = agent - a.agent_blocks;
  if (agent < 0)
    write_region<Work, fault>(a, work);
  else if (reader < 0)
    run_agent<fault>(a, agent);
  else
    read_regions(a, work, reader, gpu::blocks() - a.writing_blocks - a.agent_blocks);
}

// ---- the trial ----

PALMETTE_DEVICE long long trial_word(int rank, int epoch, long long at, int passes) {
  auto word = static_cast<unsigned long long>(1 + rank * 61 + epoch * 17 + at * 7);
  for (int pass = 0; pass < passes; ++pass) word = word * 5 + 1;
  return static_cast<long long>(word);
}

struct TrialWork {
  int passes;
  PALMETTE_DEVICE void compute(const RegionExchange& a, int task, int epoch) const {
    for (long long k = a.task[task].begin + gpu::thread(); k < a.task[task].end; k += gpu::threads())
      a.source[k] = trial_word(a.rank, epoch, k, passes);
  }
  PALMETTE_DEVICE void use(const RegionExchange& a, int source, int epoch, int chunk,
                           const long long* words) const {
    const long long begin = chunk * a.chunk_words, size = words_of(a, chunk);
    int wrong = 0;
    for (long long k = gpu::thread(); k < size; k += gpu::threads())
      if (words[k] != trial_word(source, epoch, begin + k, passes)) ++wrong;
    if (wrong > 0) (void)gpu::add_relaxed<Scope::device>(a.wrong, wrong);
  }
};

template <ExchangeFault fault = ExchangeFault::none>
PALMETTE_KERNEL void region_trial_kernel(RegionTrial a) {
  exchange_regions<TrialWork, fault>(a.exchange, TrialWork{a.passes});
}

}  // namespace palmette::device
