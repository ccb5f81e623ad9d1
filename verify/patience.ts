// Sends requests to a server that may be busy: waits as requested and retries.

import { setTimeout as sleep } from 'node:timers/promises'
import { errorNumberOf } from './checks.ts'
import { NoAnswer } from './failures.ts'
import { type Answer, fieldOf, type RowRequest } from './message.ts'
import { send, type Target } from './send.ts'

export interface WaitOptions {
  /** Ends a wait early. */
  readonly stopping?: AbortSignal
  /** Whether the request is safe to repeat even if it took effect. */
  readonly isRepeatable?: boolean
  /** Receives each answer that causes a wait. */
  readonly heard?: (answer: Answer) => void
}

const retryMsMin = 1_000
/** How long a request may wait in total, in multiples of its time limit. */
const waitTimeouts = 6
/** The one error of the store after which a change may have taken effect. */
const storeUnavailable = 50302n
/** Safe to repeat even if they took effect. */
const readingMethods = ['GET', 'HEAD', 'OPTIONS']

export class Patience {
  readonly #target: Target
  /** Whether the last wait was in vain. If so, waiting stops until another answer comes, so that a run ends. */
  #isSpent = false

  constructor(target: Target) {
    this.#target = target
  }

  /** Allows waiting again. */
  renew(): void {
    this.#isSpent = false
  }

  /** Throws NoAnswer, also if the server was busy for too long. */
  async send(request: RowRequest, { stopping, isRepeatable = false, heard }: WaitOptions = {}): Promise<Answer> {
    const waitMsMax = waitTimeouts * this.#target.timeoutMs
    for (let waitedMs = 0; ; ) {
      const answer = await send(this.#target, request)
      if (!isBusy(answer, isRepeatable || readingMethods.includes(request.method ?? 'POST'))) {
        this.#isSpent = false
        return answer
      }
      heard?.(answer)
      const waitMs = retryMsOf(answer)
      waitedMs += waitMs
      if (waitedMs > waitMsMax) this.#isSpent = true
      if (this.#isSpent || stopping?.aborted === true) throw stillBusy(answer, waitMs, waitMsMax)
      await sleep(waitMs, undefined, { ...(stopping && { signal: stopping }) }).catch(() => {})
    }
  }
}

/** After storeUnavailable, a change may have taken effect; after any other refusal of a busy server, it has not. */
function isBusy(answer: Answer, isRepeatable: boolean): boolean {
  if (answer.status === 429) return true
  if (answer.status !== 503 || fieldOf(answer, 'retry-after') === undefined) return false
  return isRepeatable || errorNumberOf(answer) !== storeUnavailable
}

/** RFC 9110, section 10.2.3. A date or a missing field counts as the minimum wait. */
function retryMsOf(answer: Answer): number {
  const text = fieldOf(answer, 'retry-after') ?? ''
  return /^[0-9]+$/.test(text) ? Math.max(Number(text) * 1_000, retryMsMin) : retryMsMin
}

function stillBusy(answer: Answer, waitMs: number, waitMsMax: number): NoAnswer {
  const [seconds, secondsMax] = [waitMs / 1_000, waitMsMax / 1_000]
  const message =
    `the server answers ${answer.status} and asks to wait another ${seconds} s, past the ${secondsMax} s ` +
    'that one request may wait; increase --timeout to wait longer'
  return new NoAnswer(message, true, { answer })
}
