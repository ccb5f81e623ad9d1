// A checkout in use: npm installs all that it needs; neither the linter nor git sees files that a user exports into it.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type Folder, makeFolder } from './support/folder.ts'
import { root } from './support/readme.ts'

const biome = fileURLToPath(import.meta.resolve('@biomejs/biome/bin/biome'))

/** A folder with the settings of the checkout and nothing else. */
async function makeCheckout(): Promise<Folder> {
  const folder = await makeFolder()
  for (const file of ['biome.json', '.gitignore']) await cp(`${root}/${file}`, folder.file(file))
  await symlink(`${root}/node_modules`, folder.file('node_modules'))
  await mkdir(folder.file('src'))
  return folder
}

const check = (folder: Folder): number | null =>
  spawnSync(process.execPath, [biome, 'check', '--error-on-warnings'], { cwd: folder.path }).status

describe('a checkout', () => {
  test('is checked in its own folders alone', async () => {
    await using folder = await makeCheckout()
    await writeFile(folder.file('src/fine.ts'), 'export const fine = 1\n')
    await writeFile(folder.file('tokens.json'), '[{"id":1,  "name": "not formatted" }')
    await mkdir(folder.file('mine'))
    await writeFile(folder.file('mine/script.js'), 'var a = 1;;')
    assert.equal(check(folder), 0)
    await writeFile(folder.file('src/wrong.ts'), 'var a = 1;;')
    assert.equal(check(folder), 1)
  })

  test('lets npm run the scripts of the packages that need them, on every machine', async () => {
    const read = async (name: string) => JSON.parse(await readFile(`${root}/${name}`, 'utf8'))
    const { packages } = await read('package-lock.json')
    // Redocly's own dependencies would report that they were installed.
    assert.ok(!Object.keys(packages).some((name) => name.endsWith('@scarf/scarf')))
    const scripted = Object.keys(packages).filter((path) => packages[path].hasInstallScript)
    const names = scripted.map((path) => path.replace(/^.*node_modules\//, ''))
    assert.ok(names.includes('node'))
    const { allowScripts } = await read('package.json')
    assert.deepEqual(Object.keys(allowScripts).toSorted(), names.toSorted())
  })

  test('ignores what the commands of docs/commands.md write', {
    skip: spawnSync('git', ['--version']).status !== 0 && 'there is no git here',
  }, async () => {
    await using folder = await makeCheckout()
    spawnSync('git', ['init', '--quiet'], { cwd: folder.path })
    const text = await readFile(`${root}/docs/commands.md`, 'utf8')
    const named = [...text.matchAll(/plantstore (?:export|backup) (\w\S*)/g)].map(([, file]) => file ?? '')
    assert.ok(named.length >= 3, named.join())
    const written = ['data/plants.db', 'data/restored.db', 'rejects.ndjson', 'rejects.csv', 'tokens.json']
    const own = ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json', 'biome.json', 'README.md']
    for (const [names, expected] of [
      [[...named, ...written, 'isolate-0x1-v8.log'], 0],
      [[...own, 'examples/houseplants.ndjson'], 1],
    ] as const) {
      for (const name of names) {
        const { status } = spawnSync('git', ['check-ignore', '--quiet', '--no-index', name], { cwd: folder.path })
        assert.equal(status, expected, name)
      }
    }
  })
})
