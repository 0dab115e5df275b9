"""palmette solve --gpus: several emulated devices."""



def test_a_system_is_solved_on_several_devices(palmette, spd):
    for gpus in ["1", "3", "2x2"]:
        for method in ["auto", "devices_fan_out", "devices_solve_wait"]:
            arguments = ["--device", "emulated", "--gpus", gpus, "--method", method]
            document = palmette("solve", spd, *arguments, "--json", "-").json
            assert document["verify"]["verified"] is True
            assert document["solve"]["method"] == ("devices_fan_out" if method == "auto" else method)
            assert document["solve"]["device"]["launches"] > 0


def test_several_devices_need_a_kind_a_method_of_theirs_and_one_process(palmette, spd):
    palmette("solve", spd, "--gpus", 2).fails_with(2, "--gpus needs a kind of device")
    palmette("solve", spd, "--device", "emulated", "--gpus", 2, "--method", "serial").fails_with(
        2, "for several devices choose one of auto, devices_fan_out"
    )
    palmette("solve", spd, "--device", "emulated", "--gpus", 2, "--grid", "1x1").fails_with(2, "over ranks")
    palmette("solve", spd, "--device", "emulated", "--gpus", 1000).fails_with(2, "emulated devices")


def test_a_system_is_solved_on_layers_of_devices(palmette, spd):
    for gpus in ["1x1x2", "2x1x3"]:
        for method in ["auto", "devices_one_sync_3d"]:
            arguments = ["--device", "emulated", "--gpus", gpus, "--method", method]
            document = palmette("solve", spd, *arguments, "--json", "-").json
            assert document["verify"]["verified"] is True
            assert document["solve"]["method"] == "devices_one_sync_3d"
    arguments = ["--device", "emulated", "--gpus", "1x1x2", "--method", "devices_fan_out"]
    palmette("solve", spd, *arguments).fails_with(
        2, "for several layers of devices choose one of auto, devices_one_sync_3d"
    )
