# What the sample document specifies, in Python: POST /plants, and nothing to read or delete a plant.

import json
from http.server import BaseHTTPRequestHandler, HTTPServer

plants = {}


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length)
        if self.path != "/plants":
            return self.answer(404, {"error": 404, "message": "no such path"})
        if not self.headers.get("Authorization", "").startswith("Bearer "):
            return self.answer(401, {"error": 401, "message": "no token"})
        try:
            plant = json.loads(body)
            assert isinstance(plant, dict), "not an object"
            assert type(plant.get("id")) is int, "id is not an integer"
            assert type(plant.get("name")) is str, "name is not a string"
            assert "tag" not in plant or type(plant["tag"]) is str, "tag is not a string"
        except (ValueError, AssertionError) as error:
            return self.answer(400, {"error": 400, "message": str(error)})
        if plants.setdefault(plant["id"], plant) is not plant:
            return self.answer(400, {"error": 409, "message": "id is taken"})
        self.answer(200, {key: plant[key] for key in ("name", "tag") if key in plant})

    def answer(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
