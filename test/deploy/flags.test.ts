// Compares the files of deploy/ and the documents with the program: commands, flags, variables, ports and paths.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { describe, test } from 'node:test'
import { parseAllDocuments } from 'yaml'
import { settings } from '../../src/config.ts'
import { runHere } from '../support/program.ts'
import { root } from '../support/readme.ts'
import { readDeployed } from './files.ts'
import { readInstructions } from './image.ts'

const commands = [
  ...['serve', 'config', 'import', 'export', 'backup', 'restore', 'check', 'verify', 'watch'],
  ...['token create', 'token list', 'token revoke', 'token rotate'],
]
/** Flags of other programs that the documents name. */
const foreignFlags = [
  // node, npm
  ...['--test', '--omit', '--prefix', '--ignore-scripts', '--save-dev', '--version'],
  // systemctl, systemd-analyze, journalctl, useradd
  ...['--now', '--full', '--unit', '--system', '--home-dir', '--shell', '--strict', '--lines'],
  // docker, kubectl, kubernetes-validate
  ...['--name', '--build', '--wait', '--from-literal', '--from-file', '--from'],
  // pg_dump, pg_restore, pg_isready
  ...['--format', '--file', '--clean', '--if-exists', '--single-transaction', '--dbname', '--host', '--username'],
  // journalctl, jq
  ...['--output', '--compact-output', '--raw-input', '--priority'],
  // node
  ...['--import'],
  // HEALTHCHECK
  ...['--interval', '--timeout', '--start-period', '--start-interval'],
]
const deployNames = readdirSync(`${root}/deploy`, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map(({ parentPath, name }) => relative(`${root}/deploy`, join(parentPath, name)))
const documents: ReadonlyMap<string, string> = new Map([
  ...deployNames.map((name) => [`deploy/${name}`, readDeployed(name)] as const),
  ...[
    'README.md',
    ...['commands', 'jwt', 'operating', 'postgresql', 'settings', 'testing'].map((name) => `docs/${name}.md`),
  ].map((name) => [name, readFileSync(`${root}/${name}`, 'utf8')] as const),
])

/** The flags of each command, as its help has them. */
const flagsOf: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  await Promise.all(
    commands.map(async (command) => {
      const { stdout } = await runHere([...command.split(' '), '--help'])
      const flags = new Set([...stdout.matchAll(/^ +(?:-\w, )?(--[a-z-]+)/gm)].map(([, flag = '']) => flag))
      return [command, flags] as const
    }),
  ),
)
const ownFlags = new Set([...flagsOf.values()].flatMap((flags) => [...flags]))

describe('deploy/ and the documents', () => {
  test('name only flags that there are', () => {
    const wrong = [...documents].flatMap(([name, text]) => unknownFlags(text).map((flag) => `${name}: ${flag}`))
    assert.deepEqual(wrong, [])
    const all = [...documents.values()].join('\n')
    for (const flag of foreignFlags)
      assert.match(all, new RegExp(`(?<![\\w-])${flag}(?![a-z-])`), `${flag} is not used`)
    assert.deepEqual(unknownFlags('start it with `--prot 3000`'), ['--prot'])
  })

  test('give each command flags of its own', () => {
    const wrong = [...documents].flatMap(([name, text]) => misusedFlags(text).map((use) => `${name}: ${use}`))
    assert.deepEqual(wrong, [])
    assert.deepEqual(misusedFlags('["plantstore", "serve", "--port", "1", "--force"]'), ['serve --force'])
    assert.deepEqual(misusedFlags('plantstore token create --name me --port 1'), ['token create --port'])
  })

  test('name only variables that there are', () => {
    const ofClients = ['PLANTSTORE_URL', 'PLANTSTORE_TOKEN']
    const known = [...Object.values(settings).map(({ environment }) => environment), ...ofClients]
    for (const [name, text] of documents) {
      for (const [variable] of text.matchAll(/\bPLANTSTORE_[A-Z_]+\b/g)) {
        assert.ok(known.includes(variable), `${name}: ${variable}`)
      }
    }
  })

  test('give settings values that the server takes', () => {
    let checked = 0
    for (const [name, text] of documents) {
      const values = [
        ...text.matchAll(/\b(PLANTSTORE_[A-Z_]+)(?:=|: )([^\s"',]+)/g),
        ...text.matchAll(/name: (PLANTSTORE_[A-Z_]+), value: "([^"]+)"/g),
      ]
      for (const [, variable, value = ''] of values) {
        const known = Object.values(settings).find(({ environment }) => environment === variable)
        if (known === undefined || value.includes('...') || value.includes('%')) continue
        assert.doesNotThrow(() => known.parse(value), `${name}: ${variable}=${value}`)
        checked += 1
      }
    }
    assert.ok(checked >= 8)
  })

  test('are all named in deploy/README.md, and those are all there', () => {
    const readme = readDeployed('README.md')
    const named = [...readme.matchAll(/^\| \[`([^`]+)`\]/gm)].map(([, name = '']) => name)
    assert.deepEqual(named.toSorted(), deployNames.filter((name) => name !== 'README.md').toSorted())
  })
})

interface Container {
  readonly env: readonly { readonly name: string; readonly value?: string }[]
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[]
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[]
  readonly lifecycle: { readonly preStop: { readonly exec: { readonly command: readonly string[] } } }
  readonly startupProbe: Probe
  readonly livenessProbe: Probe
  readonly readinessProbe: Probe
}

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string }
}

describe('kubernetes.yaml and compose.yaml', () => {
  const [deployment, service, budget] = parseAllDocuments(readDeployed('kubernetes.yaml')).map((each) => each.toJS())
  const { template } = deployment.spec
  const container: Container = template.spec.containers[0]
  const port = settings.port.defaultText

  test('ask the server at its own port for paths of its document', () => {
    const { paths } = JSON.parse(readFileSync(`${root}/openapi.json`, 'utf8'))
    const { startupProbe, livenessProbe, readinessProbe } = container
    const probed = [startupProbe, livenessProbe, readinessProbe].map(({ httpGet }) => httpGet.path)
    assert.deepEqual(probed, ['/livez', '/livez', '/readyz'])
    for (const { httpGet } of [startupProbe, livenessProbe, readinessProbe]) {
      assert.ok(httpGet.path in paths)
      assert.equal(container.ports.find(({ name }) => name === httpGet.port)?.containerPort, Number(port))
    }
    assert.equal(service.spec.ports[0].targetPort, 'http')
    for (const each of ['nginx.conf', 'haproxy.cfg', 'Dockerfile']) {
      for (const [path] of readDeployed(each).matchAll(/\/(?:livez|readyz)\b/g)) assert.ok(path in paths)
    }
  })

  test('select the pods that they make, and give them time to stop', () => {
    const { labels } = template.metadata
    const { spec } = deployment
    for (const selector of [spec.selector.matchLabels, service.spec.selector, budget.spec.selector.matchLabels])
      assert.deepEqual(selector, labels)
    const [, seconds] = container.lifecycle.preStop.exec.command
    // A stop takes up to two seconds.
    assert.ok(template.spec.terminationGracePeriodSeconds > Number(seconds) + 2)
    assert.equal(template.spec.enableServiceLinks, false, 'PLANTSTORE_PORT would be tcp://...')
    const metrics = container.env.find(({ name }) => name === 'PLANTSTORE_METRICS_LISTEN')?.value?.split(':')[1]
    assert.equal(container.ports.find(({ name }) => name === 'metrics')?.containerPort, Number(metrics))
  })

  test('know the database that they give the password to, by an authority that they are given', () => {
    const url = new URL(container.env.find(({ name }) => name === 'PLANTSTORE_STORE')?.value ?? '')
    assert.equal(url.searchParams.get('sslmode'), 'verify-full')
    const certificate = url.searchParams.get('sslrootcert') ?? ''
    const mount = container.volumeMounts.find(({ mountPath }) => mountPath === dirname(certificate))
    const volume = template.spec.volumes.find(({ name }: { name: string }) => name === mount?.name)
    const key = basename(certificate)
    assert.deepEqual(volume?.secret.items, [{ key, path: key }])
    const expected = new RegExp(`create secret generic ${volume.secret.secretName} .*--from-file=${key}`)
    assert.match(readDeployed('kubernetes.yaml'), expected)
  })

  test('have the user and the port of the image', () => {
    const of = (wanted: string): string | undefined => readInstructions().find(({ name }) => name === wanted)?.text
    const { runAsUser, runAsGroup } = template.spec.securityContext
    assert.equal(`${runAsUser}:${runAsGroup}`, of('USER'))
    assert.equal(of('EXPOSE'), port)
    const [compose] = parseAllDocuments(readDeployed('compose.yaml'), { merge: true }).map((each) => each.toJS())
    const { one, two, database } = compose.services
    assert.deepEqual([one.ports, two.ports], [[`127.0.0.1:3001:${port}`], [`127.0.0.1:3002:${port}`]])
    for (const server of [one, two]) {
      assert.equal(server.build.dockerfile, 'deploy/Dockerfile')
      assert.equal(server.environment.PGPASSWORD, database.environment.POSTGRES_PASSWORD)
      assert.equal(server.read_only, true)
      assert.ok('max-size' in server.logging.options && 'max-file' in server.logging.options)
    }
    const single = parseAllDocuments(readDeployed('compose-file.yaml'))[0]?.toJS().services.plantstore
    assert.deepEqual([single.ports, single.volumes], [[`127.0.0.1:${port}:${port}`], [`plants:${of('VOLUME')}`]])
    assert.deepEqual([single.build, single.logging], [one.build, one.logging])
    assert.equal(single.read_only, true)
  })
})

function unknownFlags(text: string): readonly string[] {
  const known = new Set([...ownFlags, ...foreignFlags])
  return [...text.matchAll(/(?<![\w-])--[a-z][a-z-]+/g)].map(([flag]) => flag).filter((flag) => !known.has(flag))
}

/** Flags behind a command that are not its own. */
function misusedFlags(text: string): readonly string[] {
  const plain = text.replaceAll('", "', ' ').replaceAll('npm start --', 'plantstore serve')
  const pattern = new RegExp(`\\bplantstore (${commands.join('|')})\\b([^\`\\n|;&#)\\]]*)`, 'g')
  return [...plain.matchAll(pattern)].flatMap(([, command = '', rest = '']) => {
    const known = flagsOf.get(command) ?? new Set()
    const flags = [...rest.matchAll(/(?<![\w-])--[a-z][a-z-]+/g)].map(([flag]) => flag)
    return flags.filter((flag) => !known.has(flag)).map((flag) => `${command} ${flag}`)
  })
}
