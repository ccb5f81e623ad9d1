"""Calls the service with the client that openapi-python-client makes."""

import json
import os

from plant_store import AuthenticatedClient
from plant_store.api.plants import create_plant, get_plant, list_plants
from plant_store.models import Error, NewPlant

with open("openapi.json", encoding="utf-8") as document:
    url = json.load(document)["servers"][0]["url"]
client = AuthenticatedClient(base_url=url, token=os.environ["PLANTS_TOKEN"])
name, tag = "🌿 Φοίνιξ\n👩‍🌾", "🪴"


def did(what: str) -> None:
    print(f"ok: {what}", flush=True)


for id in (1, -(2**63), 2**53 + 1, 2**63 - 1):
    answer = create_plant.sync_detailed(client=client, body=NewPlant(id=id, name=name, tag=tag))
    assert answer.status_code == 200, answer
    assert answer.headers["location"] == f"/plants/{id}", answer.headers
    assert (answer.parsed.name, answer.parsed.tag) == (name, tag), answer
    plant = get_plant.sync(id, client=client)
    assert (plant.id, plant.name, plant.tag) == (id, name, tag), plant
did("plants of emoji are created and read, their ids exact at both ends")

assert [plant.id for plant in list_plants.sync(client=client, tag=tag, limit=2)] == [-(2**63), 1]
did("a page is listed")

taken = create_plant.sync(client=client, body=NewPlant(id=1, name="again"))
assert isinstance(taken, Error) and taken.error == 40901, taken
did("a refusal is an Error")

try:
    create_plant.sync(client=client, body=NewPlant(id=2, name="\ud83c"))
except UnicodeEncodeError:
    did("a name with an unpaired surrogate is refused by Python, as it has no bytes")
else:
    raise AssertionError("the unpaired surrogate was sent")
assert get_plant.sync(2, client=client).error == 40402
