// An example of the client. Run it with: PLANTSTORE_TOKEN=... node client.js http://127.0.0.1:3000

import { PlantStoreClient, PlantStoreError } from 'plantstore/client'

const [url = 'http://127.0.0.1:3000'] = process.argv.slice(2)
const client = new PlantStoreClient({ url, token: process.env.PLANTSTORE_TOKEN })
const id = 9007199254740993n

await client.createPlant({ id, name: 'Monstera deliciosa', tag: 'aroid' })

// Replaces the plant only in the state that was read. After another client's change, the response would be 412.
const plant = await client.getPlant(id)
await client.replacePlant(id, { ...plant, tag: 'houseplant' }, { ifMatch: plant })

for await (const { id, name, tag } of client.listPlants({ tag: 'houseplant' })) console.log(id, name, tag)

try {
  await client.createPlant({ id, name: 'Another one' })
} catch (error) {
  if (!(error instanceof PlantStoreError)) throw error
  console.log(error.status, error.message)
}

await client.deletePlant(id)
