// The structure of the code, such as which room may import which (docs/ARCHITECTURE.md).

import assert from 'node:assert/strict'
import { glob, readFile } from 'node:fs/promises'
import { dirname, join, normalize } from 'node:path'
import { describe, test } from 'node:test'
import { root } from './support/readme.ts'

const settings = ['config.ts', 'limits.ts']
/** What a program sees of the process that it runs in. */
const surroundings = ['terminal.ts', 'package.ts']

/**
 * What each room may import from: other rooms, and files of src/ itself. The rooms of src/ have their names without it;
 * client/ and verify/ stand beside it, and know nothing of it. A room within a room is a room of its own: `http`
 * knows nothing of `http/wire`.
 */
const table: Readonly<Record<string, readonly string[]>> = {
  domain: [],
  json: ['domain'],
  contract: ['domain', 'json', 'package.ts'],
  client: [],
  'http/wire': ['domain', 'http', 'limits.ts'],
  http: ['domain', 'json', 'contract', 'limits.ts'],
  'http/pages': ['domain', 'contract', 'http', 'package.ts'],
  identity: ['domain', 'limits.ts'],
  store: ['domain', 'store/sqlite', 'store/postgres', 'limits.ts'],
  'store/sqlite/file': ['domain', 'store', 'limits.ts'],
  'store/sqlite': ['domain', 'store', 'store/sqlite/file', 'limits.ts'],
  'store/postgres/connections': ['domain', 'store', 'limits.ts'],
  'store/postgres': ['domain', 'store', 'store/postgres/connections', 'limits.ts'],
  observe: ['domain', 'limits.ts'],
  deliver: ['domain', 'limits.ts'],
  files: ['domain', 'json', 'contract', 'limits.ts'],
  verify: ['verify/rows'],
  'verify/rows': ['verify'],
  serve: [
    ...['domain', 'contract', 'http', 'http/wire', 'http/pages', 'identity', 'store', 'observe', 'deliver'],
    ...settings,
    ...surroundings,
  ],
  cli: [
    ...['domain', 'client', 'json', 'contract', 'files', 'http/wire', 'store', 'store/sqlite/file', 'observe'],
    ...['verify', 'serve', 'deliver'],
    ...settings,
    ...surroundings,
  ],
  embed: ['domain', 'client', 'contract', 'http', 'http/wire', 'store', 'store/sqlite', 'serve', ...settings],
  'main.ts': ['cli', 'limits.ts', 'terminal.ts'],
  'terminal.ts': ['domain', 'limits.ts'],
  'package.ts': [],
  'config.ts': ['domain'],
  'limits.ts': [],
}

/** npm packages, each in the one room that is to know it. */
const packages: Readonly<Record<string, readonly string[]>> = {
  contract: ['ajv', 'ajv-formats', 're2js', 'yaml'],
  verify: ['ajv', 'ajv-formats', 'yaml'],
  'verify/rows': ['yaml'],
  'http/wire': ['@fastify'],
  deliver: ['undici'],
  identity: ['jose', 'undici'],
  observe: ['prom-client'],
  'store/postgres/connections': ['pg', 'pgpass'],
  'store/postgres': ['pg'],
  cli: ['commander'],
}

interface SourceFile {
  readonly path: string
  readonly room: string
  readonly text: string
  readonly imports: readonly string[]
}

const files: readonly SourceFile[] = await Array.fromAsync(
  glob('{src,client,verify}/**/*.ts', { cwd: root }),
  async (file) => {
    const text = await readFile(join(root, file), 'utf8')
    const path = withoutSource(file)
    const imports = [...text.matchAll(/^(?:import|export) (?:[^'"]*? from )?'([^']+)'|\bimport\('([^']+)'\)/gm)]
    return { path, text, room: roomOf(path), imports: imports.map(([, first, second]) => first ?? second ?? '') }
  },
)

/** Those that no program wrote. */
const writtenFiles = files.filter(
  ({ path }) => !['client/schemas.ts', 'contract/compiled.ts', 'contract/types.ts'].includes(path),
)

/** Those of the pages. */
const scripts = await Array.fromAsync(glob('*.ts', { cwd: join(root, 'site') }), async (name) => {
  return { path: `site/${name}`, text: await readFile(join(root, 'site', name), 'utf8') }
})

describe('the architecture', () => {
  test('every file is in a room of the table', () => {
    assert.ok(files.length > 20)
    for (const { path, room } of files) assert.ok(room in table, path)
  })

  test('a room imports only what the table lets it', () => {
    const wrong = files.flatMap(({ path, room, imports }) =>
      targetsOf({ path, imports })
        .filter((target) => roomOf(target) !== room && table[room]?.includes(roomOf(target)) !== true)
        .map((target) => `${path} imports ${target}`),
    )
    assert.deepEqual(wrong, [])
  })

  test('no files import each other in a circle, be it types alone', () => {
    const circles = circlesOf(new Map(files.map((file) => [file.path, targetsOf(file)])))
    assert.deepEqual(circles, [], `circles: ${circles.join('; ')}`)
  })

  test('a room of more than twelve files says why', async () => {
    const document = await readFile(join(root, 'docs/ARCHITECTURE.md'), 'utf8')
    for (const [room, inRoom] of Map.groupBy(files, (file) => file.room)) {
      if (inRoom.length > 12) assert.ok(document.includes(`\n- **\`${room}/\`**: `), room)
    }
  })

  test('the lines that the document names have what it names', async () => {
    const document = await readFile(join(root, 'docs/ARCHITECTURE.md'), 'utf8')
    const named = [...document.matchAll(/`([\w/-]+\.ts):(\d+)` \(`([^`]+)`\)/g)]
    assert.ok(named.length > 5)
    for (const [, path = '', line, text = ''] of named) {
      const lines = files.find((file) => file.path === `store/${path}`)?.text.split('\n') ?? []
      const there = lines.findIndex((each) => each.includes(text)) + 1
      assert.ok(lines[Number(line) - 1]?.includes(text), `${path}:${line} has no ${text}; line ${there} has it`)
    }
  })

  test('a package is known to the rooms that need it', () => {
    for (const { path, room, imports } of files) {
      for (const target of imports.filter((name) => !/^(\.|node:)/.test(name))) {
        const name = target.split('/')[0] ?? ''
        assert.ok(packages[room]?.includes(name), `${path} imports ${target}`)
      }
    }
  })

  test('only main.ts and runtime.ts touch the process, and no file the console', () => {
    for (const { path, text: all } of files) {
      const text = all.replace("import { nextTick } from 'node:process'\n", '')
      if (path !== 'main.ts' && path !== 'embed/runtime.ts')
        assert.doesNotMatch(withoutComments(text), /\bprocess\.|= process\b|\bnode:process\b|\bglobalThis\b/, path)
      assert.doesNotMatch(text, /\bconsole\./, path)
    }
  })

  test('only the store knows SQL', () => {
    for (const { path, room, text } of files) {
      if (room.startsWith('store')) continue
      assert.doesNotMatch(text, /node:sqlite|\b(SELECT|INSERT|UPDATE|DELETE FROM|PRAGMA) /, path)
    }
  })

  test('a file opens by saying what it is in charge of', () => {
    for (const { path, text } of [...files, ...scripts]) assert.match(text, /^\/\/ /, path)
  })

  test('a file has at most 500 lines', () => {
    assert.ok(scripts.length > 10)
    const long = [...writtenFiles, ...scripts]
      .map(({ path, text }) => ({ path, lines: text.split('\n').length - 1 }))
      .filter(({ lines }) => lines > 500)
    assert.deepEqual(long, [])
  })

  test('a function has at most 70 lines', () => {
    for (const { path, text } of writtenFiles) {
      for (const { name, lines } of functionsOf(text)) assert.ok(lines <= 70, `${path}: ${name} has ${lines} lines`)
    }
  })
})

/** The files that a file imports. */
function targetsOf({ path, imports }: Pick<SourceFile, 'path' | 'imports'>): string[] {
  const folder = dirname(/^(?:client|verify)\//.test(path) ? path : `src/${path}`)
  return imports.filter((name) => name.startsWith('.')).map((name) => withoutSource(normalize(join(folder, name))))
}

function withoutSource(path: string): string {
  return path.replace(/^src\//, '')
}

/** The shortest circle through each file that is in one, every circle once. */
function circlesOf(imports: ReadonlyMap<string, readonly string[]>): string[] {
  const circles = [...imports.keys()].flatMap((start) => {
    const paths: string[][] = [[start]]
    const seen = new Set<string>()
    for (const path of paths) {
      for (const target of imports.get(path.at(-1) ?? '') ?? []) {
        if (target === start) return [startingAtLeast(path)]
        if (seen.has(target)) continue
        seen.add(target)
        paths.push([...path, target])
      }
    }
    return []
  })
  return [...new Set(circles)].sort()
}

/** A circle as text, beginning with its first file by name, so that it is the same wherever it was entered. */
function startingAtLeast(circle: readonly string[]): string {
  const at = circle.indexOf(circle.toSorted()[0] ?? '')
  const turned = [...circle.slice(at), ...circle.slice(0, at)]
  return [...turned, turned[0]].join(' -> ')
}

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')
}

/** The folder of a file; a file of src/ itself is a room. */
function roomOf(path: string): string {
  return path.includes('/') ? dirname(path) : path
}

const signature = /^( *)(?:export )?(?:async |static |private )*(?:function )?(#?\w+)(?:<.*>)?\(.*$/
const isControl = /^(if|for|while|switch|catch|return)$/

/** Functions and methods, also nested ones, by the indentation that the formatter gives their first and last lines. */
function functionsOf(text: string): { readonly name: string; readonly lines: number }[] {
  const lines = text.split('\n')
  return lines.flatMap((line, last) => {
    // A signature of several lines begins where its indentation does.
    const indentation = /^( *)\).* \{$/.exec(line)?.[1]
    const isFirst = new RegExp(`^${indentation}[^ ]`)
    const start = indentation === undefined ? last : lines.slice(0, last).findLastIndex((each) => isFirst.test(each))
    const [, indent, name = ''] = signature.exec(lines[start] ?? '') ?? []
    const isFunction = line.endsWith('{') && !line.endsWith('=> {') && !isControl.test(name)
    if (indent === undefined || !isFunction) return []
    return [{ name, lines: lines.slice(start).indexOf(`${indent}}`) + 1 }]
  })
}
