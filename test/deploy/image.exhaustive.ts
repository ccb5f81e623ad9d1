// The image of deploy/Dockerfile: unprivileged, on a read-only root, healthy, and stopped by SIGTERM.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { describe, test } from 'node:test'
import { onFolder } from '../support/folder.ts'
import { outputOf } from '../support/program.ts'
import { assertPrompt, until } from '../support/time.ts'
import { buildImage, execIn, firstProcess, ownPackages, readInstructions, runImage } from './image.ts'
import { mayIsolate } from './units.ts'

const isMissing = (program: string): boolean => spawnSync(program, ['--version']).status !== 0
const missing = ['unshare', 'nsenter', 'setpriv', 'chroot', 'npm'].filter(isMissing)
const skip =
  (missing.length > 0 && `there is no ${missing.join(' and no ')} here`) ||
  (!mayIsolate && 'only root can make a namespace here')
const stopMsMax = 2_000

describe('the image of deploy/Dockerfile', () => {
  test('has a command that gets signals itself, and a numeric user', () => {
    const of = (name: string): string[] => readInstructions().flatMap((each) => (each.name === name ? [each.text] : []))
    const users = of('USER').map((user) => /^[1-9]\d*:[1-9]\d*$/.test(user))
    assert.deepEqual(users, [true])
    const commands = of('CMD').map((command) => JSON.parse(command))
    assert.deepEqual(commands, [['plantstore', 'serve']])
    for (const command of Object.keys(ownPackages)) assert.ok(of('RUN').includes(command), command)
  })

  onFolder('serves, is healthy, makes tokens, keeps plants, and ends at SIGTERM', { skip }, async (folder) => {
    const image = buildImage(folder, ownPackages)
    assert.ok(!existsSync(`${image.path}/opt/plantstore/src`))
    assert.ok(!existsSync(`${image.path}/opt/plantstore/node_modules/typescript`))
    // Ports are those of this machine here, and may be taken.
    const more = { PLANTSTORE_HOST: '127.0.0.1', PLANTSTORE_PORT: '0' }
    for (const round of [1, 2]) {
      const child = runImage(image, more)
      const exited = once(child, 'exit')
      try {
        const output = outputOf(child)
        await until('the image serves', () => /listens on/.test(output()) || child.exitCode !== null)
        const url = /listens on (http:\/\/[\d.:]+)/.exec(output())?.[1] ?? ''
        assert.notEqual(url, '', output())
        const first = firstProcess(child)
        const healthCheck = image.healthCheck.map((word) => word.replace('http://127.0.0.1:3000', url))
        await until('it is healthy', () => execIn(image, first, healthCheck).status === 0)
        const unhealthy = image.healthCheck.map((word) => word.replace('127.0.0.1:3000', '127.0.0.1:1'))
        assert.equal(execIn(image, first, unhealthy).status, 1)

        const { stdout } = execIn(image, first, ['plantstore', 'token', 'create', '--name', 'me'])
        const headers = { authorization: `Bearer ${stdout.trim()}`, 'content-type': 'application/json' }
        const body = '{"id":1,"name":"Rose"}'
        if (round === 1) assert.equal((await fetch(`${url}/plants`, { method: 'POST', headers, body })).status, 200)
        assert.equal(await (await fetch(`${url}/plants/1`, { headers })).text(), body)
        assert.notEqual(execIn(image, first, ['touch', '/opt/plantstore/written']).status, 0)

        const stoppedAtMs = performance.now()
        process.kill(first, 'SIGTERM')
        assert.deepEqual(await exited, [0, null], output())
        assertPrompt(stoppedAtMs, stopMsMax)
      } finally {
        child.kill('SIGKILL')
        await exited
      }
    }
    const left = readdirSync(`${image.path}/data`)
    assert.ok(left.includes('plants.db') && !left.includes('plants.db-wal'), `${left}`)
  })
})
