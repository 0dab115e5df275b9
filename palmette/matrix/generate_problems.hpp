// Inside `matrix`: the functions of the generators' list. `options` has been checked and its default
// parameter filled in.
//
// Every value is computed so that its bits depend neither on libm nor on whether the compiler fuses
// multiplications with additions: a product that is added is exact, or a division or a store to memory
// separates the two.
#pragma once

#include "palmette/matrix/generate.hpp"

namespace palmette::matrix_detail {

// generate_grid.cpp: finite differences on grids of n points a side, numbered x fastest.
SparseMatrix<double> make_poisson2d5(const GenerateOptions& options);
SparseMatrix<double> make_poisson2d9(const GenerateOptions& options);
SparseMatrix<double> make_poisson3d7(const GenerateOptions& options);
SparseMatrix<double> make_poisson3d27(const GenerateOptions& options);
SparseMatrix<double> make_indefinite2d(const GenerateOptions& options);
SparseMatrix<double> make_convection_diffusion2d(const GenerateOptions& options);
SparseMatrix<double> make_convection_diffusion3d(const GenerateOptions& options);
SparseMatrix<double> make_kkt3d(const GenerateOptions& options);

// generate_elasticity.cpp, generate_thermal.cpp: finite elements.
SparseMatrix<double> make_elasticity3d(const GenerateOptions& options);
SparseMatrix<double> make_thermal2d(const GenerateOptions& options);

// generate_network.cpp: circuits and graphs.
SparseMatrix<double> make_circuit(const GenerateOptions& options);
SparseMatrix<double> make_rmat(const GenerateOptions& options);
SparseMatrix<double> make_road(const GenerateOptions& options);

// generate_triangular.cpp: lower triangular, well conditioned by dominant rows.
SparseMatrix<double> make_bidiagonal(const GenerateOptions& options);
SparseMatrix<double> make_dense_triangle(const GenerateOptions& options);
SparseMatrix<double> make_random_triangular(const GenerateOptions& options);

// generate_scattered.cpp: random patterns.
SparseMatrix<double> make_random_spd(const GenerateOptions& options);
SparseMatrix<double> make_random_unsymmetric(const GenerateOptions& options);

}  // namespace palmette::matrix_detail
