// Preloaded into a server as a control: its webhooks store how far they have read, but not what was not accepted yet.

import { Deliveries } from '../../src/deliver/deliveries.ts'
import { beginAfter, type WebhookProgress } from '../../src/domain/webhook.ts'

const { takeProgress } = Deliveries.prototype

Deliveries.prototype.takeProgress = function (): WebhookProgress {
  takeProgress.call(this)
  return beginAfter(this.readTo)
}
