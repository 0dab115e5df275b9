// Generates a model problem and orders it, through the doors of the installed library; ends with 0 if every column has its place.
#include "palmette/matrix/matrix.hpp"
#include "palmette/order/order.hpp"

int main() {
  const palmette::SparseMatrix<double> matrix = palmette::generate({.problem = "poisson2d5", .n = 8});
  const palmette::Outcome<palmette::Ordering> outcome = palmette::order(matrix);
  if (!outcome.ok())
    return 1;
  return outcome.value().column.size() == matrix.rows() ? 0 : 1;
}
