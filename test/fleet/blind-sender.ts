// Preloaded into a server as a control: it goes on with what it has read when another server has taken over.

import { WebhookSender } from '../../src/deliver/sender.ts'

const everyMs = 20

WebhookSender.prototype.end = function (): void {
  setInterval(() => this.send(), everyMs).unref()
}
