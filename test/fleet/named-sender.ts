// Preloaded into a server: its webhooks send the id of its process.

import { Agent } from 'undici'

const { dispatch } = Agent.prototype

Agent.prototype.dispatch = function (options, handler): boolean {
  const headers = { ...options.headers, 'x-test-pid': String(process.pid) }
  return dispatch.call(this, { ...options, headers }, handler)
}
