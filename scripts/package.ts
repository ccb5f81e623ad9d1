// `npm run package` creates the package and uses it in empty folders with every supported Node.js: the server, the
// example of the client, and tests with node:test, Vitest, Jest and Mocha, also installed by other package managers. It
// also follows the installation of
// docs/operating.md. All tools come from npm at the versions below, and are installed only in temporary folders.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { makeFolder } from '../test/support/folder.ts'
import { loadScripts } from '../test/support/site.ts'

const nodes = ['24.21.0', '26.10.0'] as const
/** The last npm that runs all install scripts, and the first that runs only those that a package.json allows. */
const npms = ['11.19.1', '12.2.0'] as const
const runners = ['vitest@5.1.1', 'jest@30.5.2', 'mocha@12.0.3'] as const
/** Each installs the package, and runs its tests with node:test. Yarn is its first version, which later ones imitate. */
const managers = ['pnpm@12.21.0', 'yarn@1.22.22', 'bun@1.3.3'] as const
const checkers = ['publint@0.3.25', '@arethetypeswrong/cli@0.18.5', 'typescript@5.9.3'] as const
const root = fileURLToPath(new URL('..', import.meta.url))
const examples = join(root, 'examples')

/** Must compile unchanged. */
const typed = `
import { startPlantStore, type TestPlantStore } from 'plantstore'
import { PlantStoreClient, PlantStoreError, type Plant, type Tagged } from 'plantstore/client'
import { rowsOf, verify, type VerifyReport } from 'plantstore/verify'
await using store: TestPlantStore = await startPlantStore({ plants: [{ id: 1, name: 'Rose' }] })
await store.fail({ operation: 'getPlant', status: 503, times: undefined })
const tag: string | undefined = undefined
await store.client.createPlant({ id: 2, name: 'Lily', tag })
const report: VerifyReport = await verify({ ...store, only: ({ subject }) => subject === 'lists' })
console.log(report.counts.failed, rowsOf('specified').length)
const plant: Tagged<Plant> = await new PlantStoreClient(store).getPlant('1')
const id: bigint = plant.id
for await (const { name } of store.client.listPlants({ after: id })) console.log(name satisfies string)
interface Tree { readonly id: bigint; readonly name: string; readonly height: number }
const trees = new PlantStoreClient<Tree>(store)
await trees.createPlant({ id: 3, name: 'Oak', height: 30 })
console.log((await trees.getPlant(3)).height satisfies number)
export const statusOf = (error: PlantStoreError): number | undefined => error.status
`

/** What `npm pack` says of a package. */
interface Packed {
  readonly filename: string
  readonly files: readonly { readonly path: string }[]
}

await using scratch = await makeFolder()
const packed: Packed = JSON.parse(npm(root, 'pack', '--json', '--pack-destination', scratch.path)).at(0)
const tarball = join(scratch.path, packed.filename)
say(`the package: ${((await stat(tarball)).size / 1024).toFixed(0)} kB`)
await check()
for (const version of nodes) await use(version)
for (const manager of managers) await installWith(manager)
for (const version of npms) await installForProduction(version)
say('the package works as documented')

/** Checks the exports of the package and their types. */
async function check(): Promise<void> {
  // Node.js runs no TypeScript below node_modules, and browsers run none at all.
  const sources = packed.files.filter(({ path }) => /(?<!\.d)\.ts$/.test(path))
  if (sources.length > 0) throw new Error(`the package has TypeScript: ${sources.map(({ path }) => path).join(', ')}`)
  const readme = await readFile(join(root, 'README.md'), 'utf8')
  const links = [...readme.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, path = '']) => path)
  const dead = links.filter((link) => !packed.files.some(({ path }) => path === link || path.startsWith(`${link}/`)))
  if (dead.length > 0) throw new Error(`links of README.md lead nowhere in the package: ${dead.join(', ')}`)
  const folder = await makeProject('checked', [tarball, ...checkers])
  run(folder, process.execPath, 'node_modules/publint/src/cli.js', 'node_modules/plantstore', '--strict')
  // Every supported Node.js has `exports` and ES modules; the document in YAML is not a module.
  const flags = ['--profile', 'esm-only', '--exclude-entrypoints', 'openapi.yaml']
  run(folder, process.execPath, 'node_modules/@arethetypeswrong/cli/dist/index.js', tarball, ...flags)
  await writeFile(join(folder, 'use.ts'), typed)
  const options = [
    '--strict',
    '--exactOptionalPropertyTypes',
    '--module',
    'nodenext',
    '--target',
    'es2024',
    '--lib',
    'es2024,esnext.disposable,dom',
  ]
  run(folder, process.execPath, 'node_modules/typescript/bin/tsc', '--noEmit', ...options, 'use.ts')
  say('publint, @arethetypeswrong/cli and TypeScript report no problems')
}

/** Uses the package in a folder that contains only a Node.js. */
async function use(version: string): Promise<void> {
  const tools = await makeProject(`node-${version}`, [`node@${version}`])
  const bin = join(tools, 'node_modules/node/bin')
  const environment = { ...process.env, PATH: `${bin}:${dirname(process.execPath)}:${process.env['PATH']}` }
  const startedMs = performance.now()
  const folder = await makeProject(`used-${version}`, [tarball])
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)
  const { packages, mebibytes } = await weigh(join(folder, 'node_modules'))
  say(`Node.js ${version}: ${packages} packages, ${mebibytes.toFixed(0)} MiB, installed in ${seconds} s`)
  await serve(folder, environment)
  await cp(join(examples, 'testing'), folder, { recursive: true })
  npm(folder, 'install', '--save-dev', ...runners)
  await writeFile(join(folder, 'jest.config.json'), '{"transform":{},"testMatch":["**/*.jest.test.js"]}')
  const node = join(bin, 'node')
  run(folder, node, '--test', 'garden.node.test.js', 'verify.node.test.js')
  run(folder, node, 'node_modules/vitest/vitest.mjs', 'run', 'garden.vitest.test.js', 'verify.vitest.test.js')
  run(folder, node, '--experimental-vm-modules', 'node_modules/jest/bin/jest.js')
  run(folder, node, 'node_modules/mocha/bin/mocha.js', 'garden.mocha.test.js')
  say(`Node.js ${version}: tests with node:test, Vitest, Jest and Mocha pass`)
}

/** Installs the package with another package manager, and runs its tests with this Node.js. */
async function installWith(manager: (typeof managers)[number]): Promise<void> {
  const [name = '', version] = manager.split('@')
  const tools = await makeProject(`tools-${name}`, [manager])
  const folder = join(scratch.path, `with-${name}`)
  await mkdir(folder)
  await writeFile(join(folder, 'package.json'), '{"name":"garden","private":true,"type":"module"}')
  run(folder, join(tools, 'node_modules/.bin', name), 'add', `file:${tarball}`)
  await cp(join(examples, 'testing'), folder, { recursive: true })
  run(folder, process.execPath, '--test', 'garden.node.test.js', 'verify.node.test.js')
  say(`${name} ${version} installs the package, and its tests pass`)
}

/** Runs step 1 of "In production", except `npm ci && npm pack`, which created the tarball, and `useradd`. */
async function installForProduction(version: string): Promise<void> {
  const document = await readFile(join(root, 'docs/operating.md'), 'utf8')
  const [, step = ''] = /^\*\*1\. The program\*\*.*?```sh\n(.*?)```/ms.exec(document) ?? []
  const place = join(scratch.path, `opt-npm-${version}`)
  const commands = step
    .replaceAll(/^(?:npm ci && npm pack|sudo useradd .*)\n/gm, '')
    .replaceAll('sudo ', '')
    .replaceAll('/opt/plantstore', place)
  const tools = await makeProject(`npm-${version}`, [`npm@${version}`])
  const env = { ...process.env, PATH: `${join(tools, 'node_modules/.bin')}:${process.env['PATH']}` }
  const output = execFileSync('sh', ['-ec', commands], { cwd: scratch.path, env, stdio: ['ignore', 'pipe', 'pipe'] })
  // The PATH of the unit.
  const own = { PATH: `${join(place, 'node_modules/.bin')}:/usr/bin:/bin` }
  const node = execFileSync('node', ['--version'], { env: own }).toString()
  const program = execFileSync('plantstore', ['--version'], { env: own }).toString()
  if (!step.includes(`node@${node.trim().slice(1)}`))
    throw new Error(`Node.js ${node} is not the version of step 1:\n${output}`)
  say(`npm ${version}: step 1 of "In production" installs plantstore ${program.trim()} and Node.js ${node.trim()}`)
}

/** Starts the server with npx and calls it with the example of the client. */
async function serve(folder: string, env: NodeJS.ProcessEnv): Promise<void> {
  // npx does not forward signals, so the process group is signalled.
  const args = ['plantstore', 'serve', '--port', '0', '--first-token-file', 'first-token']
  const server = spawn('npx', args, { cwd: folder, env, detached: true })
  try {
    const url = await urlOf(server)
    const token = (await readFile(join(folder, 'first-token'), 'utf8')).trim()
    await cp(join(examples, 'client.js'), join(folder, 'client.js'))
    const output = execFileSync('node', ['client.js', url], {
      cwd: folder,
      env: { ...env, PLANTSTORE_TOKEN: token },
    }).toString()
    if (!output.startsWith('9007199254740993n Monstera deliciosa houseplant\n409 ')) throw new Error(output)
    const { size } = await loadScripts(url)
    say(
      `  npx plantstore serves pages with ${size} scripts, and the example of the client prints ${JSON.stringify(output)}`,
    )
  } finally {
    process.kill(-(server.pid ?? 0), 'SIGTERM')
    await once(server, 'close')
  }
}

/** Waits until the server has announced that the first token is in its file. */
async function urlOf(server: ChildProcess): Promise<string> {
  let text = ''
  for await (const part of server.stderr ?? []) {
    text += part
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(text)?.[0]
    if (url !== undefined && text.includes('The first token')) return url
  }
  throw new Error(`the server did not start:\n${text}`)
}

async function makeProject(name: string, packages: readonly string[]): Promise<string> {
  const folder = join(scratch.path, name)
  await mkdir(folder)
  await writeFile(
    join(folder, 'package.json'),
    '{"private":true,"type":"module","allowScripts":{"node":true,"bun":true}}',
  )
  npm(folder, 'install', ...packages)
  return folder
}

async function weigh(folder: string): Promise<{ packages: number; mebibytes: number }> {
  const files = await readdir(folder, { recursive: true, withFileTypes: true })
  const sizes = files.map(async (file) => (file.isFile() ? (await stat(join(file.parentPath, file.name))).size : 0))
  const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
  const isPackage = /node_modules\/(?:@[^/]+\/)?[^/@.][^/]*$/
  const packages = files.filter((file) => file.isDirectory() && isPackage.test(join(file.parentPath, file.name)))
  return { packages: packages.length, mebibytes: bytes / 1024 / 1024 }
}

function npm(folder: string, ...args: readonly string[]): string {
  return execFileSync('npm', [...args, '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  }).toString()
}

/** Runs a program and shows its output only if it fails. */
function run(cwd: string, command: string, ...args: readonly string[]): void {
  try {
    execFileSync(command, args, { cwd, stdio: 'pipe' })
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { readonly stdout?: Buffer; readonly stderr?: Buffer }
    throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}${stderr}`)
  }
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}
