// Runs one row. The command and tests supply their own transport.

import { limits } from '../limits.ts'
import type { Answer, RowRequest } from './message.ts'
import { StillBusy } from './patience.ts'
import type { Row, Step } from './row.ts'
import { NoAnswer } from './send.ts'

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

/** Returns the first failure, or undefined if the row passes. */
export async function runRow({ steps }: Row, ask: Ask): Promise<Failure | undefined> {
  const answers: Answer[] = []
  for (const [index, step] of steps.entries()) {
    const pages: Answer[] = []
    const targets = new Set<string | undefined>()
    let next: RowRequest | undefined = typeof step.request === 'function' ? step.request(answers) : step.request
    while (next !== undefined) {
      const request: RowRequest = next
      targets.add(request.target)
      let answer: Answer
      try {
        answer = await ask(request)
      } catch (error) {
        if (!(error instanceof NoAnswer)) throw error
        const answer = error instanceof StillBusy ? error.answer : undefined
        return { step: index, request, answer, why: error.message }
      }
      pages.push(answer)
      next = step.pages?.next(answer)
      const why = whyWrong(step, answer, answers) ?? whyNotWhole(step, pages, next, targets)
      if (why !== undefined) return { step: index, request, answer, why }
    }
    answers.push(...pages.slice(0, 1))
  }
  return undefined
}

function whyWrong({ checks }: Step, answer: Answer, before: readonly Answer[]): string | undefined {
  for (const check of checks) {
    const why = check(answer, before)
    if (why !== undefined) return why
  }
  return undefined
}

/** @param targets the targets of all pages so far. */
function whyNotWhole(
  step: Step,
  pages: readonly Answer[],
  next: RowRequest | undefined,
  targets: ReadonlySet<string | undefined>,
): string | undefined {
  if (next === undefined) return step.pages?.check(pages)
  if (targets.has(next.target)) return 'the Link leads to a page that was read already'
  return pages.length < limits.verifyPagesMax ? undefined : `after ${pages.length} pages there is a Link to another one`
}
