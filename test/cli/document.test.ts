// To add a field to plants, one edited file suffices: openapi.yaml, or a user's document. Every function has it then.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { parse } from 'yaml'
import { startPlantStore } from '../../src/embed/start.ts'
import { Client } from '../support/client.ts'
import { describeOnEngines } from '../support/engines.ts'
import { type Folder, makeFolder } from '../support/folder.ts'
import { gardening, oddities, withProperties } from '../support/own-documents.ts'
import { cleanEnvironment, type Finished, runHere, runProgram, startServer } from '../support/program.ts'
import { exhaustive } from '../support/ring.ts'
import { serveHere } from '../support/service.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const run = promisify(execFile)

/** A way to a server whose plants have further properties, and to its commands. */
interface Way {
  serve(
    store: string,
  ): Promise<{ readonly url: string; readonly port: number; readonly token: string } & AsyncDisposable>
  run(args: readonly string[]): Promise<Finished>
}

const whole = {
  location: 'window sill',
  heightCm: 12.5,
  wateredAt: '2026-11-25T10:00:00+01:00',
  mood: 'happy',
  größe: 2,
  constructor: [{ from: 'a "nursery", 3' }],
  id2: 3,
}
const rest = JSON.stringify(whole).slice(1)
/** In the order of the document, with digits that no JavaScript number has. */
const odd = rest
  .replace(',"größe"', ',"serial":9223372036854775807,"größe"')
  .replace(',"constructor"', ',"__proto__":true,"constructor"')
const first = `{"id":1,"name":"Fern","tag":"","${odd.slice(1)}`
const gardened = `{"id":1,"name":"Fern","tag":"","location":"window sill","heightCm":12.5,"wateredAt":"2026-11-25T10:00:00+01:00"}`

/** Sends plants every way through a server of a document, and finds them everywhere as they were sent. */
async function goRound(way: Way, store: string, folder: Folder, plant: string, columns: string): Promise<void> {
  await using server = await way.serve(store)
  const client = await Client.connect(server)
  const ask = (method: string, target: string, body?: string) =>
    client.request({ method, target, ...(body !== undefined && { body }) })
  const command = (...args: readonly string[]): Promise<Finished> => way.run([...args, '--store', store])

  const members = plant.slice(1, -1).split(/,(?="name")/)
  const shuffled = `{"more":1,${members.toReversed()}}`
  const created = await ask('POST', '/plants', shuffled)
  assert.equal(created.body, plant.replace('"id":1,', ''), created.body)
  assert.equal((await ask('POST', '/plants', '{"id":2,"name":"Plain"}')).status, 200)
  assert.equal((await ask('GET', '/plants/1')).body, plant)
  for (const target of ['/plants?limit=1', '/plants?name=fer', '/plants?tag=']) {
    assert.equal((await ask('GET', target)).body, `[${plant}]`, target)
  }
  const moved = plant.replace('window sill', 'balcony')
  const etag = (await ask('PUT', '/plants/1', moved.replace('"id":1,', ''))).headers.get('etag')
  const known = { method: 'GET', target: '/plants/1', headers: { 'If-None-Match': String(etag) } }
  assert.equal((await client.request(known)).status, 304)
  const refused = await ask('PUT', '/plants/1', '{"name":"n","heightCm":-1}')
  assert.equal(refused.body, '{"error":40002,"message":"heightCm: must be a number greater than 0, got -1"}')
  const changes = (await ask('GET', '/changes')).body
  for (const change of [`"kind":"created","plant":${plant}`, `"kind":"replaced","plant":${moved}`])
    assert.ok(changes.includes(change), changes)

  const files = { ndjson: folder.file(`${store.length}.ndjson`), csv: folder.file(`${store.length}.csv`) }
  for (const file of Object.values(files)) {
    const { status, stderr } = await command('export', file)
    assert.equal(status, 0, stderr)
  }
  assert.equal(await readFile(files.ndjson, 'utf8'), `${moved}\n{"id":2,"name":"Plain"}\n`)
  assert.equal((await readFile(files.csv, 'utf8')).split('\r\n')[0], columns)
  assert.equal((await ask('DELETE', '/plants/1')).status, 204)
  assert.match((await command('import', files.csv, '--on-conflict', 'skip')).stderr, /1 created/)
  // CSV cannot tell an empty tag from none.
  assert.equal((await ask('GET', '/plants/1')).body, moved.replace('"tag":"",', ''))
  assert.match((await command('import', files.ndjson, '--on-conflict', 'replace')).stderr, /1 replaced/)
  assert.equal((await ask('GET', '/plants/1')).body, moved)
  const { components } = parse((await ask('GET', '/openapi.yaml')).body)
  assert.deepEqual(['id', ...Object.keys(components.schemas.Plant.properties)].join(), columns)
}

describe('a field of a plant', async () => {
  const folder = await makeFolder()
  const own = folder.file('own.yaml')
  await writeFile(own, withProperties(gardening + oddities))
  after(() => folder[Symbol.asyncDispose]())

  describeOnEngines("is in a document of one's own, and nowhere else", (engine) => {
    engine.onPlace('goes every way', async (place) => {
      const columns = 'id,name,tag,location,heightCm,wateredAt,mood,serial,größe,__proto__,constructor,id2'
      const way: Way = {
        serve: (store) => serveHere(store, {}, { document: own }),
        run: (args) => runHere([...args, '--document', own]),
      }
      await goRound(way, place.store, folder, first, columns)
    })
  })

  exhaustive.describe('is in openapi.yaml, and nowhere else', () => {
    const copy = folder.file('copy')

    before(async () => {
      await mkdir(copy)
      for (const name of 'bin examples scripts site src client verify package.json tsconfig.json'.split(' ')) {
        await cp(join(root, name), join(copy, name), { recursive: true })
      }
      await symlink(join(root, 'node_modules'), join(copy, 'node_modules'))
      const document = await readFile(join(root, 'openapi.yaml'), 'utf8')
      const place = '          examples: [aroid]\n'
      assert.ok(document.includes(place))
      await writeFile(join(copy, 'openapi.yaml'), document.replace(place, place + gardening))
      await run(process.execPath, [join(copy, 'scripts/generate.ts')], { cwd: copy, env: cleanEnvironment() })
    })

    test('has its type', async () => {
      assert.match(await readFile(join(copy, 'src/contract/types.ts'), 'utf8'), /heightCm\?: number;/)
    })

    test('goes every way', async () => {
      const launcher = join(copy, 'bin/plantstore.js')
      const environment = { ...cleanEnvironment(), NODE_COMPILE_CACHE: join(copy, 'compiled') }
      const way: Way = {
        serve: (store) => startServer(store, { launcher, environment }),
        run: (args) => runProgram(args, { env: environment, launcher }),
      }
      const columns = 'id,name,tag,location,heightCm,wateredAt'
      await goRound(way, folder.file('plants.db'), folder, gardened, columns)
    })
  })

  test('may be missing in plants that are there: they are answered, and named by check', async () => {
    const store = folder.file('older.db')
    const plants = folder.file('older.ndjson')
    await writeFile(plants, '{"id":1,"name":"a"}\n{"id":2,"name":"b","tag":"t"}\n')
    await runHere(['import', plants, '--store', store])
    const strict = folder.file('strict.yaml')
    await writeFile(strict, withProperties('').replace('        - name\n', '        - name\n        - tag\n'))
    const token = (await runHere(['token', 'create', '--name', 't', '--store', store])).stdout.trim()
    await using server = await serveHere(store, {}, { document: strict })
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
    const found = await fetch(`${server.url}/plants/1`, { headers })
    assert.equal(await found.text(), '{"id":1,"name":"a"}')
    const replaced = await fetch(`${server.url}/plants/1`, { method: 'PUT', headers, body: '{"name":"c"}' })
    assert.equal(await replaced.text(), '{"error":40002,"message":"tag: is missing"}')
    const checked = await runHere(['check', '--store', store, '--document', strict])
    assert.equal(checked.status, 1)
    assert.equal(checked.stderr, 'plant 1: tag: is missing\n')
    assert.match(checked.stdout, /1 plant would be refused by /)
    assert.equal((await runHere(['check', '--store', store])).status, 0)
  })

  test('is named by import and export where the document does not declare it', async () => {
    const [store, file] = [folder.file('named.db'), folder.file('named.ndjson')]
    await writeFile(file, '{"id":1,"name":"n","heightCm":3,"more":1}\n')
    const said = (names: string): string => `properties left out, which the document does not declare: ${names}`
    const imported = await runHere(['import', file, '--store', store, '--document', own])
    assert.ok(imported.stderr.includes(`${said('more')}\n`), imported.stderr)
    const exported = await runHere(['export', folder.file('named.csv'), '--store', store])
    assert.ok(exported.stderr.includes(`${said('heightCm')}; NDJSON keeps them\n`), exported.stderr)
  })

  test('is refused with its document before a store is made', async () => {
    const broken = folder.file('broken.yaml')
    await writeFile(broken, withProperties('        a: { type: text }\n'))
    const store = folder.file('never.db')
    const finished = await runHere(['serve', '--port', '0', '--store', store, '--document', broken])
    assert.equal(finished.status, 2)
    assert.match(finished.stderr, /^plantstore: \S+broken\.yaml: #\/components\/schemas\/Plant\/[^\n]*\n$/)
    await assert.rejects(readFile(store), { code: 'ENOENT' })
  })

  test('is in the plants of startPlantStore', async () => {
    const plants = [{ id: 1n, name: 'n', heightCm: 3 }]
    await using store = await startPlantStore({ document: own, plants })
    const found = await fetch(`${store.url}/plants/1`, { headers: { Authorization: `Bearer ${store.token}` } })
    assert.equal(await found.text(), '{"id":1,"name":"n","heightCm":3}')
    await assert.rejects(startPlantStore({ document: folder.file('none.yaml') }), /none\.yaml: cannot be read/)
  })
})
