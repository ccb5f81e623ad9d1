// Preloaded as a control: webhooks store their position in the log, but not the changes that were rejected.

import { Deliveries } from '../../src/deliver/deliveries.ts'
import { beginAfter, type WebhookProgress } from '../../src/domain/webhook.ts'

const { takeProgress } = Deliveries.prototype

Deliveries.prototype.takeProgress = function (): WebhookProgress {
  takeProgress.call(this)
  return beginAfter(this.readTo)
}
