// An error of one rank is sent to all ranks before any continues.
#include "palmette/solver/rank_checks.hpp"

#include <algorithm>
#include <cstring>
#include <exception>

#include "palmette/solver/checks.hpp"
#include "palmette/solver/rank_facts.hpp"

namespace palmette {
namespace {

enum class Complaint : std::int64_t { none, usage, dimension, memory, file, device, other };

std::string name_of_rank(std::size_t rank) { return "rank " + std::to_string(rank); }

/// What a rank tells the others of its error: this, the name of a file, a sentence.
struct ComplaintHead {
  Complaint complaint = Complaint::none;
  std::int64_t file_letters = 0;
};

/// The error that `work` threw.
struct Caught {
  ComplaintHead head;
  std::string text;             // the file, and the sentence
  std::exception_ptr unusual;  // that only this rank can throw on

  explicit Caught(const std::function<void()>& work) {
    try {
      work();
    } catch (const DimensionError& error) {
      set(Complaint::dimension, error.what());
    } catch (const UsageError& error) {
      set(Complaint::usage, error.what());
    } catch (const MemoryError& error) {
      set(Complaint::memory, error.what());
    } catch (const std::bad_alloc&) {
      set(Complaint::memory, "out of memory");
    } catch (const DeviceError& error) {
      set(Complaint::device, error.what());
    } catch (const IoError& error) {
      set(Complaint::file, error.file() + std::string(error.what()).substr(error.file().size() + 2));
      head.file_letters = static_cast<std::int64_t>(error.file().size());
    } catch (const std::exception& error) {
      unusual = std::current_exception();
      set(Complaint::other, error.what());
    }
  }
  void set(Complaint complaint, std::string said) {
    head.complaint = complaint;
    text = std::move(said);
  }
};

/// Thrown by all ranks together, also where others have begun an exchange around it.
template <class E>
struct Agreed final : E, AgreedError {
  using E::E;
};

/// @param rank  empty: there is only one
[[noreturn]] void refuse(const ComplaintHead& head, const std::string& rank, const std::string& text) {
  const auto letters = static_cast<std::size_t>(head.file_letters);
  if (head.complaint == Complaint::file)
    throw Agreed<IoError>(text.substr(0, letters), 0, text.substr(letters));
  const std::string said = rank.empty() ? text : rank + ": " + text;
  if (head.complaint == Complaint::dimension) throw Agreed<DimensionError>(said);
  if (head.complaint == Complaint::memory) throw Agreed<MemoryError>(said);
  if (head.complaint == Complaint::device) throw Agreed<DeviceError>(said);
  if (head.complaint == Complaint::other) throw BrokenRun(said);
  throw Agreed<UsageError>(said);
}

std::string rows_text(index_t first, index_t end) {
  if (end == first + 1) return "row " + std::to_string(first);
  return "rows " + std::to_string(first) + " to " + std::to_string(end - 1);
}

/// In row order, every row once.
void check_partition(const std::vector<RowsOfRank>& rows, index_t size) {
  std::vector<std::size_t> order;
  for (std::size_t rank = 0; rank < rows.size(); ++rank)
    if (rows[rank].count > 0) order.push_back(rank);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return rows[a].first != rows[b].first ? rows[a].first < rows[b].first : a < b;
  });
  index_t next = 0;
  for (std::size_t place = 0; place < order.size(); ++place) {
    const RowsOfRank& here = rows[order[place]];
    if (here.first > next)
      throw UsageError("no rank has " + rows_text(next, here.first) +
                       " (counted from 0); every row must be brought by one");
    if (here.first < next)
      throw UsageError(name_of_rank(order[place - 1]) + " and " + name_of_rank(order[place]) +
                       " both have row " + std::to_string(here.first) +
                       " (counted from 0); every row must be brought by one rank only");
    next = here.first + here.count;
  }
  if (next < size)
    throw UsageError("no rank has " + rows_text(next, size) + " (counted from 0) of a matrix of " +
                     std::to_string(size) + " columns; every row must be brought by one rank");
}

}  // namespace

void check_on_all(const RankTeam& ranks, const std::function<void()>& work) {
  const Caught caught(work);
  if (ranks.transport.agree(static_cast<int>(caught.head.complaint)) == 0) return;
  BytePool pool;
  std::vector<SharedBytes> pieces;
  exchange(ranks.transport, [&] {
    SharedBytes mine = pool.take(sizeof(ComplaintHead) + caught.text.size());
    std::memcpy(mine.writable().data(), &caught.head, sizeof(ComplaintHead));
    std::memcpy(mine.writable().data() + sizeof(ComplaintHead), caught.text.data(), caught.text.size());
    pieces = gather_from_all(ranks.transport, ranks.team, std::move(mine), ranks.drive);
  });
  if (caught.unusual) std::rethrow_exception(caught.unusual);
  for (std::size_t rank = 0; rank < pieces.size(); ++rank) {
    ComplaintHead head;
    std::memcpy(&head, pieces[rank].data(), sizeof(ComplaintHead));
    if (head.complaint == Complaint::none) continue;
    const std::string said(reinterpret_cast<const char*>(pieces[rank].data()) + sizeof(ComplaintHead),
                           pieces[rank].size() - sizeof(ComplaintHead));
    refuse(head, pieces.size() == 1 ? "" : name_of_rank(rank), said);
  }
}

void check_same_on_all(const RankTeam& ranks, std::uint64_t print, const std::string& arguments,
                       const std::string& remedy) {
  const int mine = static_cast<int>(print & 0x7fffffff), most = ranks.transport.agree(mine);
  check_on_all(ranks, [&] {
    if (mine != most) throw UsageError(arguments + " differ from those of another rank; " + remedy);
  });
}

void check_same_columns(const RankTeam& ranks, index_t columns_of_b) {
  const index_t most = ranks.transport.agree(columns_of_b);
  check_on_all(ranks, [&] {
    if (columns_of_b != most)
      throw DimensionError("b has " + std::to_string(columns_of_b) + " columns, but on another rank " +
                           std::to_string(most));
  });
}

void check_parts(const RankTeam& ranks, index_t rows, const PartOfRank& one, const PartOfRank& other) {
  check_on_all(ranks, [&] {
    if (one.rows == rows && other.rows == rows && one.cols == other.cols) return;
    const auto words = [](const PartOfRank& part) {
      return part.name + std::string(" is ") + std::to_string(part.rows) + " x " + std::to_string(part.cols);
    };
    throw DimensionError(words(one) + " and " + words(other) + ", but this rank has " + std::to_string(rows) +
                         " rows of the matrix; both need this number of rows, and equally many columns");
  });
}

template <class T>
SparseMatrix<T> checked_rows(const RowBlock<T>& rows) {
  const index_t count = rows.num_rows();
  if (rows.size < 0 || rows.first_row < 0)
    throw DimensionError("rows from " + std::to_string(rows.first_row) + " on of a matrix of " +
                         std::to_string(rows.size) + " columns is invalid");
  if (std::int64_t{rows.first_row} + count > rows.size && count > 0)
    throw DimensionError("the block has " + rows_text(rows.first_row, rows.first_row + count) +
                         " (counted from 0), but the matrix has " + std::to_string(rows.size) +
                         " columns; a solve needs a square matrix");
  const offset_t nothing[] = {0};
  const std::span<const offset_t> pointers =
      rows.row_ptr.empty() ? std::span<const offset_t>(nothing) : rows.row_ptr;
  if (pointers[0] != 0)
    throw UsageError("row_ptr begins with " + std::to_string(pointers[0]) + ", not with 0");
  for (index_t row = 0; row < count; ++row)
    if (pointers[row + 1] < pointers[row])
      throw UsageError("row_ptr decreases at row " + std::to_string(row) + " of the block");
  const auto nnz = static_cast<std::size_t>(pointers[count]);
  if (rows.column.size() != nnz || rows.values.size() != nnz)
    throw DimensionError("row_ptr ends with " + std::to_string(nnz) + ", but there are " +
                         std::to_string(rows.column.size()) + " column indices and " +
                         std::to_string(rows.values.size()) + " values");
  for (index_t row = 0; row < count; ++row)
    for (offset_t entry = pointers[row]; entry < pointers[row + 1]; ++entry) {
      const index_t column = rows.column[entry];
      if (column < 0 || column >= rows.size)
        throw UsageError("row " + std::to_string(rows.first_row + row) + " has the column index " +
                         std::to_string(column) + " (counted from 0), but the matrix has " +
                         std::to_string(rows.size) + " columns");
    }
  SparseMatrix<T> made = from_compressed_columns<T>(rows.size, count, pointers, rows.column, rows.values);
  for (index_t row = 0; row < count; ++row)
    for (offset_t entry = made.pattern.column_ptr[row]; entry < made.pattern.column_ptr[row + 1]; ++entry)
      if (!is_finite(made.values[entry]))
        throw UsageError("the entry in row " + std::to_string(rows.first_row + row + 1) + ", column " +
                         std::to_string(made.pattern.row_index[entry] + 1) +
                         " is infinite or not a number (NaN); a matrix needs finite values");
  return made;
}

std::vector<RowsOfRank> agreed_rows(const RankTeam& ranks, index_t size, RowsOfRank mine) {
  struct Brought {
    index_t size;
    RowsOfRank rows;
  };
  std::vector<Brought> all;
  exchange(ranks.transport, [&] {
    all = values_of_ranks(Brought{size, mine}, ranks.transport, ranks.team, ranks.drive);
  });
  std::vector<RowsOfRank> rows;
  const index_t size_of_first = all[0].size;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank].size != size_of_first)
      throw DimensionError("rank 0 has rows of " + std::to_string(size_of_first) + " columns, " +
                           name_of_rank(rank) + " rows of " + std::to_string(all[rank].size) +
                           "; all must belong to one matrix");
    rows.push_back(all[rank].rows);
  }
  check_partition(rows, size_of_first);
  return rows;
}

#define PALMETTE_INSTANTIATE(T) template SparseMatrix<T> checked_rows(const RowBlock<T>&);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
