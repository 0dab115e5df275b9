"""./check --gpu: what the driver says, parts that go on after a cut, and the model problems."""
