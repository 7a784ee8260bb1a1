"""Compares JSON texts by value: numbers by all their digits, names as one reads them, the last of repeated ones.

Reads lines {"id", "sent", "received"} with base64, and writes a line {"id", "equal"} for each.
"""

import base64
import decimal
import json
import sys


def value_of(text):
    options = {"parse_float": decimal.Decimal, "parse_int": decimal.Decimal}
    return json.loads(base64.b64decode(text).decode("utf-8"), **options)


def is_equal(one, other):
    if isinstance(one, decimal.Decimal) and isinstance(other, decimal.Decimal):
        # Distinguishes 1 from 1.0, and -0 from 0, which some agents do.
        return one.as_tuple() == other.as_tuple()
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(is_equal(one[name], other[name]) for name in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(is_equal, one, other))
    return one == other


for line in sys.stdin:
    pair = json.loads(line)
    equal = is_equal(value_of(pair["sent"]), value_of(pair["received"]))
    print(json.dumps({"id": pair["id"], "equal": equal}))
