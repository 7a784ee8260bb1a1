"""Reads A2A messages the way servers written in Python do, and says what each of them makes of every message.

Usage: readers.py DESCRIPTORS < messages.jsonl > readings.jsonl
"""

import base64
import json
import sys
from email.message import Message
from typing import Any, Callable, Dict, List, Optional, Tuple

from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory, struct_pb2

try:
    from pydantic import v1 as pydantic  # what later versions have of the first
    from pydantic.v1.utils import to_lower_camel
except ImportError:
    import pydantic
    from pydantic.utils import to_lower_camel

PUSH_NAMES = [
    f"{name}{ending}"
    for name, ending in [
        ("pushNotification", ""),
        ("pushNotification", "Config"),
        ("taskPushNotification", "Config"),
        ("push_notification", ""),
        ("push_notification", "_config"),
        ("task_push_notification", "_config"),
    ]
]
CHAT_METHODS = {
    *("SendMessage", "SendStreamingMessage", "GetTask", "CancelTask", "SubscribeToTask"),
    *("message/send", "message/stream", "tasks/get", "tasks/cancel", "tasks/resubscribe"),
}

Reading = Tuple[Optional[str], bool]
Reader = Callable[[str, bytes], Reading]


# json.loads guesses UTF-8, UTF-16 or UTF-32 from the first bytes; Starlette, FastAPI and the Python SDK call it this way.
def from_bytes(_content_type: str, body: bytes) -> Any:
    return json.loads(body)


# aiohttp, Flask and requests-like servers decode by the charset of the content type, which may be any codec Python knows.
def from_charset(content_type: str, body: bytes) -> Any:
    header = Message()
    header["content-type"] = content_type
    return json.loads(body.decode(header.get_content_charset() or "utf-8"))


def member(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None


# A batch is read as servers that allow batches do: request by request, and the most telling method counts.
def plain(value: Any, named: Callable[[str], str] = str) -> Reading:
    requests = value if isinstance(value, list) else [value]
    methods = [method for method in (member(one, named("method")) for one in requests) if isinstance(method, str)]
    configurations = [member(member(one, named("params")), named("configuration")) for one in requests]
    push = any(member(one, named(name)) is not None for one in configurations for name in PUSH_NAMES)
    methods.sort(key=lambda method: method in CHAT_METHODS)
    return (methods[0] if methods else None), push


# Servers that do not care for case make all names small first.
def casefolded(value: Any) -> Any:
    if isinstance(value, dict):
        return {name.casefold(): casefolded(one) for name, one in value.items()}
    return [casefolded(one) for one in value] if isinstance(value, list) else value


def without_case(value: Any) -> Reading:
    return plain(casefolded(value), str.casefold)


class Model(pydantic.BaseModel):
    class Config:
        alias_generator = to_lower_camel
        allow_population_by_field_name = True


class Configuration(Model):
    push_notification: Any = None
    push_notification_config: Any = None
    task_push_notification_config: Any = None


class Params(Model):
    configuration: Optional[Configuration] = None


class Request(Model):
    method: str
    params: Optional[Params] = None


def by_models(value: Any) -> Reading:
    request = Request.parse_obj(value)
    configuration = request.params and request.params.configuration
    push = configuration is not None and any(one is not None for one in configuration.dict().values())
    return request.method, push


# The way of generated JSON-RPC servers: the envelope by hand, the params as a model.
def by_params_model(value: Any) -> Reading:
    method = value["method"]
    params = Params.parse_obj(value.get("params") or {})
    return by_models({"method": method, "params": params.dict()})


def protobuf_readers(path: str) -> Dict[str, Reader]:
    files = descriptor_pb2.FileDescriptorSet()
    with open(path, encoding="utf-8") as text:
        json_format.Parse(text.read(), files)
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(struct_pb2.DESCRIPTOR.serialized_pb)
    for file in files.file:
        pool.Add(file)
    class_of = getattr(message_factory, "GetMessageClass", None) or message_factory.MessageFactory(pool).GetPrototype

    def readers_of(generation: str) -> Dict[str, Reader]:
        request_class = class_of(pool.FindMessageTypeByName(f"a2a.{generation}.SendMessageRequest"))
        envelope_class = class_of(pool.FindMessageTypeByName(f"a2a.{generation}.Envelope"))

        def by_dict(content_type: str, body: bytes) -> Reading:
            value = from_bytes(content_type, body)
            request = request_class()
            json_format.ParseDict(value.get("params") or {}, request, ignore_unknown_fields=True)
            return value["method"], protobuf_has_push(request)

        def by_envelope(_content_type: str, body: bytes) -> Reading:
            envelope = json_format.Parse(body, envelope_class(), ignore_unknown_fields=True)
            return envelope.method, protobuf_has_push(envelope.params)

        return {f"python-protobuf-{generation}": by_dict, f"python-protobuf-envelope-{generation}": by_envelope}

    return {**readers_of("v03"), **readers_of("v1")}


# All fields of a configuration are push configurations there.
def protobuf_has_push(request: Any) -> bool:
    return any(value.WhichOneof("kind") != "null_value" for _, value in request.configuration.ListFields())


def combined(parse: Callable[[str, bytes], Any], read: Callable[[Any], Reading]) -> Reader:
    return lambda content_type, body: read(parse(content_type, body))


def reading_of(number: int, name: str, read: Reader, content_type: str, body: bytes) -> Dict[str, Any]:
    try:
        method, push = read(content_type, body)
        if not isinstance(method, str) or method == "":
            raise ValueError("no method")
    except Exception as error:  # whatever a server would refuse the message for
        return {"id": number, "reader": name, "method": None, "push": False, "error": type(error).__name__}
    return {"id": number, "reader": name, "method": method, "push": push}


def main(arguments: List[str]) -> None:
    readers: Dict[str, Reader] = {
        "python-json-bytes": combined(from_bytes, plain),
        "python-json-charset": combined(from_charset, plain),
        "python-json-without-case": combined(from_bytes, without_case),
        "python-pydantic": combined(from_bytes, by_models),
        "python-pydantic-charset": combined(from_charset, by_models),
        "python-pydantic-params": combined(from_bytes, by_params_model),
        **protobuf_readers(arguments[1]),
    }
    out = []
    for line in sys.stdin.buffer:
        message = json.loads(line)
        body = base64.b64decode(message["body"])
        for name, read in readers.items():
            out.append(json.dumps(reading_of(message["id"], name, read, message["contentType"], body)))
    sys.stdout.write("".join(f"{line}\n" for line in out))


main(sys.argv)
