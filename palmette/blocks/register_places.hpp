// Inside `blocks`: where the rows of one register of a product belong in the columns of a panel, and how they
// are subtracted there.
#pragma once

#include <algorithm>

#include "palmette/blocks/lanes.hpp"

namespace palmette::tiles {

/// Parts of a full register, where masks exist.
template <class T>
struct MaskedRegister {
  using Vector = typename lanes::Lanes<T, lanes::full_width<T>>::Vector;
  using Real = real_t<T>;
#if defined(__AVX512F__)
  static constexpr bool exists = sizeof(Vector) == 64;
#else
  static constexpr bool exists = false;
#endif

  /// Lanes [first, end), at least one of them: a bit for each of their reals.
  static constexpr unsigned mask(int first, int end) {
    constexpr int parts = is_complex_v<T> ? 2 : 1;
    return (1u << (parts * end)) - (1u << (parts * first));
  }
#if defined(__AVX512F__)
  /// The lanes of `mask` from `from` on, the others of `other`; nothing else is read.
  PALMETTE_INLINE static Vector load(unsigned mask, const T* from, Vector other) {
    const auto* const real = reinterpret_cast<const Real*>(from);
    if constexpr (sizeof(Real) == 8)
      return (Vector)_mm512_mask_loadu_pd((__m512d)other, static_cast<__mmask8>(mask), real);
    else return (Vector)_mm512_mask_loadu_ps((__m512)other, static_cast<__mmask16>(mask), real);
  }
  /// The lanes of `mask`; nothing else is written.
  PALMETTE_INLINE static void store(unsigned mask, Vector v, T* to) {
    auto* const real = reinterpret_cast<Real*>(to);
    if constexpr (sizeof(Real) == 8) _mm512_mask_storeu_pd(real, static_cast<__mmask8>(mask), (__m512d)v);
    else _mm512_mask_storeu_ps(real, static_cast<__mmask16>(mask), (__m512)v);
  }
#endif
};

/// The places of up to `full` rows that ascend: side by side, in a few runs, or apart.
template <class T>
class RegisterPlaces {
 public:
  static constexpr int full = lanes::full_width<T>;

  /// @param place  length count, kept; 1 ≤ count ≤ full
  void find(const index_t* place, index_t count) {
    place_ = place;
    count_ = static_cast<int>(count);
    adjoin_ = count == full && place[full - 1] - place[0] == full - 1;
    runs_ = 0;
    if constexpr (Masked::exists)
      if (!adjoin_) find_runs();
  }

  /// target[c][place[lane]] −= sum(c)[lane] for the columns c = 0 … NumRhs − 1, which are compile-time
  /// constants. The targets do not overlap.
  template <int NumRhs, class Sum>
  PALMETTE_INLINE void subtract(T* const (&target)[NumRhs], Sum&& sum) const {
    if (adjoin_) {
      const index_t first = place_[0];
      lanes::unrolled<NumRhs>([&](auto c) PALMETTE_INLINE {
        T* const at = target[c] + first;
        L::store(L::load(at) - sum(c), at);
      });
      return;
    }
    if constexpr (Masked::exists)
      if (runs_ > 0) return subtract_runs(target, sum);
    // Not T, since complex numbers would be set to zero first.
    alignas(64) real_t<T> reals[NumRhs * sizeof(Vector) / sizeof(real_t<T>)];
    T* const entry = reinterpret_cast<T*>(reals);
    lanes::unrolled<NumRhs>([&](auto c) PALMETTE_INLINE { L::store(sum(c), entry + c * full); });
    for (int lane = 0; lane < count_; ++lane) {
      const index_t at = place_[lane];
      lanes::unrolled<NumRhs>([&](auto c) PALMETTE_INLINE { target[c][at] -= entry[c * full + lane]; });
    }
  }

 private:
  using L = lanes::Lanes<T, full>;
  using Masked = MaskedRegister<T>;
  using Vector = typename L::Vector;

  /// A run is loaded and stored at once for each column; more of them take longer than entry by entry.
  static constexpr int most_runs = std::max(1, full / 4);
  /// Columns that are loaded before the first is stored: as many as fit beside the sums in registers.
  static constexpr int columns_at_once = 4;

  /// Rows that adjoin in the panel. A register at target + `shift` has each of them in the lane of its sum:
  /// nothing is permuted.
  struct Run {
    offset_t shift;
    unsigned lanes;  ///< see MaskedRegister::mask
  };

  /// runs_ stays 0 if there are more than most_runs.
  void find_runs() {
    int found = 0;
    for (int lane = 0; lane < count_;) {
      if (found == most_runs) return;
      int end = lane + 1;
      while (end < count_ && place_[end] - place_[lane] == end - lane) ++end;
      run_[found++] = {place_[lane] - lane, Masked::mask(lane, end)};
      lane = end;
    }
    runs_ = found;
  }

  template <int NumRhs, class Sum>
  PALMETTE_INLINE void subtract_runs(T* const (&target)[NumRhs], Sum&& sum) const {
    constexpr int columns = std::min(NumRhs, columns_at_once);
    lanes::unrolled<NumRhs / columns>([&](auto group) PALMETTE_INLINE {
      Vector value[columns];
      lanes::unrolled<columns>([&](auto c) PALMETTE_INLINE { value[c] = Vector{}; });
      for (int run = 0; run < runs_; ++run)
        lanes::unrolled<columns>([&](auto c) PALMETTE_INLINE {
          value[c] = Masked::load(run_[run].lanes, target[group * columns + c] + run_[run].shift, value[c]);
        });
      lanes::unrolled<columns>([&](auto c) PALMETTE_INLINE {
        value[c] -= sum(std::integral_constant<int, group * columns + c>());
      });
      for (int run = 0; run < runs_; ++run)
        lanes::unrolled<columns>([&](auto c) PALMETTE_INLINE {
          Masked::store(run_[run].lanes, value[c], target[group * columns + c] + run_[run].shift);
        });
    });
  }

  const index_t* place_ = nullptr;
  int count_ = 0;
  bool adjoin_ = false;
  int runs_ = 0;
  Run run_[most_runs];
};

}  // namespace palmette::tiles
