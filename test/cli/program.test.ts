// The command line as a whole: help, version, misuse, configuration, an old Node.js, and the output for people.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { formatTable } from '../../src/cli/output.ts'
import { settings } from '../../src/config.ts'
import { withoutControls } from '../../src/domain/shown.ts'
import { makeFolder, onFolder } from '../support/folder.ts'
import { cleanEnvironment, launcher, runHere, runProgram, startServer } from '../support/program.ts'

const packageJson = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'))

describe('plantstore', () => {
  test('--version is that of package.json', async () => {
    assert.deepEqual(await runHere(['--version']), { status: 0, stdout: `${packageJson.version}\n`, stderr: '' })
  })

  for (const command of ['', 'serve', 'token', 'token create', 'token list', 'token revoke', 'config', 'verify']) {
    const args = command.split(' ').filter((arg) => arg !== '')
    test(`${['plantstore', ...args, '--help'].join(' ')} explains itself on stdout`, async () => {
      const { status, stdout, stderr } = await runHere([...args, '--help'])
      assert.equal(status, 0)
      assert.equal(stderr, '')
      assert.match(stdout, new RegExp(`^Usage: plantstore ${args.join(' ')}`))
    })
  }

  const token = 'token create --name'
  const overlap = /must be a time such as 90d, 12h, 30m or 60s/
  const expiry = /60s, at most 36500d, or never$/m
  const noFile = /^plantstore: file: must not be empty$/m
  const noCount = /must be a number of backups/
  const hook = /must be an https URL/
  const rate = /such as 1000\/1s, or none/
  const verify = 'verify http://127.0.0.1:9'
  const verifiable = /^plantstore: \[url\]: must be a URL such as http.*, without user, query or fragment$/m
  for (const [command, message, ...more] of [
    ['sevre', /^plantstore: unknown command 'sevre' \(Did you mean serve\?\)$/m],
    ['serve --prot 1', /^plantstore: unknown option '--prot' \(Did you mean --port\?\)$/m],
    ['serve --port', /^plantstore: option '--port <number>' argument missing$/m],
    ['serve --port 65536', /^plantstore: --port or PLANTSTORE_PORT: must be a number from 0 to 65535$/m],
    ['serve --log loud', /--log or PLANTSTORE_LOG: must be one of all, changes, errors, off$/m],
    ['serve --store mysql://user:secret@a/b', /PLANTSTORE_STORE: must be the path of a file or a URL .*postgres:/],
    ['serve --jwt-keys https://me:secret@a.example/', /PLANTSTORE_JWT_KEYS: must be none, a URL .*without user/],
    ['serve --public-url plants.example', /PLANTSTORE_PUBLIC_URL: must be none, or a URL such as https/],
    ['serve extra', /too many arguments for 'serve'\. .* got 1: extra; usage: plantstore serve \[options\]$/m],
    ['token revoke', /missing required argument 'id'; usage: plantstore token revoke \[options\] <id>$/m],
    ...['plants.example', 'http://me@plants.example', 'http://plants.example?x=1', 'ftp://a.example'].map(
      (url) => [`verify ${url}`, verifiable] as const,
    ),
    [verify, /^plantstore: a token is needed: set PLANTSTORE_TOKEN, or give one with --token$/m],
    [`${verify} --level some`, /^plantstore: option '--level <level>' argument 'some' is invalid\. /m],
    [`${verify} --ids 9223372036854000000`, /--ids: must be an integer from -9223372036854775808 to /],
    [`${verify} --ids 1e18`, /--ids: must be an integer$/m],
    [`${verify} --timeout 0`, /--timeout: must be a number of seconds, at most 600$/m],
    ['import', /missing required argument 'file'/],
    ...['import', 'export', 'restore', 'backup'].map((command) => [command, noFile, ''] as const),
    ['import x --rejects', /^plantstore: --rejects: must not be empty$/m, ''],
    ['verify --token t --junit', /^plantstore: --junit: must not be empty$/m, ''],
    ['import x --on-conflict guess', /Allowed choices are fail, skip, replace\.$/m],
    ['export a.tsv', /a\.tsv ends in \.tsv, but exports have commas, not tabs; name it \.csv/],
    ['backup --folder', /^plantstore: --folder: must not be empty$/m, ''],
    ['token create', /required option '--name <name>' not specified/],
    [token, /--name.*must be 1 to 100 characters/, ''],
    [token, /must be 1 to 100 characters without control characters/, 'a\nb'],
    [`${token} a --scope plants:eat`, /must be one or more of plants:read, plants:write/],
    [`${token} a --scope`, /must be one or more of plants:read, plants:write/, ''],
    ...['soon', '0d', '9999999999d'].map((time) => [`${token} a --expires ${time}`, expiry] as const),
    ['serve --rate-limit 1000000000/1s', /must be up to 999999999 units and a time of up to 9999 s, m or h/],
    ...['100', '0/1s', '1/0s', '1/1d', '-1/1s', '1.5/1s', '1/s', '99999999999/1s'].map(
      (text) => [`serve --rate-limit ${text}`, rate] as const,
    ),
    ...['never', 'soon', '-1h', '1', '99999d', ''].map(
      (time) => [`token rotate x --overlap=${time}`, overlap] as const,
    ),
    ['backup', /^plantstore: name the file of the backup, or a --folder$/m],
    ['backup b.db --folder to', /^plantstore: name a file or a --folder, not both$/m],
    ['backup b.db --keep 2', /^plantstore: --keep needs --folder/],
    ...['0', '1.5', 'all'].map((count) => [`backup --folder to --keep ${count}`, noCount] as const),
    // To another machine, to a name that only looks local, with a user, with a fragment.
    ['webhook add http://plants.example/', hook],
    ['webhook add http://127.0.0.1.example/', hook],
    ['webhook add https://me:secret@plants.example/', hook],
    ['webhook add https://plants.example/#a', hook],
    ['webhook add plants.example', hook],
    [`webhook add https://plants.example/${'a'.repeat(2_000)}`, /must have at most 2000 characters/],
    ['webhook add https://plants.example --on eaten', /must be one or more of created/],
  ] as const satisfies readonly (readonly [string, RegExp, ...string[]])[]) {
    test(`${command.slice(0, 80)} ${JSON.stringify(more)} is misuse`, async () => {
      const { status, stdout, stderr } = await runHere([...command.split(' '), ...more])
      assert.deepEqual([status, stdout, stderr.split('\n').length], [2, '', 2], stderr)
      assert.match(stderr, message)
      assert.doesNotMatch(stderr, /secret/)
    })
  }

  onFolder('a setting that cannot be used, or a file that it names, is status 2 for every command', async (folder) => {
    await writeFile(folder.file('text'), 'no key, no certificate, no store\n'.repeat(100))
    const store = ['--store', folder.file('p.db')]
    const [none, text] = [folder.file('none'), folder.file('text')]
    const wrongSettings = [
      ['--host', 'not an address'],
      ['--host', '999.0.0.1'],
      ['--metrics-listen', '999.0.0.1:1'],
      ...['loopback,nowhere', '10.0.0.0/99', '10.0.0.1,,', '300.1.1.1'].map((proxies) => ['--trust-proxy', proxies]),
      ['--tls-cert', none],
      ['--tls-cert', none, '--tls-key', none],
      ['--tls-cert', text, '--tls-key', text],
      ['--jwt-keys', none],
    ]
    const wrongStores = [
      ...[folder.path, text, 'postgres://h/d?sslmode=strict', 'postgres://h/d?port=abc', 'postgres://h/d?planet=x'],
      ...['postgres://h/d?connect_timeout=x', `postgres://h/d?sslrootcert=${none}`, 'postgres://h1,h2/d?port=1,2,3'],
    ]
    const commands = [
      ...wrongSettings.map((wrong) => ['serve', '--port', '0', ...store, ...wrong]),
      ...wrongStores.map((wrong) => ['serve', '--port', '0', '--store', wrong]),
      ...wrongStores.map((wrong) => ['token', 'create', '--name', 'n', '--store', wrong]),
      ['config', '--store', 'postgres://h/d?planet=x'],
      ['verify', 'http://127.0.0.1:9'],
    ]
    const wrong: string[] = []
    for (const command of commands) {
      const { status, stderr } = await runHere(command)
      if (status !== 2 || !/^plantstore: [^\n]*\n$/.test(stderr))
        wrong.push(`${status} ${command.join(' ')}: ${stderr}`)
    }
    assert.deepEqual(wrong, [])
  })

  test('origins are whole ones, with or without blanks between them', () => {
    const { parse } = settings.corsOrigin
    for (const text of ['*', 'none', 'https://a.example', 'https://a.example,http://[::1]:8080'])
      assert.doesNotThrow(() => parse(text), text)
    assert.deepEqual(parse('https://a.example, http://localhost:8080 '), ['https://a.example', 'http://localhost:8080'])
    const wrong = ['', 'a.example', 'https://*.example', 'https://a.example/', 'https://a.example,', 'HTTPS://A.ex']
    for (const text of wrong) assert.throws(() => parse(text), /must be \*, none, or whole origins such as/, text)
  })

  test('a public URL is http or https, with or without a path, and nothing that would lead elsewhere', () => {
    const { parse } = settings.publicUrl
    for (const [text, url] of [
      ['none', undefined],
      ['https://plants.example', 'https://plants.example'],
      ['HTTP://Plants.Example:80/', 'http://plants.example'],
      ['http://[::1]:8080/store/', 'http://[::1]:8080/store'],
      ['https://plants.example/a b/{c}/@d>', 'https://plants.example/a%20b/%7Bc%7D/@d%3E'],
    ] as const) {
      assert.equal(parse(text), url)
    }
    for (const text of [
      ...['', '/store', 'plants.example:80', 'ftp://plants.example', 'blob:https://plants.example/x', 'https://'],
      ...['https://me@plants.example', 'https://:secret@plants.example', 'https://plants.example?x'],
      ...['https://plants.example/#x', 'https://plants.example//evil.example'],
      'https://plants.example/\\\\evil.example',
    ]) {
      assert.throws(() => parse(text), RangeError, text)
    }
  })

  test('config shows each value and where it comes from: flag over environment over default', async () => {
    const environment = {
      PLANTSTORE_PORT: '4000',
      PLANTSTORE_HOST: '::1',
      PLANTSTORE_LOG: '',
      PLANTSTORE_PUBLIC_URL: 'https://a.example/b/',
    }
    const env = { ...cleanEnvironment(), ...environment }
    const { status, stdout } = await runProgram(['config', '--port', '5000'], { env })
    assert.equal(status, 0)
    assert.match(stdout, /^host +::1 +environment PLANTSTORE_HOST$/m)
    assert.match(stdout, /^port +5000 +flag --port$/m)
    assert.match(stdout, /^store +\/\S+\/data\/plants\.db +default$/m)
    assert.match(stdout, /^log +errors +default$/m)
    assert.match(stdout, /^publicUrl +https:\/\/a\.example\/b\/ +environment PLANTSTORE_PUBLIC_URL$/m)
    assert.doesNotMatch(stdout, /bodyBytesMax/)
    const { stdout: withLimits } = await runHere(['config', '--limits'])
    assert.match(withLimits, /^bodyBytesMax +65536 +fixed limit$/m)
  })

  const pretend = ['--import', 'data:text/javascript,Object.defineProperty(process.versions,"node",{value:"20.20.2"})']
  const hasOwnNode = existsSync(new URL('../../node_modules/node/bin/node', import.meta.url))

  onFolder('an old Node.js in a checkout without its own gets one clear line and status 1', async (folder) => {
    await cp(new URL('../../bin', import.meta.url), folder.file('bin'), { recursive: true })
    await writeFile(folder.file('package.json'), '{"type":"module"}')
    const start = () => spawnSync(process.execPath, [...pretend, folder.file('bin/plantstore.js'), 'serve'])
    const published = start()
    assert.equal(published.status, 1)
    assert.equal(published.stdout.toString(), '')
    assert.match(published.stderr.toString(), /^plantstore: Node\.js 24 or newer is needed, .*; install it from .*\n$/)
    await mkdir(folder.file('src'))
    await writeFile(folder.file('src/main.ts'), '')
    assert.match(start().stderr.toString(), /^plantstore: Node\.js 24 or newer is needed, .*; run `npm ci` .*\n$/)
  })

  test('an old Node.js hands over to the one of the checkout, with status, output and signals', {
    skip: !hasOwnNode && 'npm ci brought no Node.js along',
  }, async () => {
    await using folder = await makeFolder()
    const asked = spawnSync(process.execPath, [...pretend, launcher, 'config', '--store', folder.file('p.db')])
    assert.deepEqual([asked.status, asked.stderr.toString()], [0, ''])
    assert.match(asked.stdout.toString(), /^store .*p\.db /m)
    assert.equal(spawnSync(process.execPath, [...pretend, launcher, 'serve', '--prot']).status, 2)
    await using server = await startServer(folder.file('p.db'), { before: pretend })
    assert.equal((await fetch(`${server.url}/livez`)).status, 200)
    assert.equal(await server.stop('SIGTERM'), 0)
    assert.match(server.output.stdout, /serverStopped/)
  })

  test('help that cannot be written is a failure', { skip: !existsSync('/dev/full') && 'no /dev/full' }, () => {
    for (const flag of ['--help', '--version']) {
      const command = `"${process.execPath}" "${launcher}" ${flag} > /dev/full`
      const { status, stderr } = spawnSync('sh', ['-c', command], { encoding: 'utf8' })
      assert.equal(status, 1)
      assert.match(stderr, /^plantstore: the output could not be written: ENOSPC.*\n$/)
    }
  })

  test('a reader that goes away does not make the program fail', () => {
    const script = `"${process.execPath}" "${launcher}" --help | true`
    const { status, stderr } = spawnSync('sh', ['-c', script], { encoding: 'utf8' })
    assert.equal(status, 0)
    assert.equal(stderr, '')
  })
})

test('a table has its columns below each other, also with more rows than a call has arguments', () => {
  const plain = [
    ['ID', 'TAG', 'NAME'],
    ['12', 'a b', 'c'],
  ]
  assert.equal(formatTable(plain), 'ID  TAG  NAME\n12  a b  c\n')
  const many = Array.from({ length: 200_000 }, (_, id) => [String(id), 'n'])
  assert.equal(formatTable(many).split('\n').length, 200_001)
})

describe('the text of somebody else', () => {
  test('cannot make a terminal obey, add lines or turn what follows around', () => {
    const nasty = 'a\u001b[2Jb\u0007c\rd\u009be\u2028f\u202egnp.exe\u202c\u2066h\u2069'
    assert.equal(withoutControls(nasty), 'a�[2Jb�c�d�e�f�gnp.exe��h�')
  })

  test('stays as it is in any language', () => {
    for (const text of ['Φοίνιξ', 'שרך\u200f', 'نخلة\u200c', '🌿\u200d🌱', 'é'])
      assert.equal(withoutControls(text), text)
  })
})
