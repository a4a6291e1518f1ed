"""Tensors to bytes and back, against the safetensors library; headers that lie are refused."""

import json

import pytest
import safetensors.torch
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from danlu.checkpoint.tensors import check_tensors, decode, encode
from danlu.errors import DamagedError, DivergedError

DTYPES = [
    *(torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.bool),
    *(torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8),
]


def to_bytes(tensors):
    return b"".join(bytes(piece) for piece in encode(tensors))


def to_tensor(data):
    return torch.frombuffer(bytearray(data), dtype=torch.uint8)


def make(dtype, shape, seed):
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(0, 100, shape, generator=generator).to(dtype)


shapes = st.lists(st.integers(0, 5), max_size=3)
tables = st.dictionaries(
    st.text(max_size=8), st.tuples(st.sampled_from(DTYPES), shapes, st.integers(0, 9)), max_size=5
)


@settings(max_examples=60, deadline=None)
@given(tables)
def test_bytes_are_those_of_the_library_and_come_back(table):
    tensors = {name: make(*what) for name, what in table.items() if name != "__metadata__"}
    data = to_bytes(tensors)
    reference = safetensors.torch.load(data)
    back = decode(to_tensor(data), "x") if data else {}
    again = decode(to_tensor(safetensors.torch.save(tensors)), "x")
    assert back.keys() == tensors.keys() == reference.keys() == again.keys()
    for name, tensor in tensors.items():
        for other in (back[name], reference[name], again[name]):
            assert (other.dtype, other.shape) == (tensor.dtype, tensor.shape)
            assert torch.equal(other, tensor)


def test_views_and_parameters_are_stored_by_value():
    base = torch.arange(12.0).reshape(3, 4)
    tensors = {
        "t": base.T,
        "part": base[1:, ::2],
        "weight": torch.nn.Parameter(base),
        "scalar": torch.tensor(2),
    }
    back = decode(to_tensor(to_bytes(tensors)), "x")
    assert all(torch.equal(back[name], value) for name, value in tensors.items())


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_only_finite_numbers_pass(dtype, value):
    tensor = torch.ones(1001, dtype=dtype)
    tensor[500] = torch.finfo(dtype).max
    check_tensors({"w": tensor, "empty": tensor[:0], "ids": torch.tensor([1])}, "step 1")
    tensor[777] = value
    with pytest.raises(DivergedError, match="step 1: w holds"):
        check_tensors({"w": tensor}, "step 1")


def lying(header, payload=b"\0" * 8):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + payload


def entry(dtype="F32", shape=(2,), start=0, end=8):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": [start, end]}


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x08\0\0",
        (1 << 62).to_bytes(8, "little") + b"{}",
        (3).to_bytes(8, "little") + b"{}",
        lying(b"\xff\xff"),
        lying(b"[1]", b""),
        lying(b"[" * 100_000, b""),
        lying({"w": entry()}, b"\0" * 7),
        lying({"w": entry()}, b"\0" * 9),
        lying({"w": entry(end=16)}),
        lying({"w": entry(start=4)}),
        lying({"w": entry(), "v": entry()}),
        lying({"w": entry(end=4, shape=[1])}),
        lying({"w": entry(shape=[1 << 40, 1 << 40])}),
        lying({"w": entry(shape=[-1])}),
        lying({"w": entry(shape=[2.0])}),
        lying({"w": entry(shape=[True, 2])}),
        lying({"w": entry(start=-8, end=0)}),
        lying({"w": entry(dtype="Q4")}),
        lying({"w": 3}),
        lying({"w": {"dtype": "F32"}}),
        lying({"a": entry("U8", [1], 0, 1), "w": entry("F32", [1], 1, 5)}, b"\0" * 5),
        lying(b'{"w":' + json.dumps(entry()).encode() + b',"w":' + json.dumps(entry()).encode() + b"}"),
    ],
)
def test_a_header_that_lies_is_refused(data):
    with pytest.raises(DamagedError, match="x is not a safetensors file"):
        decode(to_tensor(data) if data else torch.empty(0, dtype=torch.uint8), "x")
