// The program beside its dependencies alone, as those have it who install the package and nothing else.

import { cp, mkdir, readFile, symlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Folder, makeFolder } from './folder.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Makes a folder with the program, whose launcher is `bin/plantstore.js`. */
export async function installAlone(): Promise<Folder> {
  const folder = await makeFolder()
  const { dependencies } = JSON.parse(await readFile(`${root}/package.json`, 'utf8'))
  for (const file of ['package.json', 'openapi.yaml', 'openapi.json', 'bin', 'src', 'site', 'examples']) {
    await cp(`${root}/${file}`, folder.file(file), { recursive: true })
  }
  for (const name of Object.keys(dependencies)) {
    const link = folder.file(`node_modules/${name}`)
    await mkdir(dirname(link), { recursive: true })
    await symlink(`${root}/node_modules/${name}`, link)
  }
  return folder
}
