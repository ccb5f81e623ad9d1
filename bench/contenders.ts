// createPlant and getPlant compared with alternatives; docs/benchmarks.md describes each contender.

import { mkdir, writeFile } from 'node:fs/promises'
import { compare, type Effort } from './in-turn.ts'
import { installPackages } from './installed.ts'
import { freePort, here, makeStore, type ServerCommand, serving, startAll } from './process.ts'
import { createPlant, getPlant } from './requests.ts'
import type { Comparison } from './results.ts'

const connections = 64
/** A rate that every contender of the rated comparison handles easily. */
const ratePerSecond = 2_000
const plant = { id: '1', name: 'Monstera deliciosa', tag: 'aroid' }

export async function* benchContenders(effort: Effort): AsyncGenerator<Comparison> {
  await installPackages('contenders')
  await using store = await makeStore()
  await writeFile(store.file('plants.json'), JSON.stringify({ plants: [plant] }))
  // json-server requires this folder in production.
  await mkdir(store.file('public'))
  const cwd = store.file('.')
  await using servers = await startAll([
    [here('contenders/fastify.ts')],
    [here('contenders/constant-bytes.ts')],
    [here('contenders/node-http.ts')],
    [here('contenders/hono.js'), store.file('hono.db')],
    [here('contenders/express.js'), store.file('express.db')],
    await foreign('json-server/lib/bin.js', [store.file('plants.json')], cwd),
    await foreign('@stoplight/prism-cli/dist/index.js', prismArguments, cwd),
    serving(store),
  ] as const)
  const [fastify, constantBytes, nodeHttp, hono, express, jsonServer, prism, service] = servers.all
  const durable = { 'Hono, SQLite': hono, 'Express, SQLite': express, 'Plant Store': service }
  const fast = { 'bare Fastify': fastify, 'constant bytes': constantBytes, 'bare node:http': nodeHttp, ...durable }
  const all = { ...fast, 'json-server': jsonServer, 'Prism mock': prism }

  const create = createPlant(store.token)
  const get = { ...getPlant(store.token), path: `/plants/${plant.id}` }
  for (const { url } of Object.values(durable)) {
    const body = JSON.stringify({ ...plant, id: Number(plant.id) })
    const { status } = await fetch(`${url}/plants`, { method: 'POST', headers: create.headers, body })
    if (status !== 200) throw new Error(`the create got ${status}`)
  }
  const gets = { title: 'GET of one plant', load: { request: get, plants: 1, connections } }
  yield await compare({ ...gets, servers: all }, effort)
  const creates = { title: 'POST of a plant', load: { request: create, connections } }
  yield await compare({ ...creates, servers: all }, effort)
  const load = { ...creates.load, ratePerSecond }
  yield await compare({ title: `${creates.title}, at an equal rate`, load, servers: fast }, effort)
}

const prismArguments = ['mock', '--multiprocess', 'false', '--verboseLevel', 'silent', here('../openapi.yaml')]

/** The command of a server from npm. */
async function foreign(program: string, args: readonly string[], cwd: string): Promise<ServerCommand> {
  const port = await freePort()
  return { args: [here(`contenders/node_modules/${program}`), ...args, '--port', String(port)], port, cwd }
}
