// Runs one row. The command and tests supply their own transport.

import { limits } from '../src/limits.ts'
import { NoAnswer } from './failures.ts'
import { type Answer, hasSucceeded, type RowRequest } from './message.ts'
import { StillBusy } from './patience.ts'
import type { Plants } from './plant.ts'
import type { ManyStep, OneStep, Row } from './row.ts'

export interface Failure {
  /** Index of the failed step, from 0. */
  readonly step: number
  readonly request: RowRequest
  /** Missing if none came; for a server that was busy for too long, its last answer. */
  readonly answer?: Answer | undefined
  /** What is wrong with the answer, or why there is none. */
  readonly why: string
}

type Ask = (request: RowRequest) => Promise<Answer>

/**
 * Returns the first failure, or undefined if the row passes.
 *
 * @param plants those of the server's document.
 */
export async function runRow({ steps }: Row, ask: Ask, plants: Plants): Promise<Failure | undefined> {
  const before: Answer[] = []
  for (const [index, step] of steps.entries()) {
    const { failure, answer } = await ('atOnce' in step
      ? runMany(step, before, ask, plants)
      : runOne(step, before, ask, plants))
    if (failure !== undefined) return { step: index, ...failure }
    before.push(answer)
  }
  return undefined
}

type Outcome =
  | { readonly failure: Omit<Failure, 'step'>; readonly answer?: undefined }
  | { readonly failure?: undefined; readonly answer: Answer }

/** Follows the pages of a list. Its answer is the first page. */
async function runOne(step: OneStep, before: readonly Answer[], ask: Ask, plants: Plants): Promise<Outcome> {
  const pages: Answer[] = []
  const targets = new Set<string | undefined>()
  let next: RowRequest | undefined = plants.fillIn(requestOf(step.request, before))
  let first: Answer | undefined
  for (;;) {
    const request: RowRequest = next
    targets.add(request.target)
    const outcome = await hear(request, ask)
    if (outcome.failure !== undefined) return outcome
    const { answer } = outcome
    first ??= answer
    pages.push(answer)
    next = step.pages?.next(answer, request)
    const why = whyWrong(step, answer, before, plants) ?? whyNotWhole(step, pages, next, targets, plants)
    if (why !== undefined) return { failure: { request, answer, why: `${why}${whereBegun(targets)}` } }
    if (next === undefined) return { answer: first }
  }
}

/** The page that the Links were followed from. */
function whereBegun(targets: ReadonlySet<string | undefined>): string {
  const [first] = targets
  return targets.size > 1 ? `; the first page was GET ${first}` : ''
}

async function runMany(
  { atOnce, together }: ManyStep,
  before: readonly Answer[],
  ask: Ask,
  plants: Plants,
): Promise<Outcome> {
  const requests = atOnce(before).map((request) => plants.fillIn(request))
  const outcomes = await Promise.all(requests.map((request) => hear(request, ask)))
  const unheard = outcomes.find(({ failure }) => failure !== undefined)
  if (unheard !== undefined) return unheard
  const answers = outcomes.map(({ answer }) => answer as Answer)
  const why = together(answers, plants)
  const at = Math.max(answers.findIndex(hasSucceeded), 0)
  const [request, answer] = [requests[at] as RowRequest, answers[at] as Answer]
  if (why === undefined) return { answer }
  const all = answers.map(({ status }, client) => `${requests[client]?.method ?? 'POST'} ${status}`)
  return { failure: { request, answer, why: `${why} (${all.join(', ')})` } }
}

/** The requests of a row before any is answered. */
export function requestsOf({ steps }: Row): readonly RowRequest[] {
  return steps.flatMap((step) => ('atOnce' in step ? step.atOnce([]) : [requestOf(step.request, [])]))
}

function requestOf(request: OneStep['request'], before: readonly Answer[]): RowRequest {
  return typeof request === 'function' ? request(before) : request
}

async function hear(request: RowRequest, ask: Ask): Promise<Outcome> {
  try {
    return { answer: await ask(request) }
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error
    const answer = error instanceof StillBusy ? error.answer : undefined
    return { failure: { request, answer, why: error.message } }
  }
}

function whyWrong({ checks }: OneStep, answer: Answer, before: readonly Answer[], plants: Plants): string | undefined {
  for (const check of checks) {
    const why = check(answer, before, plants)
    if (why !== undefined) return why
  }
  return undefined
}

/** @param targets the targets of all pages so far. */
function whyNotWhole(
  step: OneStep,
  pages: readonly Answer[],
  next: RowRequest | undefined,
  targets: ReadonlySet<string | undefined>,
  plants: Plants,
): string | undefined {
  if (next === undefined) return step.pages?.check(pages, plants)
  if (targets.has(next.target)) return 'the Link leads to a page that was read already'
  return pages.length < limits.verifyPagesMax ? undefined : `after ${pages.length} pages there is a Link to another one`
}
