// The framing corpus through nginx and HAProxy: both see the same requests, and no client gets another's response.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { PlantStoreClient } from '../../client/client.ts'
import type { ServiceEvent } from '../../src/domain/events.ts'
import { FaultyProxy } from '../client/faulty-proxy.ts'
import { ask } from '../support/answering.ts'
import { makeFolder } from '../support/folder.ts'
import { sampleOf } from '../support/ring.ts'
import { onService, type Service, serveHere, startService } from '../support/service.ts'
import { type FramingCase, finish, framingCorpus, head, host } from './framing/corpus.ts'
import { isInstalled, nginxWith, proxyKinds, type RunningProxy, startProxy } from './framing/proxies.ts'
import { FramingRunner } from './framing/run.ts'
import { Wire } from './framing/wire.ts'

const atOnce = 24
/** A request that a proxy does not answer this often it does not understand: what the next client gets is what counts. */
const tries = 3
/** Of a try, each of which ends with the answer to a new client: on a busy machine it takes as long as that needs. */
const patienceMs = 200
const probePatienceMs = 30_000

/** What can be followed by another request of the same client. */
const cases = framingCorpus.filter(({ steps, isSlow, fate }) => !isSlow && fate !== 'left' && !steps.includes(finish))

// Most of the time is waited for what a proxy does not answer.
describe('requests behind proxies', { concurrency: true }, () => {
  for (const kind of proxyKinds) {
    const skip = !isInstalled(kind) && `there is no ${kind.name} on this machine`
    test(`${cases.length} cases of the framing corpus end behind ${kind.name} as they do here`, { skip }, async () => {
      await using service = await startService({})
      await using proxy = await startProxy(kind, service.port)
      const { wrong, unseen, served, marked } = await judge(service, proxy)
      assert.deepEqual(wrong, [])
      assert.deepEqual(unseen, [], `${kind.name} did not see them`)
      assert.ok(served.length > cases.length / 2)
      assert.ok(marked > cases.length / 5, `only ${marked} clients were answered to the end`)
    })
  }

  const skip = !isInstalled(nginxWith('')) && 'there is no nginx on this machine'
  test('the nginx of docs/settings.md serves below its path, with links as long as they get', { skip }, async () => {
    const readme = await readFile(new URL('../../docs/settings.md', import.meta.url), 'utf8')
    const [, location = ''] = /```nginx\n(.*?)```/s.exec(readme) ?? []
    const [publicUrl = ''] = /(?<=--public-url )http\S+?(?=`)/.exec(readme) ?? []
    await using folder = await makeFolder()
    await using server = await serveHere(folder.file('plants.db'), {}, { publicUrl })
    const kind = nginxWith(location.replace('http://127.0.0.1:3000/', 'http://service/'))
    await using proxy = await startProxy(kind, server.port)
    const url = `http://127.0.0.1:${proxy.port}`
    const client = new PlantStoreClient({ url: `${url}/store`, token: server.token })
    // A link is as long as a name.
    const name = '\u{1f335}'.repeat(600)
    for (const id of [1n, 2n]) await client.createPlant({ id, name })
    const listed = await Array.fromAsync(client.listPlants({ name, limit: 1 }), ({ id }) => id)
    assert.deepEqual(listed, [1n, 2n])
    const { links } = await client.getHome()
    assert.equal((await fetch(url + links.health)).status, 200)
  })

  onService('a proxy that takes pipelined requests for one is detected', async (service) => {
    await using proxy = await FaultyProxy.start(service.port)
    const seen: string[] = []
    proxy.decide = ({ of, bytes }) => {
      if (of === 'request') seen.push(/^\S+ \S+/.exec(bytes.toString('latin1'))?.[0] ?? '')
      return undefined
    }
    const { unseen } = await judge(service, { port: proxy.port, seen: async () => seen }, sampleOf(cases, 4))
    assert.ok(unseen.length > 0)
  })
})

/** Sends cases, each with a request behind it. */
async function judge(
  service: Service,
  proxy: Pick<RunningProxy, 'port' | 'seen'>,
  some: readonly FramingCase[] = cases,
) {
  const before = service.events.length
  const runner = new FramingRunner({ port: proxy.port, token: service.token })
  /** Answers that belong to other requests. */
  const wrong: string[] = []
  const left = [...some.entries()]
  /** How many clients got the answer to the request behind their case. */
  let marked = 0
  const sendSome = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const [number, framingCase] = next
      const marker = `/marker-${number}-`
      const answers = await send(runner, proxy.port, framingCase, marker)
      const told = answers.flatMap((body) => /\/marker-\d+-/.exec(body)?.[0] ?? [])
      marked += told.length
      const isRight = told.length === 0 || (told.length === 1 && answers.at(-1)?.includes(marker))
      if (!isRight) wrong.push(`${framingCase.name}: ${told} for ${marker}`)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, sendSome))
  const seen = countBy((await proxy.seen()).map(withoutQuery))
  const served = service.events.slice(before).flatMap(requestOf)
  /** Those that were served more often than the proxy saw them. */
  const unseen = [...countBy(served)].filter(([request, count]) => count > (seen.get(request) ?? 0))
  return { wrong, served, marked, unseen: unseen.map(([request]) => request) }
}

/** Gives the bodies of the answers to a case and the request behind it. */
async function send(
  runner: FramingRunner,
  port: number,
  { steps, heads }: FramingCase,
  marker: string,
): Promise<readonly string[]> {
  using wire = new Wire(port, heads, patienceMs)
  for (const step of steps) await runner.take(step, wire)
  wire.socket.write(head(`GET ${marker} HTTP/1.1`, host))
  const isLast = (): boolean => wire.answers.at(-1)?.body.includes(marker) === true
  for (let tried = 0; tried < tries && !(await wire.until(isLast)) && !wire.hasEnded; tried += 1) {
    await ask({ port, path: '/probe', agent: false, signal: AbortSignal.timeout(probePatienceMs) })
  }
  return [...wire.answers.map(({ body }) => body), ...(wire.rest === '' ? [] : [wire.rest])]
}

function requestOf(event: ServiceEvent): readonly string[] {
  if (event.kind !== 'requestFinished' && event.kind !== 'requestAborted') return []
  return [`${event.method} ${event.path}`]
}

/** As the service tells of requests: without host and query, and not endless. */
function withoutQuery(line: string): string {
  const [, method = '', target = ''] = /^(\S+) (.*)$/.exec(line) ?? []
  const path = target.replace(/^https?:\/\/[^/?#]*/i, '').split('?', 1)[0] ?? ''
  return `${method} ${path.slice(0, 200)}`
}

function countBy(requests: readonly string[]): ReadonlyMap<string, number> {
  return new Map([...Map.groupBy(requests, (request) => request)].map(([request, same]) => [request, same.length]))
}
