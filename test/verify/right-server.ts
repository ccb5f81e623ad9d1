// A server that does everything right, and what `plantstore verify` says of one in front of it.

import assert from 'node:assert/strict'
import { makeFolder } from '../support/folder.ts'
import { runHere, startServer } from '../support/program.ts'
import { type Behaviour, startWrong } from './wrong-servers.ts'

export interface JsonReport {
  readonly rows: readonly {
    readonly title: string
    readonly outcome: string
    readonly skipped?: string
    readonly failure?: { readonly wrong: string }
  }[]
  readonly left: readonly string[]
}

export interface RightServer extends AsyncDisposable {
  readonly token: string
  /** The titles of the rows that fail on a server in front of it. Fails itself unless the run leaves nothing. */
  failuresOf(behave: Behaviour, ...flags: string[]): Promise<string[]>
}

export async function startRight(): Promise<RightServer> {
  const folder = await makeFolder()
  const server = await startServer(folder.file('plants.db'))
  const plantsLeft = async (): Promise<number> => {
    const headers = { Authorization: `Bearer ${server.token}` }
    const response = await fetch(`${server.url}/summary`, { headers })
    return ((await response.json()) as { plants: number }).plants
  }
  return {
    token: server.token,
    failuresOf: async (behave, ...flags) => {
      await using wrong = await startWrong(server, behave)
      const args = ['verify', wrong.url, '--token', server.token, '--json', ...flags]
      const { status, stdout, stderr } = await runHere(args)
      assert.equal(stderr, '')
      const { rows, left } = JSON.parse(stdout) as JsonReport
      const failed = rows.filter(({ outcome }) => outcome === 'failed')
      assert.equal(status, failed.length === 0 ? 0 : 1)
      assert.deepEqual(left, [])
      assert.equal(await plantsLeft(), 0)
      return failed.map(({ title }) => title)
    },
    [Symbol.asyncDispose]: async () => {
      await server[Symbol.asyncDispose]()
      await folder[Symbol.asyncDispose]()
    },
  }
}
