// `npm run clients` generates clients from the document of a server in a temporary folder, and calls the server with
// them. Each client must behave as docs/clients.md says. The generators come from npm and PyPI at the versions below,
// and are installed only in the temporary folder.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { makeFolder } from '../test/support/folder.ts'
import { startServer } from '../test/support/program.ts'

/** A generator, and the file of scripts/clients that tests its client. */
interface Generator {
  readonly name: string
  readonly program: string
  /** Generates a client in a folder with the test program and openapi.json, and runs the program. */
  run(folder: string, environment: NodeJS.ProcessEnv): Promise<void>
}

const stepMsMax = 120_000
const programs = fileURLToPath(new URL('clients', import.meta.url))

const generators: readonly Generator[] = [
  {
    name: 'openapi-typescript 7.13.0 with openapi-fetch 0.17.0',
    program: 'openapi-typescript.ts',
    async run(folder, environment) {
      await npmInstall(folder, [
        'openapi-typescript@7.13.0',
        'openapi-fetch@0.17.0',
        'typescript@5.9.3',
        '@types/node@26',
      ])
      await step(folder, 'npm', ['exec', '--no', '--', 'openapi-typescript', 'openapi.json', '-o', 'rounding.d.ts'])
      await step(folder, process.execPath, ['exact.mjs'])
      await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: [this.program] }))
      await step(folder, 'npm', ['exec', '--no', '--', 'tsc'])
      await step(folder, process.execPath, [this.program], environment)
    },
  },
  {
    name: 'orval 8.30.0 with zod 4.6.7',
    program: 'orval.ts',
    async run(folder, environment) {
      await npmInstall(folder, ['orval@8.30.0', 'zod@4.6.7'])
      await step(folder, 'npm', ['exec', '--no', '--', 'orval', '--config', 'orval.config.mjs'])
      await step(folder, process.execPath, [this.program], environment)
    },
  },
  {
    name: '@hey-api/openapi-ts 0.99.0 with zod 4.6.7',
    program: 'hey-api.ts',
    async run(folder, environment) {
      await npmInstall(folder, ['@hey-api/openapi-ts@0.99.0', 'zod@4.6.7', 'typescript@5.9.3'])
      await step(folder, 'npm', [
        ...['exec', '--no', '--', 'openapi-ts', '-i', 'openapi.json', '-o', 'generated', '-p', 'zod'],
      ])
      await step(folder, process.execPath, [this.program], environment)
    },
  },
  {
    name: 'openapi-python-client 0.29.1',
    program: 'openapi-python-client.py',
    async run(folder, environment) {
      await step(folder, 'python3', ['-m', 'venv', 'venv'])
      const bin = join(folder, 'venv', process.platform === 'win32' ? 'Scripts' : 'bin')
      await step(folder, join(bin, 'pip'), ['install', '--quiet', 'openapi-python-client==0.29.1'])
      await step(folder, join(bin, 'openapi-python-client'), [
        ...['generate', '--path', 'openapi.json', '--meta', 'none', '--output-path', 'plant_store'],
      ])
      await step(folder, join(bin, 'python'), [this.program], environment)
    },
  },
]

const compilerOptions = {
  strict: true,
  target: 'es2024',
  module: 'nodenext',
  types: ['node'],
  allowImportingTsExtensions: true,
  erasableSyntaxOnly: true,
  noEmit: true,
}

// Exiting also stops the server.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1))

process.exitCode = await main()

async function main(): Promise<number> {
  let failures = 0
  for (const generator of generators) {
    say(`${generator.name}:`)
    try {
      await tryOut(generator)
    } catch (error) {
      failures += 1
      say(`  FAILED: ${error instanceof Error ? error.message : error}`)
    }
  }
  say(
    failures === 0
      ? 'all clients match docs/clients.md'
      : `${failures} of ${generators.length} differ from docs/clients.md`,
  )
  return failures === 0 ? 0 : 1
}

async function tryOut(generator: Generator): Promise<void> {
  await using folder = await makeFolder()
  await using server = await startServer(folder.file('plants.db'))
  const own = folder.file('client')
  await cp(programs, own, { recursive: true })
  const served = await fetch(`${server.url}/openapi.json`)
  await writeFile(join(own, 'openapi.json'), await served.text())
  await generator.run(own, { PLANTS_TOKEN: server.token })
}

/** Install scripts of packages do not run. */
async function npmInstall(folder: string, packages: readonly string[]): Promise<void> {
  await writeFile(join(folder, 'package.json'), '{"private":true,"type":"module"}')
  await step(folder, 'npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--save-exact', ...packages])
}

/** Runs a command. Shows the output of the programs of scripts/clients, and that of a command that fails. */
async function step(
  folder: string,
  command: string,
  args: readonly string[],
  environment?: NodeJS.ProcessEnv,
): Promise<void> {
  const child = spawn(command, args, {
    cwd: folder,
    env: { ...process.env, ...withNodeFirst(), SCARF_ANALYTICS: 'false', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: stepMsMax,
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  const [status] = await once(child, 'close')
  if (environment !== undefined || status !== 0) say(output.trimEnd().replaceAll(/^/gm, '  '))
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} exited with ${status}`)
}

/** Lets the generators run on the same Node.js as this script. */
function withNodeFirst(): NodeJS.ProcessEnv {
  return { PATH: `${dirname(process.execPath)}:${process.env['PATH']}` }
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
