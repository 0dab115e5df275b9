#!/usr/bin/env bash
# tools/package.sh: make the Debian package (build/package/palmette_*.deb) with command, shared library for
# each level of x86-64, PARDISO's door, headers and CMake package, and test it: install it in a new Debian
# (debootstrap, as root), solve there, and build and run tests/package/user and a program that calls PARDISO.
set -euo pipefail

cd "$(dirname -- "${BASH_SOURCE[0]}")/.."
# shellcheck source=tools/setup.sh
. tools/setup.sh
package_folder=$PWD/build/package

make_package() {
  cmake -S . -B "$package_folder" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/usr \
    -DCMAKE_INSTALL_LIBDIR="lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)" -DPALMETTE_SHARED=ON \
    -DPALMETTE_TESTS=OFF -DPALMETTE_CUDA=OFF -DPALMETTE_HIP=OFF -DPALMETTE_WARNINGS_AS_ERRORS=ON &&
    cmake --build "$package_folder" --parallel "$jobs" &&
    rm -f "$package_folder"/*.deb &&
    (cd "$package_folder" && cpack -G DEB)
}

# A Debian of its own, of the release of this system.
make_debian() {
  local release
  release=$(. /etc/os-release && echo "$VERSION_CODENAME")
  debootstrap --variant=minbase "$release" "$debian" &&
    cp /etc/resolv.conf "$debian/etc/" &&
    cp "$package_folder"/palmette_*.deb "$debian/root/" &&
    cp -r tests/package/user examples/13_pardiso.c "$debian/root/"
}

inside() { chroot "$debian" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 bash -ec "$1"; }

install_package() {
  inside 'export DEBIAN_FRONTEND=noninteractive
    apt-get -o Acquire::Retries=3 -qq update
    apt-get -o Acquire::Retries=3 -qq install -y --no-install-recommends ~/palmette_*.deb'
}

solve_inside() {
  inside 'cd; palmette generate poisson3d7 --n 20 --out A.mtx; palmette info; palmette solve A.mtx'
}

use_inside() {
  inside 'export DEBIAN_FRONTEND=noninteractive
    apt-get -o Acquire::Retries=3 -qq install -y --no-install-recommends g++ cmake make
    cmake -S ~/user -B ~/user/build -DCMAKE_BUILD_TYPE=Release -DPALMETTE_WANTED=
    cmake --build ~/user/build
    ~/user/build/user
    gcc ~/13_pardiso.c -o ~/pardiso -lpalmette_pardiso_mkl
    ~/pardiso'
}

install_packages "${build_packages[@]}" dpkg-dev file debootstrap
build_step "Debian package: building" make_package
say "$(cd "$package_folder" && ls -l palmette_*.deb | awk '{ printf "%s  %.1f MB\n", $9, $5 / 1e6 }')"
dpkg-deb --info "$package_folder"/palmette_*.deb
debian=$(mktemp -d)
trap 'rm -rf "$debian"' EXIT
step "Debian package: a Debian to install it in" make_debian
step "Debian package: installing" install_package
solve_inside
step "Debian package: a program that uses the library" use_inside
