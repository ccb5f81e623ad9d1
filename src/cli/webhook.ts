// `plantstore webhook`: manages webhooks, even while a server is running. The server sends them (src/deliver/).

import { randomBytes } from 'node:crypto'
import { openSender } from '../deliver/post.ts'
import type { ChangeKind, ChangePage } from '../domain/change.ts'
import { systemClock } from '../domain/clock.ts'
import { codeOf, OperatorError } from '../domain/errors.ts'
import { toIso, withoutControls } from '../domain/shown.ts'
import type { Store } from '../domain/store.ts'
import { mintId } from '../domain/token.ts'
import { beginAfter, pauseReasons, type StoredWebhook, type Webhook, type WebhookProgress } from '../domain/webhook.ts'
import { limits } from '../limits.ts'
import { userAgent } from '../package.ts'
import { printSecret, say } from '../terminal.ts'
import { findById, onStore, unknownId } from './stores.ts'

/** How long a replaced secret still signs. */
const overlapMs = 24 * 60 * 60 * 1000
/** Attempts to change a webhook that a server also changes, twice a second. */
const attemptsMax = 20
const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`

interface NewWebhook {
  readonly url: string
  readonly on: readonly ChangeKind[]
  readonly name?: string | undefined
}

/** Prints only the secret to stdout. Removes the webhook if the secret cannot be printed. */
export const add = onStore(
  async (store, { url, on, name = new URL(url).host }: NewWebhook, terminal): Promise<undefined> => {
    const id = mintId('hook', randomBytes(9))
    const secret = newSecret()
    const progress = beginAfter(await positionOf(store, 'now'))
    const createdAtMs = systemClock.wallMs()
    await store.addWebhook({ id, name, url, kinds: on, secrets: [{ secret }], createdAtMs, progress })
    const kinds = new Intl.ListFormat('en', { type: 'disjunction' }).format(on)
    const what = `Webhook ${id} (${name}) sends what is ${kinds} to ${url}`
    say(`${what}. Its signing secret is shown only once.`, terminal)
    await printSecret(secret, terminal, () => store.removeWebhook(id))
  },
)

export const list = onStore(async (store) => {
  const value = await Promise.all((await store.listWebhooks()).map((hook) => shownOf(store, hook)))
  const header = ['ID', 'STATE', 'BEHIND', 'LAST ANSWER', 'ON', 'NAME', 'URL']
  const rows = value.map(({ id, state, secondsBehind, lastAnswer, on, name, url }) => {
    const behind = secondsBehind === null ? 'lost' : `${secondsBehind} s`
    const answer = lastAnswer === null ? 'none yet' : withoutControls(lastAnswer.outcome)
    return [id, state, behind, answer, on.join(','), withoutControls(name), url]
  })
  return { value, rows: [header, ...rows] }
})

interface OfWebhook {
  readonly id: string
}

export const show = onStore(async (store, { id }: OfWebhook) => {
  const value = await shownOf(store, await find(store, id))
  const rows = Object.entries(value).map(([name, each]) => [
    name,
    withoutControls(typeof each === 'object' && each !== null ? JSON.stringify(each) : String(each)),
  ])
  return { value, rows }
})

/** Prints before the change: if the command is killed in between, nothing has changed. */
export const rotate = onStore(async (store, { id }: OfWebhook, terminal) => {
  replaceable(await find(store, id))
  const secret = newSecret()
  await printSecret(secret, terminal)
  const endsAtMs = systemClock.wallMs() + overlapMs
  await change(store, id, (hook) => {
    const valid = replaceable(hook)
    return { ...hook, secrets: [{ secret }, ...valid.map((old) => ({ endsAtMs, ...old }))] }
  })
  return `Webhook ${id} signs with this secret from now on, and with the old one until ${toIso(endsAtMs)}.`
})

/** The secrets that still sign. Throws OperatorError if no other may be added. */
function replaceable({ id, secrets }: Webhook): Webhook['secrets'] {
  const nowMs = systemClock.wallMs()
  const valid = secrets.filter((old) => nowMs < (old.endsAtMs ?? Number.POSITIVE_INFINITY))
  if (valid.length < limits.webhookSecretsMax) return valid
  const until = toIso(Math.min(...valid.map(({ endsAtMs = Number.POSITIVE_INFINITY }) => endsAtMs)))
  throw new OperatorError(`webhook ${id} has ${valid.length} secrets that still sign; one ends at ${until}`)
}

export const pause = onStore(async (store, { id }: OfWebhook) => {
  const paused = { reason: 'operator', atMs: systemClock.wallMs() } as const
  await change(store, id, (hook) => ({ ...hook, paused: hook.paused ?? paused }))
  return `Webhook ${id} is paused. Its changes are kept for three days.`
})

export const resume = onStore(async (store, { id }: OfWebhook) => {
  if ((await nextChangeMs(store, (await find(store, id)).progress)) === null) {
    const advice = `\`plantstore webhook send ${id} --after oldest\` begins with those that it has`
    throw new OperatorError(`webhook ${id}: ${pauseReasons.lost}; ${advice}`)
  }
  await change(store, id, ({ paused: _, owner: __, ...hook }) => {
    const blocked = hook.progress.blocked.map((plant) => ({ ...plant, tries: 0 }))
    return { ...hook, progress: { ...hook.progress, blocked, failures: 0 } }
  })
  return `Webhook ${id} is resumed.`
})

export const send = onStore(async (store, { id, after }: OfWebhook & { readonly after: string }) => {
  const position = await positionOf(store, after)
  await change(store, id, ({ owner: _, ...hook }) => {
    const { last } = hook.progress
    return { ...hook, progress: { ...beginAfter(position), ...(last !== undefined && { last }) } }
  })
  const { paused } = await find(store, id)
  const still = paused === undefined ? '' : `; it is paused: plantstore webhook resume ${id}`
  return `Webhook ${id} sends all changes after ${after}${still}.`
})

export const test = onStore(async (store, { id }: OfWebhook) => {
  const hook = await find(store, id)
  const sender = openSender({ userAgent: userAgent(), clock: systemClock, limits, mayStillSend: () => true })
  const message = { id: `test_${randomBytes(9).toString('hex')}_${id}`, body: '{"id":0,"name":"A test of a webhook"}' }
  const { isAccepted, outcome } = await sender.post(hook, message)
  await sender.close()
  if (isAccepted) return `${hook.url} accepted the test: ${outcome}`
  throw new OperatorError(`${hook.url} did not accept the test: ${outcome}`)
})

export const remove = onStore(async (store, { id }: OfWebhook) => {
  if (await store.removeWebhook(id)) return `Webhook ${id} is removed.`
  throw unknownId('webhook', id)
})

async function find(store: Store, id: string): Promise<StoredWebhook> {
  const found = findById('webhook', await store.listWebhooks(), id)
  if (found.paused?.reason !== 'damaged') return found
  throw new OperatorError(`webhook ${id} is damaged; run: plantstore webhook remove ${id}`)
}

/** Applies a change to the current state of a webhook, even while a server changes it. */
async function change(store: Store, id: string, edit: (hook: Webhook) => Webhook): Promise<void> {
  for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
    const { version, ...hook } = await find(store, id)
    if (await store.replaceWebhook(edit(hook), version)) return
  }
  throw new OperatorError(`webhook ${id} is constantly changed by other programs; try again`)
}

/** The position that `--after` names; undefined for the beginning of the log. */
async function positionOf(store: Store, after: string): Promise<string | undefined> {
  if (after === 'oldest') return undefined
  const page = await pageAfter(store, after)
  if (page === undefined) throw new OperatorError('the log does not have this position; use oldest, or now')
  return after === 'now' ? page.next : after
}

/** The time of the oldest change that a webhook has not delivered. Undefined: there is none. Null: it is lost. */
async function nextChangeMs(store: Store, { after, blocked }: WebhookProgress): Promise<number | undefined | null> {
  const page = await pageAfter(store, after)
  if (page === undefined) return null
  const times = [...blocked, ...page.changes].map(({ atMs }) => atMs)
  return times.length === 0 ? undefined : Math.min(...times)
}

/** The next change after a position; undefined if the log does not have the position. */
async function pageAfter(store: Store, after: string | undefined): Promise<ChangePage | undefined> {
  try {
    return await store.listChanges({ after, kind: undefined, limit: 1 })
  } catch (error) {
    if (codeOf(error) === 'positionGone') return undefined
    throw error
  }
}

async function shownOf(store: Store, hook: StoredWebhook) {
  const { id, name, url, kinds, paused, createdAtMs, progress, secrets } = hook
  const { after = null, blocked, last } = progress
  const nextMs = await nextChangeMs(store, progress)
  const nowMs = systemClock.wallMs()
  return {
    id,
    name,
    url,
    on: kinds,
    state: paused === undefined ? 'active' : `paused: ${pauseReasons[paused.reason]}`,
    created: toIso(createdAtMs),
    /** The position up to which the log was read. */
    position: after,
    /** Plants with a change up to there that was not accepted; their later changes wait. */
    blockedPlants: blocked.map(({ plantId, tries }) => ({ id: plantId, requests: tries })),
    /** Null: the next changes are lost. */
    secondsBehind: nextMs === null ? null : Math.max(Math.round((nowMs - (nextMs ?? nowMs)) / 1_000), 0),
    lastAnswer:
      last === undefined ? null : { time: toIso(last.atMs), outcome: last.outcome, isAccepted: last.isAccepted },
    secrets: secrets.map(({ endsAtMs }) => (endsAtMs === undefined ? 'valid' : `valid until ${toIso(endsAtMs)}`)),
  }
}
