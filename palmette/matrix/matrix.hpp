// The door of `matrix`: sparse matrices, patterns and permutations, the file readers and writers, and the
// generators of model problems.
#pragma once

#include "palmette/matrix/generate.hpp"
#include "palmette/matrix/matrix_share.hpp"
#include "palmette/matrix/permutation.hpp"
#include "palmette/matrix/read.hpp"
#include "palmette/matrix/sparse_matrix.hpp"
#include "palmette/matrix/write.hpp"
