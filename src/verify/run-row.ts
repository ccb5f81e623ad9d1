// Runs one row, whoever sends its requests: the command, or a test over sockets of its own.

import type { Answer, RequestParts } from './message.ts'
import { StillBusy } from './patience.ts'
import type { Row } from './row.ts'
import { NoAnswer } from './send.ts'

export interface Failure {
  /** Which of the row's steps it was, from 0. */
  readonly step: number
  readonly request: RequestParts
  /** Missing when none came; of a server that was too busy for too long, its last one. */
  readonly answer?: Answer
  /** What is wrong with the answer, or why there is none. */
  readonly why: string
}

/** Gives what is wrong first, or nothing when the row passes. */
export async function runRow(
  { steps }: Row,
  ask: (request: RequestParts) => Promise<Answer>,
): Promise<Failure | undefined> {
  const answers: Answer[] = []
  for (const [step, { request: wanted, checks }] of steps.entries()) {
    const request = typeof wanted === 'function' ? wanted(answers) : wanted
    let answer: Answer
    try {
      answer = await ask(request)
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error
      return { step, request, why: error.message, ...(error instanceof StillBusy && { answer: error.answer }) }
    }
    for (const check of checks) {
      const why = check(answer, answers)
      if (why !== undefined) return { step, request, answer, why }
    }
    answers.push(answer)
  }
  return undefined
}
