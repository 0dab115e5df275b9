"""The option --kernels, which the command answers by running anew."""


import pytest

LEVELS = ["x86-64", "x86-64-v3", "x86-64-v4"]


def kernels(palmette, *arguments):
    return palmette(*arguments, "info", "--json", "-", "--quiet")


def test_info_names_the_kernels(palmette):
    found = kernels(palmette).json["build"]["kernels"]
    assert found["name"] and found["register_bytes"] in (16, 32, 64)
    assert f"{found['name']}, registers of {found['register_bytes']} bytes" in palmette("info").out


def test_the_kernels_that_run_can_be_asked_for(palmette):
    name = kernels(palmette).json["build"]["kernels"]["name"]
    assert kernels(palmette, "--kernels", name).json["build"]["kernels"]["name"] == name


def test_kernels_that_are_not_there_are_refused(palmette):
    kernels(palmette, "--kernels", "x86-64-v9").fails_with(2, "--kernels x86-64-v9", "no such kernels")


@pytest.mark.parametrize("level", LEVELS)
def test_bench_runs_with_each_level_of_the_installation(palmette, level):
    answer = kernels(palmette, "--kernels", level)
    if answer.code == 2:
        pytest.skip(f"no kernels for {level} here")
    assert answer.json["build"]["kernels"]["name"] == level
    palmette("generate", "poisson2d5", "--n", "20", "--out", "A.mtx")
    done = palmette("--kernels", level, "bench", "A.mtx", "--json", "b.json")
    assert done.code == 0, done.err
