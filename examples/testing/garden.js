// The code under test: a garden that keeps its plants in a plant store.

import { PlantStoreClient } from 'plantstore/client'

export class Garden {
  #client

  constructor(url, token) {
    this.#client = new PlantStoreClient({ url, token })
  }

  async plant(id, name) {
    await this.#client.createPlant({ id, name, tag: 'garden' })
  }

  async names() {
    const names = []
    for await (const { name } of this.#client.listPlants({ tag: 'garden' })) names.push(name)
    return names
  }
}
