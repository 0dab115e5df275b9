// The door of `blocks`: dense kernels on one block (the only room that calls BLAS and LAPACK), aligned
// storage for panels, and the Factor. All matrices are column-major with a leading dimension.
#pragma once

#include "palmette/blocks/dense_factor.hpp"
#include "palmette/blocks/determinant.hpp"
#include "palmette/blocks/factor.hpp"
#include "palmette/blocks/lanes.hpp"
#include "palmette/blocks/level3.hpp"
#include "palmette/blocks/packed_panel.hpp"
#include "palmette/blocks/panel_array.hpp"
#include "palmette/blocks/panel_bundle.hpp"
#include "palmette/blocks/panel_kernels.hpp"
#include "palmette/blocks/panel_sweeps.hpp"
#include "palmette/blocks/panel_vector.hpp"
#include "palmette/blocks/placed_products.hpp"
#include "palmette/blocks/rank_factor.hpp"
#include "palmette/blocks/rank_part.hpp"
#include "palmette/blocks/reading_order.hpp"
#include "palmette/blocks/register_block.hpp"
#include "palmette/blocks/rotations.hpp"
#include "palmette/blocks/small_products.hpp"
