# What the sample document specifies, in Python: POST /plants, and nothing to read or delete a plant.

import json
from http.server import BaseHTTPRequestHandler, HTTPServer

plants = {}


def is_plant(plant):
    is_named = isinstance(plant, dict) and type(plant.get("id")) is int and type(plant.get("name")) is str
    return is_named and type(plant.get("tag", "")) is str


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.path != "/plants":
            return self.answer(404, {"error": 404, "message": "no such path"})
        if not self.headers.get("Authorization", "").startswith("Bearer "):
            return self.answer(401, {"error": 401, "message": "no token"})
        try:
            plant = json.loads(body)
        except ValueError as error:
            return self.answer(400, {"error": 400, "message": str(error)})
        if not is_plant(plant) or plants.setdefault(plant["id"], plant) is not plant:
            return self.answer(400, {"error": 400, "message": "no plant, or its id is taken"})
        self.answer(200, {key: plant[key] for key in ("name", "tag") if key in plant})

    def answer(self, status, value):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(value).encode())

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
