// Kernels for vectors: in and out of a solve, maxima, residuals and corrections. A warp takes runs of 32
// consecutive rows, a lane for each row.
#pragma once

#include "palmette/device/numbers.cuh"
#include "palmette/device/vectors.hpp"

namespace palmette::device {

/// Calls each(item) for this thread's share of `count` items, neighbours in neighbouring lanes.
template <class Each>
PALMETTE_DEVICE void over_items(long long count, const Each& each) {
  const long long step = static_cast<long long>(gpu::blocks()) * gpu::threads();
  for (long long k = static_cast<long long>(gpu::block()) * gpu::threads() + gpu::thread(); k < count;
       k += step)
    each(k);
}

/// Calls each(item), with all lanes, for this warp's share of `count` items.
template <class Each>
PALMETTE_DEVICE void over_warps(int count, const Each& each) {
  const int warps = gpu::threads() / gpu::warp_size;
  for (int k = gpu::block() * warps + gpu::thread() / gpu::warp_size; k < count; k += gpu::blocks() * warps)
    each(k);
}

/// Calls each(row) for the rows of this lane in one part of several.
template <class Each>
PALMETTE_DEVICE void over_part(int n, int part, int num_parts, const Each& each) {
  for (int row = part * gpu::warp_size + gpu::lane(); row < n; row += num_parts * gpu::warp_size) each(row);
}

template <class T>
PALMETTE_KERNEL void load_rows_kernel(VectorMove<T> a) {
  over_items(static_cast<long long>(a.n) * a.stride, [&](long long item) {
    const int k = static_cast<int>(item / a.stride), j = static_cast<int>(item % a.stride);
    T value = zero<T>();
    if (j < a.num_rhs) {
      const int row = a.place != nullptr ? a.place[k] : k;
      value = a.columns[row + j * a.ld];
      if (a.scale != nullptr) value = scaled(value, static_cast<real_of<T>>(a.scale[row]));
      value = conjugate_if(a.conjugated, value);
    }
    a.rows[item] = value;
  });
}

template <class T>
PALMETTE_KERNEL void store_rows_kernel(VectorMove<T> a) {
  over_items(static_cast<long long>(a.n) * a.num_rhs, [&](long long item) {
    const int k = static_cast<int>(item % a.n), j = static_cast<int>(item / a.n);
    const int row = a.place != nullptr ? a.place[k] : k;
    T value = a.rows[static_cast<long long>(k) * a.stride + j];
    if (a.scale != nullptr) value = scaled(value, static_cast<real_of<T>>(a.scale[row]));
    a.columns[row + j * a.ld] = conjugate_if(a.conjugated, value);
  });
}

template <class T>
PALMETTE_KERNEL void to_low_kernel(PrecisionChange<T> a) {
  auto* const low = static_cast<low_of<T>*>(a.low);
  over_items(static_cast<long long>(a.n) * a.num_columns, [&](long long item) {
    const int row = static_cast<int>(item % a.n), j = static_cast<int>(item / a.n);
    const T value = scaled(a.high[row + j * a.ld], static_cast<real_of<T>>(a.scale[row]));
    low[item] = converted<low_of<T>>(divided(value, static_cast<real_of<T>>(a.size[j])));
  });
}

template <class T>
PALMETTE_KERNEL void from_low_kernel(PrecisionChange<T> a) {
  const auto* const low = static_cast<const low_of<T>*>(a.low);
  over_items(static_cast<long long>(a.n) * a.num_columns, [&](long long item) {
    const int row = static_cast<int>(item % a.n), j = static_cast<int>(item / a.n);
    const T value = scaled(converted<T>(low[item]), static_cast<real_of<T>>(a.scale[row]));
    a.high[row + j * a.ld] = scaled(value, static_cast<real_of<T>>(a.size[j]));
  });
}

PALMETTE_DEVICE double larger(double a, double b) { return a > b ? a : b; }
/// Infinity for NaN as well, which no maximum would show.
PALMETTE_DEVICE double finite_or_infinity(double v) { return v - v == 0 ? v : __builtin_huge_val(); }

PALMETTE_DEVICE double lane_largest(double v) {
  for (int x = gpu::warp_size / 2; x > 0; x >>= 1) v = larger(v, gpu::shuffle_xor(gpu::all_lanes, v, x));
  return v;
}

template <class T>
PALMETTE_KERNEL void column_maxima_kernel(ColumnMaxima<T> a) {
  over_warps(a.num_columns * a.num_parts, [&](int item) {
    const T* const column = a.columns + item / a.num_parts * a.ld;
    double largest = 0;
    over_part(a.n, item % a.num_parts, a.num_parts, [&](int row) {
      double size = a.cheap ? static_cast<double>(cheap_modulus(column[row]))
                            : modulus(widened(column[row], a.factor));
      if (a.scale != nullptr) size = size * a.scale[row];
      largest = larger(largest, finite_or_infinity(size));
    });
    largest = lane_largest(largest);
    if (gpu::lane() == 0) a.partial[item] = largest;
  });
}

template <class R>
PALMETTE_KERNEL void largest_of_parts_kernel(LargestOfParts<R> a) {
  over_warps(a.count, [&](int item) {
    const R* const partial = a.partial + static_cast<long long>(item) * a.num_parts;
    R largest = 0;
    for (int k = gpu::lane(); k < a.num_parts; k += gpu::warp_size) largest = larger(largest, partial[k]);
    largest = lane_largest(largest);
    if (gpu::lane() == 0) a.result[item] = largest;
  });
}

/// Products of two floats are exact in double; their sum is an ordinary sum in double.
template <class R>
struct RealSum {
  double total = 0;
  PALMETTE_DEVICE void add_product(double left, double right) {
    total = gpu::multiply_add(left, right, total);
  }
  PALMETTE_DEVICE double value() const { return total; }
};
/// An unevaluated sum total + low, as if computed with 106 bits and then rounded [Ogita et al. 2005].
template <>
struct RealSum<double> {
  double total = 0, low = 0;
  PALMETTE_DEVICE void add_product(double left, double right) {
    const double product = gpu::multiply_add(left, right, 0.0);
    const double product_error = gpu::multiply_add(left, right, -product);
    const double sum = total + product;
    const double product_part = sum - total;
    low = low + (((total - (sum - product_part)) + (product - product_part)) + product_error);
    total = sum;
  }
  PALMETTE_DEVICE double value() const { return total + low; }
};
template <class T>
struct ProductSum {
  RealSum<T> sum;
  PALMETTE_DEVICE void start(double v) { sum = {v}; }
  PALMETTE_DEVICE void add_product(double left, double right) { sum.add_product(left, right); }
  PALMETTE_DEVICE double value() const { return sum.value(); }
};
template <class R>
struct ProductSum<Complex<R>> {
  RealSum<R> re, im;
  PALMETTE_DEVICE void start(Complex<double> v) { re = {v.re}, im = {v.im}; }
  PALMETTE_DEVICE void add_product(Complex<double> left, Complex<double> right) {
    re.add_product(left.re, right.re);
    re.add_product(-left.im, right.im);
    im.add_product(left.re, right.im);
    im.add_product(left.im, right.re);
  }
  PALMETTE_DEVICE Complex<double> value() const { return {re.value(), im.value()}; }
};

/// K columns of the residual in one place of the slices. Their figures are added to `largest`.
template <class T, int K>
PALMETTE_DEVICE void residual_of_row(const ResidualCall<T>& a, int place, int first, int count,
                                     double (&largest)[2][K]) {
  const int row = a.a.row[place], length = a.a.length[place], slice = place / gpu::warp_size;
  ProductSum<T> sum[K];
  double magnitude[K];
  for (int k = 0; k < K; ++k) {
    const int j = first + (k < count ? k : 0);
    const wide_of<T> b = widened(a.b[row + (a.b_column != nullptr ? a.b_column[j] : j) * a.ldb], 1.0);
    sum[k].start(b);
    magnitude[k] = modulus(b);
  }
  for (int e = 0; e < length; ++e) {
    const long long at = a.a.begin[slice] + static_cast<long long>(e) * gpu::warp_size + gpu::lane();
    const wide_of<T> value = conjugate_if(a.conjugated, widened(a.a.value[at], 1.0));
    const int column = a.a.column[at];
    for (int k = 0; k < K; ++k) {
      const wide_of<T> x = widened(a.x[column + (first + (k < count ? k : 0)) * a.ldx], -1.0);
      sum[k].add_product(value, x);
      magnitude[k] = gpu::multiply_add(modulus(value), modulus(x), magnitude[k]);
    }
  }
  auto* const residual = static_cast<wide_of<T>*>(a.residual);
  for (int k = 0; k < K && k < count; ++k) {
    const wide_of<T> value = sum[k].value();
    residual[row + static_cast<long long>(first + k) * a.a.num_rows] = value;
    const double size = finite_or_infinity(modulus(value));
    largest[0][k] = larger(largest[0][k], size);
    const double against = magnitude[k] + (magnitude[k] < a.suspicious ? a.forgiven : 0.0);
    if (size != 0) largest[1][k] = larger(largest[1][k], size / against);
  }
}

template <class T, int K>
PALMETTE_KERNEL void residual_kernel(ResidualCall<T> a) {
  const int tiles = (a.num_columns + K - 1) / K;
  over_warps(tiles * a.num_parts, [&](int item) {
    const int part = item % a.num_parts, first = item / a.num_parts * K;
    const int count = a.num_columns - first < K ? a.num_columns - first : K;
    double largest[2][K] = {};
    over_part(a.a.num_rows, part, a.num_parts,
              [&](int place) { residual_of_row<T, K>(a, place, first, count, largest); });
    for (int figure = 0; figure < 2; ++figure)
      for (int k = 0; k < K; ++k) {
        const double found = lane_largest(largest[figure][k]);
        if (gpu::lane() == 0 && k < count)
          a.partial[(figure * a.num_columns + first + k) * a.num_parts + part] = found;
      }
  });
}

template <class T>
PALMETTE_KERNEL void scaled_residual_kernel(ScaledResidual<T> a) {
  const auto* const residual = static_cast<const wide_of<T>*>(a.residual);
  over_items(static_cast<long long>(a.n) * a.count, [&](long long item) {
    const int row = static_cast<int>(item % a.n), k = static_cast<int>(item / a.n);
    const wide_of<T> value = residual[row + static_cast<long long>(a.column[k]) * a.n];
    a.to[item] = converted<T>(scaled(scaled(value, a.first[k]), a.second[k]));
  });
}

template <class T>
PALMETTE_KERNEL void correction_kernel(CorrectionCall<T> a) {
  over_items(static_cast<long long>(a.n) * a.count, [&](long long item) {
    const int row = static_cast<int>(item % a.n), k = static_cast<int>(item / a.n);
    const wide_of<T> x = widened(a.x[row + a.column[k] * a.ldx], 1.0);
    a.candidate[item] =
        converted<T>(x + scaled(widened(a.correction[item], a.first[k]), a.second[k]));
  });
}

template <class T>
PALMETTE_KERNEL void copy_columns_kernel(ColumnCopy<T> a) {
  over_items(static_cast<long long>(a.n) * a.count, [&](long long item) {
    const int row = static_cast<int>(item % a.n), k = static_cast<int>(item / a.n);
    a.to[row + a.to_column[k] * a.ld] = a.from[row + static_cast<long long>(a.from_column[k]) * a.n];
  });
}

}  // namespace palmette::device
