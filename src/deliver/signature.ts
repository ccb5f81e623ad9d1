// Signs webhooks as Standard Webhooks 1.0 has it.

import { createHmac } from 'node:crypto'
import type { Webhook, WebhookSecret } from '../domain/webhook.ts'

export interface Message {
  /** The same each time that it is sent. Contains no full stop. */
  readonly id: string
  readonly body: string
}

/**
 * The header fields that sign a message: one signature for each valid secret, so that a receiver may know the old or the
 * new one.
 *
 * @param nowMs the time of sending, by the wall clock.
 */
export function signedFields(
  { id, body }: Message,
  { secrets }: Pick<Webhook, 'secrets'>,
  nowMs: number,
): Readonly<Record<string, string>> {
  const timestamp = Math.floor(nowMs / 1_000)
  const valid = secrets.filter(({ endsAtMs = Number.POSITIVE_INFINITY }) => nowMs < endsAtMs)
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': valid.map((secret) => `v1,${sign(`${id}.${timestamp}.${body}`, secret)}`).join(' '),
  }
}

function sign(text: string, { secret }: WebhookSecret): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  return createHmac('sha256', key).update(text).digest('base64')
}
