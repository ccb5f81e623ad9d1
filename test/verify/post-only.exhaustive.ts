// `plantstore verify --level specified` of a server in another language, which has nothing but POST /plants.

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { runProgram } from '../support/program.ts'

const noPython = spawnSync('python3', ['--version']).status !== 0 && 'there is no python3 here'

describe('plantstore verify of a server in Python', { skip: noPython }, () => {
  test('that has nothing but POST passes at the level of the sample document', async () => {
    const file = fileURLToPath(new URL('post-only.py', import.meta.url))
    const server = spawn('python3', [file], { stdio: ['ignore', 'pipe', 'inherit'] })
    try {
      const [port] = (await once(server.stdout.setEncoding('utf8'), 'data')) as [string]
      const url = `http://127.0.0.1:${port.trim()}`
      const { status, stdout, stderr } = await runProgram(['verify', url, '--token', 'any', '--level', 'specified'])
      assert.deepEqual([status, stderr], [0, ''], stdout)
      assert.match(stdout, /^27 passed, of 27 rows$/m)
      // What it keeps is said.
      assert.match(stdout, /^Left on the server, because it could not be deleted:$/m)
    } finally {
      server.kill('SIGKILL')
      await once(server, 'close')
    }
  })
})
