"""upload.py CLIENT URL BYTES COUNT: posts a body so often, each time on a new connection; prints the status of each response on a line."""

import http.client
import sys
import urllib.error
import urllib.parse
import urllib.request

client, url, size, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
body = b" " * size
fields = {"Content-Type": "application/json"}


def by_http_client():
    target = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(target.hostname, target.port, timeout=10)
    try:
        connection.request("POST", target.path, body, fields)
        response = connection.getresponse()
        response.read()
        return response.status
    finally:
        connection.close()


def by_urllib():
    try:
        with urllib.request.urlopen(urllib.request.Request(url, body, fields), timeout=10) as response:
            return response.status
    except urllib.error.HTTPError as error:
        error.read()
        return error.code


for _ in range(count):
    try:
        print({"http.client": by_http_client, "urllib": by_urllib}[client]())
    except OSError as error:
        print(type(error).__name__)
