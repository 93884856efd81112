"""Values of Arrow tables as plain JSON, the same whichever program read them."""

import datetime
import decimal
import struct

import pyarrow as pa

MICROS = {"s": (1_000_000, 1), "ms": (1_000, 1), "us": (1, 1), "ns": (1, 1_000)}


def column(array):
    """The values of an array or chunked array."""
    if isinstance(array, pa.ChunkedArray):
        return [v for chunk in array.chunks for v in column(chunk)]
    t = array.type
    if isinstance(t, pa.ExtensionType) or isinstance(t, pa.BaseExtensionType):
        return column(array.storage)
    if pa.types.is_dictionary(t):
        return column(array.dictionary_decode())
    if pa.types.is_date32(t):
        return integers(array.cast(pa.int32()))
    if pa.types.is_date64(t):
        return integers(array.cast(pa.date32()).cast(pa.int32()))
    if pa.types.is_timestamp(t) or pa.types.is_time(t):
        storage = pa.int32() if pa.types.is_time32(t) else pa.int64()
        times, over = MICROS[t.unit]
        return [None if v is None else str(v * times // over) for v in array.cast(storage).to_pylist()]
    if pa.types.is_floating(t):
        return [None if v is None else bits(v, pa.types.is_float64(t)) for v in array.cast(pa.float32() if t.bit_width == 16 else t).to_pylist()]
    if pa.types.is_decimal(t):
        return [None if v is None else str(int(v.scaleb(t.scale, decimal.Context(prec=80)))) for v in array.to_pylist()]
    if pa.types.is_boolean(t):
        return [None if v is None else str(v).lower() for v in array.to_pylist()]
    if pa.types.is_integer(t):
        return integers(array)
    if pa.types.is_binary(t) or pa.types.is_large_binary(t) or pa.types.is_fixed_size_binary(t) or pa.types.is_binary_view(t):
        return [None if v is None else v.hex() for v in array.to_pylist()]
    if pa.types.is_map(t):
        return [None if v is None else [[scalar(k, t.key_type), scalar(x, t.item_type)] for k, x in v] for v in array.to_pylist()]
    if pa.types.is_list(t) or pa.types.is_large_list(t) or pa.types.is_list_view(t):
        return [None if v is None else [scalar(x, t.value_type) for x in v] for v in array.to_pylist()]
    if pa.types.is_struct(t):
        return [None if v is None else [scalar(v[t.field(i).name], t.field(i).type) for i in range(t.num_fields)] for v in array.to_pylist()]
    return array.to_pylist()


def scalar(value, t):
    return column(pa.array([value], t))[0]


def integers(array):
    return [None if v is None else str(v) for v in array.to_pylist()]


def bits(value, double):
    if value != value:
        return "nan"
    return struct.pack(">d" if double else ">f", value).hex()


def table(t):
    return [column(t.column(i)) for i in range(t.num_columns)]
