"""Reads the heads of responses with http.client: the address of a site, then the number of paths; one line of JSON for each head."""

import http.client
import json
import sys

host, count = sys.argv[1], int(sys.argv[2])
for at in range(count):
    connection = http.client.HTTPConnection(host)
    connection.request("GET", f"/api/service/files/{at}", headers={"cookie": "session=ada"})
    response = connection.getresponse()
    fields = [[name.lower(), value] for name, value in response.getheaders()]
    print(json.dumps({"status": response.status, "fields": fields, "body": response.read().decode("latin-1")}))
    connection.close()
