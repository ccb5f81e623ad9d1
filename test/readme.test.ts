// The commands in README.md in a user's shell, with the Node.js of the project and with the older one of the machine.

import assert from 'node:assert/strict'
import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { glob, readFile, symlink, writeFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { type Folder, makeFolder } from './support/folder.ts'
import { startOnTerminal } from './support/on-terminal.ts'
import { makeCluster } from './support/postgres.ts'
import { cleanEnvironment, outputOf } from './support/program.ts'
import { isAsShown, pages, type ReadmeCommand, readCommands, root } from './support/readme.ts'
import { inRing } from './support/ring.ts'

const has = (program: string): boolean => spawnSync(program, ['--version']).status === 0
const missing = ['bash', 'curl', 'script'].filter((program) => !has(program))

/** What the text says of a command, where no block shows what it prints. */
const said: Readonly<Record<string, readonly (readonly [command: string, printed: RegExp])[]>> = {
  'README.md': [
    ['"id": 2', /^location: \/plants\/2$/m],
    ['"$PLANTS/2" -H "$AUTH"', /^etag: "\S+"[\s\S]*^\{"id":2,"name":"Ficus lyrata","tag":"fig"\}$/m],
    ['tag=fig', /^\[\{"id":2,[^}]*\}\]$/m],
    ['-X PUT', /^\{"name":"Ficus benjamina","tag":"fig"\}$/m],
    ['-X DELETE', /^HTTP\/1.1 204 /],
  ],
  'docs/http.md': [
    ['"id": 9223372036854775806', /^location: \/plants\/9223372036854775806$/m],
    ['Idempotency-Key: 5f2c1f0e', /^\{"name":"Ficus lyrata","tag":"fig"\}$/m],
    ['limit=2', /^link: <\/plants\?after=2&limit=2>; rel="next"$[\s\S]*^\[\{"id":1,[\s\S]*\{"id":2,[^}]*\}\]$/m],
    ['name=ficus', /^\[\{"id":2,[^}]*\}\]$/m],
    ['/summary', /"plants":4,/],
    ['$ETAG" -d \'{"name": "Ficus benjamina"', /^\{"name":"Ficus benjamina","tag":"fig"\}$/m],
  ],
  'docs/commands.md': [
    ['token create --name reader', /^plt_\w{49}\n$/],
    ['token list', /plants:read .* reader$/m],
    ['verify http://127.0.0.1:3000', /^\d{3} passed, \d+ skipped, of \d{3} rows$/m],
    ['--level specified', /^\d\d passed, of \d\d rows$/m],
  ],
}

test('docs/clients.md has the programs that `npm run clients` runs', async () => {
  const text = await readFile(`${root}/docs/clients.md`, 'utf8')
  const program = await readFile(`${root}/scripts/clients/exact-json.ts`, 'utf8')
  assert.ok(text.includes(`\n${program}\`\`\`\n`) && text.includes('`exact-json.ts`'))
  for (const name of ['exact-client.ts', 'exact.mjs', 'orval.config.mjs'])
    assert.ok(text.includes(`[${name}](../scripts/clients/${name})`), name)
})

test('README.md and docs/testing.md show the example that `npm run package` runs', async () => {
  const example = await readFile(`${root}/examples/testing/garden.node.test.js`, 'utf8')
  for (const document of ['README.md', 'docs/testing.md']) {
    const text = await readFile(`${root}/${document}`, 'utf8')
    const [, shown = ''] = /^```ts\n(.*?)^```$/ms.exec(text) ?? []
    assert.ok(shown !== '' && example.includes(shown), document)
  }
})

test('the documents that code names are there', async () => {
  for await (const file of glob(['{src,test,scripts,deploy}/**/*.{ts,yaml,service}'], { cwd: root })) {
    for (const [document] of (await readFile(join(root, file), 'utf8')).matchAll(/\bdocs\/[\w/-]+\.md/g)) {
      assert.ok(existsSync(join(root, document)), `${file}: ${document}`)
    }
  }
})

describe('README.md', () => {
  const node = findNode()
  test(`and the pages after it are true of their commands, in their order, with Node.js ${node.version}`, {
    skip: missing.length > 0 && `there is no ${missing.join(' and no ')} here`,
  }, async () => {
    await using checkout = await makeCheckout()
    await using reader = new Reader(checkout.path, dirname(node.path))
    const left = new Map(pages.flatMap((page) => said[page] ?? []))
    for (const command of await readCommands()) {
      const printed = await reader.follow(command)
      for (const [text, expected] of left) {
        if (!command.text.includes(text)) continue
        assert.match(printed, expected, command.text)
        left.delete(text)
      }
    }
    assert.deepEqual([...left.keys()], [], 'is not in the pages any more')
  })

  test('promises what a test of the first ring attacks', async () => {
    const text = await readFile(`${root}/README.md`, 'utf8')
    const [, table = ''] = /^\| promise \|.*\n\| --- .*\n((?:\|.*\n)+)/m.exec(text) ?? []
    const proofs = table
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => [...line.matchAll(/`(test\/[^`]+)`/g)])
    assert.ok(proofs.length >= 7)
    for (const links of proofs) {
      assert.ok(links.length > 0)
      for (const [, place = ''] of links) {
        const files = await Array.fromAsync(glob(place.endsWith('.ts') ? place : `${place}/*.test.ts`, { cwd: root }))
        const tests = await Promise.all(files.map((file) => readFile(`${root}/${file}`, 'utf8')))
        const isTested = tests.some((each) => /^ *(?:test|on[A-Z]\w+)\(/m.test(each))
        assert.ok(isTested, place)
      }
    }
  })

  test('names scripts, benches, tortures, files and headings that are there', async () => {
    const { scripts } = JSON.parse(await readFile(`${root}/package.json`, 'utf8'))
    for await (const document of glob(['*.md', 'docs/**/*.md', 'deploy/*.md', 'test/support/*.md'], { cwd: root })) {
      const text = await readFile(join(root, document), 'utf8')
      for (const [command, script = '', name] of text.matchAll(/\bnpm run ([a-z:]+)(?: -- ([a-z-]+))?/g)) {
        assert.ok(script in scripts, `${document}: ${command}`)
        if (name === undefined || name.startsWith('-') || name === 'short') continue
        const place = script === 'bench' ? 'bench' : 'test/torture'
        assert.ok(existsSync(`${root}/${place}/${name}.ts`), `${document}: ${command}`)
      }
      for (const [, target = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
        if (/^https?:/.test(target)) continue
        const [file = '', anchor] = target.split('#')
        const path = file === '' ? join(root, document) : join(root, dirname(document), file)
        assert.ok(existsSync(path), `${document}: ${target}`)
        if (anchor !== undefined) assert.ok((await anchorsOf(path)).includes(anchor), `${document}: ${target}`)
      }
    }
  })
})

async function anchorsOf(path: string): Promise<readonly string[]> {
  const titles = (await readFile(path, 'utf8')).matchAll(/^#+ (.*)$/gm)
  return Array.from(titles, ([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  )
}

/** Somebody with a terminal, or two of them: one has the server. */
class Reader implements AsyncDisposable {
  readonly #checkout: string
  readonly #environment: NodeJS.ProcessEnv
  readonly #servers: ChildProcess[] = []
  readonly #stack = new AsyncDisposableStack()
  #shell: ChildProcessWithoutNullStreams | undefined
  /** Where the server is that README.md has at port 3000. */
  #address = ''
  /** The token that it has printed. */
  #token = ''

  /** @param node folder of the Node.js that the reader has. */
  constructor(checkout: string, node: string) {
    this.#checkout = checkout
    const path = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => !folder.includes('node_modules'))
    const own = Object.entries(cleanEnvironment()).filter(([name]) => !/^(npm_|INIT_CWD|DATABASE_URL|PG)/.test(name))
    this.#environment = {
      ...Object.fromEntries(own),
      PATH: [node, ...path].join(delimiter),
      PLANTSTORE_PORT: '0',
      // npx leaves a link to each checkout in it.
      npm_config_cache: join(checkout, '.npm'),
    }
  }

  /** Gives what the command prints on its standard output. */
  async follow(command: ReadmeCommand): Promise<string> {
    const { text, status, output, program } = command
    if (text === 'npm ci && npm start') return this.#startFirst()
    // That is what runs this test.
    if (text === 'npm ci && npm test') return ''
    if (text.startsWith('createdb')) await this.#startDatabase()
    if (text.includes('postgres://') && this.#environment['PGPORT'] === undefined) return ''
    if (text.startsWith('npm start')) return this.#serve(text.replace(/--port \d+/, '--port 0'))
    if (program !== undefined) await writeFile(join(this.#checkout, 'plants.mjs'), program)

    // What goes on in the background must not write between what others print.
    const adapted = text
      .replace('127.0.0.1:3000', this.#address)
      .replace('plt_...', this.#token)
      .replace(/ &$/, ' >/dev/null &')
    const printed = await this.#run(adapted)
    if (program !== undefined) assert.equal(await this.#run(adapted), printed, 'the second run')
    for (const [, answered] of printed.matchAll(/^HTTP\/1\.1 (\d{3})/gm)) {
      assert.ok(status === undefined ? Number(answered) < 300 : Number(answered) === status, `${text}\n${printed}`)
    }
    if (output !== undefined) assert.ok(isAsShown(output, printed), `${text}\nprinted\n${printed}\nnot\n${output}`)
    return printed
  }

  async #startFirst(): Promise<string> {
    const terminal = startOnTerminal('npm start', { cwd: this.#checkout, env: this.#environment })
    this.#stack.use(terminal)
    const stderr = await terminal.shows(/npx plantstore token create --name NAME$/m)
    this.#address = /listens on http:\/\/([^\s,]+)/.exec(stderr)?.[1] ?? ''
    const shown = (await readCommands()).find(({ text }) => text.includes('plt_...'))?.text ?? 'no such line'
    const printed = /^ {2}(curl .*)$/m.exec(stderr)?.[1] ?? ''
    assert.equal(printed.replace(this.#address, '127.0.0.1:3000').replace(/plt_\w+/, 'plt_...'), shown)
    this.#token = /plt_\w{49}/.exec(printed)?.[0] ?? ''
    this.#shell = this.#spawn('bash', ['--noprofile', '--norc'], {
      PLANTSTORE_URL: `http://${this.#address}`,
      // The receiver of webhooks listens on any port.
      PORT: '0',
    })
    return stderr
  }

  /** Starts what goes on until it is ended, and gives what it has printed once it serves. */
  async #serve(command: string): Promise<string> {
    const child = this.#spawn('bash', ['--noprofile', '--norc', '-c', command], {})
    const stderr = outputOf({ stdout: null, stderr: child.stderr })
    child.stdout.resume()
    while (!/listens on \S+\n[\s\S]*\n\n?$/.test(stderr())) {
      await Promise.race([
        once(child.stderr, 'data'),
        once(child, 'exit').then(([code]) => Promise.reject(new Error(`${command} ended with ${code}\n${stderr()}`))),
      ])
    }
    return stderr()
  }

  /** Runs a command in the second terminal, whose variables stay. */
  async #run(command: string): Promise<string> {
    const shell = this.#shell
    assert.ok(shell, 'the server comes first')
    const mark = 'the command has ended with'
    shell.stdin.write(`${command}\nprintf '\\n${mark} %s\\n' $?\n`)
    let printed = ''
    for (;;) {
      const end = new RegExp(`\\n${mark} (\\d+)\\n$`).exec(printed)
      if (end !== null) {
        assert.equal(end[1], '0', `${command}\n${printed}`)
        return printed.slice(0, end.index).replaceAll('\r', '')
      }
      printed += (await once(shell.stdout.setEncoding('utf8'), 'data'))[0]
    }
  }

  /** PostgreSQL where the reader's own programs find it; without createdb the reader has none. */
  async #startDatabase(): Promise<void> {
    if (!has('createdb')) return
    const cluster = this.#stack.use(await makeCluster())
    await cluster.start(['fsync=off'])
    const variables = { PGHOST: '127.0.0.1', PGPORT: String(cluster.port), PGUSER: 'postgres' }
    Object.assign(this.#environment, variables)
    await this.#run(`export ${Object.entries(variables).map((pair) => pair.join('='))}`.replaceAll(',', ' '))
  }

  #spawn(command: string, args: readonly string[], more: NodeJS.ProcessEnv): ChildProcessWithoutNullStreams {
    const options = { cwd: this.#checkout, env: { ...this.#environment, ...more }, detached: true } as const
    const child = spawn(command, args, options)
    this.#servers.push(child)
    // Whatever it started belongs to its group, and ends with it.
    const kill = (): void => {
      if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
        process.kill(-child.pid, 'SIGKILL')
    }
    process.once('exit', kill)
    this.#stack.defer(async () => {
      process.off('exit', kill)
      kill()
      if (child.exitCode === null && child.signalCode === null) await once(child, 'close')
    })
    return child
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync()
  }
}

/** A folder with all that the checkout has, but for what was written into it. */
async function makeCheckout(): Promise<Folder> {
  const folder = await makeFolder()
  const { files } = JSON.parse(await readFile(`${root}/package.json`, 'utf8'))
  const published = new Set<string>(files.map((name: string) => name.split('/', 1)[0]))
  for (const name of [...published, 'package.json', '.npmrc', 'src', 'client', 'verify', 'node_modules']) {
    if (name !== 'dist') await symlink(join(root, name), folder.file(name))
  }
  return folder
}

/** The Node.js of the project; in the second ring that of the machine, where it is another. */
function findNode(): { readonly path: string; readonly version: string } {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => !folder.includes('node_modules'))
  const machines = folders.map((folder) => join(folder, 'node')).find((path) => existsSync(path))
  const path = inRing(process.execPath, machines ?? process.execPath)
  return { path, version: spawnSync(path, ['--version'], { encoding: 'utf8' }).stdout.trim() }
}
