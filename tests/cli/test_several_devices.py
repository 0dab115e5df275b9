"""palmette solve --gpus, and ranks with a device each: several emulated devices."""

from test_ranks import launched


def test_a_system_is_solved_on_several_devices(palmette, spd):
    for gpus in ["1", "3", "2x2"]:
        for method in ["auto", "devices_fan_out", "devices_solve_wait"]:
            arguments = ["--device", "emulated", "--gpus", gpus, "--method", method]
            document = palmette("solve", spd, *arguments, "--json", "-").json
            assert document["verify"]["verified"] is True
            assert document["solve"]["method"] == ("devices_fan_out" if method == "auto" else method)
            assert document["solve"]["device"]["launches"] > 0


def test_several_devices_need_a_kind_a_method_of_theirs_and_one_process(palmette, spd):
    palmette("solve", spd, "--gpus", 2).fails_with(2, "2 devices need a kind of device")
    palmette("solve", spd, "--device", "emulated", "--gpus", 2, "--method", "serial").fails_with(
        2, "for several devices or several layers of devices or several layers"
    )
    palmette("solve", spd, "--device", "emulated", "--gpus", 2, "--grid", "1x1").fails_with(
        2, "over ranks --device gives each rank one device"
    )
    palmette("solve", spd, "--device", "emulated", "--gpus", 1000).fails_with(2, "emulated devices")


def test_a_system_is_solved_on_layers_of_devices(palmette, spd):
    for gpus in ["1x1x2", "2x1x3"]:
        for method in ["auto", "devices_one_sync_3d", "devices_baseline_3d"]:
            arguments = ["--device", "emulated", "--gpus", gpus, "--method", method]
            document = palmette("solve", spd, *arguments, "--json", "-").json
            assert document["verify"]["verified"] is True
            assert document["solve"]["method"] == ("devices_one_sync_3d" if method == "auto" else method)
    arguments = ["--device", "emulated", "--gpus", "1x1x2", "--method", "devices_fan_out"]
    palmette("solve", spd, *arguments).fails_with(
        2, "at each level choose one of auto, devices_one_sync_3d, devices_baseline_3d"
    )


def test_a_number_of_devices_gets_a_grid_and_says_why(palmette, spd):
    notes = palmette("solve", spd, "--device", "emulated", "--gpus", 3, "--json", "-").json["notes"]
    why = "solved on a grid of 3 x 1 devices: emulated:0 tells no rate"
    assert any(note.startswith(why) for note in notes)
    given = palmette("solve", spd, "--device", "emulated", "--gpus", "3x1", "--json", "-").json["notes"]
    assert not any("a grid of" in note for note in given)


def test_a_method_of_layers_gives_a_number_of_devices_layers(palmette, spd):
    arguments = ["--device", "emulated", "--gpus", 4, "--method", "devices_one_sync_3d", "--json", "-"]
    told = palmette("solve", spd, *arguments).json
    assert told["verify"]["verified"] is True and told["solve"]["method"] == "devices_one_sync_3d"
    assert any(note.startswith("solved on a grid of 2 x 1 x 2 devices") for note in told["notes"])
    arguments[3] = 1
    palmette("solve", spd, *arguments).fails_with(2, "needs several layers of devices")


def test_the_grid_of_ranks_with_devices_is_predicted(palmette, tmp_path):
    matrix = tmp_path / "grid.mtx"
    palmette("generate", "poisson2d9", "--n", 20, "--out", matrix)
    ranks = ["--transport", "threads:2", "--device", "emulated", "--json", "-"]
    told = palmette("solve", matrix, *ranks, "--grid", "auto").json
    shape = [told["ranks"][name] for name in ("grid_rows", "grid_cols", "layers")]
    assert shape == [2, 1, 1] and told["verify"]["verified"] is True  # nothing is known: one column
    told = palmette("solve", matrix, *ranks, "--grid", "autoxauto", "--machine", "a100").json
    assert told["verify"]["verified"] is True
    # messages are slow beside sweeps of 400 columns, and each layer sends once
    assert told["ranks"]["layers"] > 1 and told["ranks"]["method"] == "one_sync_3d"


def test_ranks_with_a_device_each_have_one_set_of_bits(palmette, tmp_path):
    matrix = tmp_path / "grid.mtx"  # large enough for messages
    palmette("generate", "poisson2d9", "--n", 12, "--out", matrix)
    bits = set()
    for ranks, memory in [(1, "native"), (2, "reference"), (3, "auto"), (4, "symmetric"), (1, "symmetric")]:
        out = tmp_path / f"x{ranks}.mtx"
        arguments = ["--transport", f"threads:{ranks}", "--device", "emulated", "--memory", memory]
        told = palmette("solve", matrix, *arguments, "--out", out, "--json", "-").json
        assert told["verify"]["verified"] is True
        devices = told["ranks"]["devices"]
        assert devices["kind"] == "emulated"
        assert devices["memory"] == ("native" if memory == "auto" else memory)
        assert devices["launches"] >= 2 and (devices["copies_in"] > 0) == (memory == "reference")
        assert (devices["messages"] > 0) == (ranks > 1 and memory != "symmetric")
        bits.add(out.read_bytes())
    assert len(bits) == 1
    layers = ["--transport", "threads:4", "--grid", "2x1x2", "--device", "emulated"]
    assert palmette("solve", matrix, *layers, "--json", "-").json["ranks"]["devices"]["messages"] > 0
    told = palmette("solve", matrix, *layers, "--method", "baseline_3d", "--json", "-").json
    assert told["verify"]["verified"] is True and told["ranks"]["devices"]["messages"] > 0
    palmette("solve", matrix, "--grid", "1x1", "--device", "auto").fails_with(2, "name a kind")
    palmette("solve", matrix, "--memory", "native").fails_with(2, "add --device")
    assert "the kernels put what they send" in palmette("solve", matrix, *layers, "--memory", "symmetric").out
    twice = ["--transport", "threads:2", "--device", "emulated:0", "--memory", "symmetric"]
    palmette("solve", matrix, *twice).fails_with(2, "numbered as their ranks")
    checked = ["--transport", "threads:2", "--checked", "--device", "emulated", "--memory", "native"]
    palmette("solve", matrix, *checked).fails_with(2, "choose the memory kind reference")


def test_processes_with_a_device_each_solve_under_mpi(palmette, spd):
    for memory in ["native", "reference"]:
        done = launched(palmette, "solve", spd, "--device", "emulated", "--memory", memory)
        assert done.returncode == 0, done.stderr
        assert "a device (emulated) on each rank" in done.stdout
    done = launched(palmette, "solve", spd, "--device", "emulated", "--memory", "symmetric")
    assert done.returncode != 0 and "emulated devices of several processes have no network" in done.stderr


def test_a_triangle_is_solved_by_ranks_with_a_device_each(palmette, spd, tmp_path):
    one = palmette("trisolve", spd, "--num-rhs", 3, "--json", "-").json
    assert one["verify"]["verified"] is True
    over = ["--transport", "threads:3", "--device", "emulated", "--num-rhs", 3]
    for more in [[], ["--upper", "--transpose"], ["--method", "devices_pushed", "--tasks-per-gpu", 2]]:
        out = tmp_path / "x.mtx"
        document = palmette("trisolve", spd, *over, *more, "--out", out, "--json", "-").json
        assert document["verify"]["verified"] is True
        assert document["solve"]["method"] == "devices_pushed"
        assert "solved by 3 ranks with one emulated device each" in " ".join(document["notes"])
        assert out.exists()


def test_triangles_over_ranks_that_cannot_be_are_refused_once(palmette, spd):
    over = ["--transport", "threads:3"]
    palmette("trisolve", spd, *over).fails_with(2, "a triangle over ranks needs a device on each")
    palmette("trisolve", spd, *over, "--device", "emulated", "--gpus", 2).fails_with(
        2, "--gpus is for one process"
    )
    palmette("trisolve", spd, *over, "--device", "emulated", "--method", "devices_zero_copy").fails_with(
        2, "over ranks choose auto or devices_pushed"
    )
    palmette("trisolve", spd, *over, "--device", "emulated@1000").fails_with(
        5, "1000 bytes of the memory of the device"
    )


def test_a_triangle_of_ranks_comes_from_standard_input_and_names_the_device(palmette, spd):
    over = ["--transport", "threads:3", "--device", "emulated", "--json", "-"]
    document = palmette("trisolve", "-", *over, stdin=spd.read_text()).json
    assert document["verify"]["verified"] is True
    assert document["solve"]["device"]["emulated"] is True and document["solve"]["stream_gbs"] is None


def test_a_launcher_of_one_process_does_not_ask_a_triangle_for_ranks(palmette, spd):
    done = launched(palmette, "trisolve", spd, ranks=1)
    assert done.returncode == 0 and "Verified" in done.stdout, done.stderr
