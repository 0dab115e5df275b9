#!/usr/bin/env bash
# tools/petsc_newest.sh [REPORT.xml]: build the newest PETSc that the Python package index has, as small as it
# can be, in build/petsc-newest; then the MatSolverType palmette for it, and run the tests of tests/petsc and
# PETSc's own KSP tutorials ex2, ex10 and ex52 with it, on 1 to 4 ranks. Nothing of it is installed.
# REPORT.xml is what ctest reports. Delete build/petsc-newest once there is a newer PETSc.
set -euo pipefail

report=${1:+$(realpath -m -- "$1")}
cd "$(dirname -- "${BASH_SOURCE[0]}")/.."
# shellcheck source=tools/setup.sh
. tools/setup.sh
folder=$PWD/build/petsc-newest

fetch_sources() {
  [ -e "$folder/source/configure" ] && return
  rm -rf "$folder/source" "$folder/source.part" "$folder/download"
  mkdir -p "$folder/source.part"
  "$python_here" -m pip download --quiet --disable-pip-version-check --no-deps --no-binary :all: petsc \
    --dest "$folder/download" &&
    tar -xf "$folder"/download/petsc-*.tar.gz --strip-components 1 -C "$folder/source.part" &&
    mv "$folder/source.part" "$folder/source"
}

# In C and C++, with MPI and a BLAS, without Fortran and everything else.
build_petsc() {
  [ -e "$folder/installed/lib/pkgconfig/petsc.pc" ] && return
  (cd "$folder/source" &&
    unset PETSC_DIR PETSC_ARCH &&
    python3 configure --prefix="$folder/installed" --with-cc=mpicc --with-cxx=mpicxx --with-fc=0 --with-x=0 \
      --with-debugging=0 --with-blaslapack-lib=-lopenblas --with-hwloc=0 --with-bison=0 \
      --with-make-np="$jobs" COPTFLAGS=-O1 CXXOPTFLAGS=-O1 &&
    make all && make install)
}

build_solver_type() {
  PKG_CONFIG_PATH=$folder/installed/lib/pkgconfig cmake --preset check -B "$folder/build" \
    -DPALMETTE_BENCH=OFF -DPALMETTE_PETSC=ON \
    -DPALMETTE_PETSC_TUTORIALS="$folder/source/src/ksp/ksp/tutorials" &&
    cmake --build "$folder/build" --parallel "$jobs" --target palmette_petsc_tests
}

install_packages "${build_packages[@]}" libgtest-dev libopenmpi-dev openmpi-bin pkg-config make
install_modules "${python_modules[@]}"
step "PETSc: fetching its sources" fetch_sources
step "PETSc: building" build_petsc
build_step "PETSc: building the solver type" build_solver_type
say "PETSc $(PKG_CONFIG_PATH=$folder/installed/lib/pkgconfig pkg-config --modversion petsc)"
ctest --test-dir "$folder/build" --output-on-failure --no-tests=error -L '^petsc$' \
  ${report:+--output-junit "$report"}
