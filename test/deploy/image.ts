// Runs the steps of deploy/Dockerfile without Docker: each stage is a folder, entered with chroot.

import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Folder } from '../support/folder.ts'
import { root } from '../support/readme.ts'
import { readDeployed } from './files.ts'

export interface Instruction {
  readonly name: string
  readonly text: string
}

export interface Image {
  /** Its root. */
  readonly path: string
  /** Where its commands run. */
  readonly place: string
  /** `uid:gid`. */
  readonly user: string
  readonly environment: NodeJS.ProcessEnv
  readonly command: readonly string[]
  readonly healthCheck: readonly string[]
}

/** What stands for a command of the file that takes its packages from the registry. */
export type Installs = Readonly<Record<string, (folder: string) => void>>

export function readInstructions(): readonly Instruction[] {
  const lines = readDeployed('Dockerfile')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
  return lines.map((line) => {
    const [, name = '', text = ''] = /^([A-Z]+) (.*)$/.exec(line) ?? []
    if (name === '') throw new Error(`not an instruction: ${line}`)
    return { name, text }
  })
}

/** Goes through the file, and gives the last of its images. */
export function buildImage(folder: Folder, installs: Installs): Image {
  const context = folder.file('context')
  copyContext(context)
  const stages = new Map<string, string>()
  const environment: NodeJS.ProcessEnv = {
    PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    HOME: '/tmp',
    // It asks the registry.
    npm_config_update_notifier: 'false',
  }
  let [path, place, user, command, healthCheck] = ['', '/', '0:0', [] as string[], [] as string[]]
  for (const { name, text } of readInstructions()) {
    switch (name) {
      case 'FROM':
        path = folder.file(`stage-${stages.size}`)
        makeRoot(path)
        stages.set(/ AS (\w+)$/.exec(text)?.[1] ?? '', path)
        break
      case 'WORKDIR':
        place = text
        mkdirSync(join(path, place), { recursive: true })
        break
      case 'COPY': {
        const words = text.split(' ')
        const from = words[0]?.startsWith('--from=')
          ? stages.get(words.shift()?.slice('--from='.length) ?? '')
          : context
        const target = join(path, place, words.pop() ?? '')
        for (const each of words) {
          const source = join(from ?? 'no such stage', each)
          // As Docker does, what is in a folder is copied, not the folder.
          const isInto = words.length > 1
          const place = isInto ? join(target, basename(each)) : target
          cpSync(source, place, { recursive: true, verbatimSymlinks: true })
        }
        break
      }
      case 'RUN': {
        const install = installs[text]
        if (install !== undefined) install(join(path, place))
        else runIn(path, place, text, environment)
        break
      }
      case 'USER':
        user = text
        break
      case 'ENV':
        for (const pair of text.split(' ')) Object.assign(environment, Object.fromEntries([pair.split('=', 2)]))
        break
      case 'CMD':
        command = JSON.parse(text)
        break
      case 'HEALTHCHECK':
        healthCheck = JSON.parse(text.replace(/^.*? CMD /, ''))
        break
      case 'VOLUME':
      case 'EXPOSE':
        break
      default:
        throw new Error(`what does ${name} do?`)
    }
  }
  return { path, place, user, environment, command, healthCheck }
}

/** Starts an image: its command is process 1, unprivileged, and can write to volumes only. */
export function runImage(
  { path, place, user, environment, command }: Image,
  more: NodeJS.ProcessEnv = {},
): ChildProcessWithoutNullStreams {
  const [uid = '', gid = ''] = user.split(':')
  const volumes = readInstructions().flatMap(({ name, text }) => (name === 'VOLUME' ? [text] : []))
  const steps = [
    ...mounts(path),
    ...volumes.map((volume) => `mount --bind '${path}${volume}' '${path}${volume}'`),
    `mount -o remount,ro,bind '${path}'`,
    `exec chroot '${path}' setpriv --reuid ${uid} --regid ${gid} --clear-groups --no-new-privs --bounding-set=-all env --chdir=${place} "$@"`,
  ]
  const flags = ['--mount', '--propagation', 'private', '--pid', '--fork', '--kill-child']
  const args = [...flags, 'sh', '-ec', steps.join('\n'), 'sh', ...command]
  return spawn('unshare', args, { env: { ...environment, ...more } })
}

/** The process of this machine that is the first one of an image. */
export function firstProcess({ pid }: ChildProcessWithoutNullStreams): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim())
}

/** Runs a command beside the first process of a running image, as its user; gives its status. */
export function execIn({ place, user, environment }: Image, first: number, command: readonly string[]) {
  const [uid = '', gid = ''] = user.split(':')
  const enter = ['--target', String(first), '--mount', '--pid', `--root=/proc/${first}/root`]
  const as = ['setpriv', '--reuid', uid, '--regid', gid, '--clear-groups', 'env', `--chdir=${place}`]
  return spawnSync('nsenter', [...enter, ...as, ...command], { env: environment, encoding: 'utf8' })
}

/** What the ignore file lets through: `*`, and lines that take names out of it again. */
function copyContext(target: string): void {
  const [all, ...names] = readDeployed('Dockerfile.dockerignore')
    .split('\n')
    .filter((line) => !/^(#|$)/.test(line))
  if (all !== '*' || !names.every((name) => /^![\w.-]+$/.test(name)))
    throw new Error('not a list of what is let through')
  mkdirSync(target)
  for (const name of names.map((each) => each.slice(1))) {
    cpSync(join(root, name), join(target, name), { recursive: true })
  }
}

/** The folders of this machine that have its programs. */
const machineFolders = ['bin', 'sbin', 'lib', 'lib64', 'etc']

function makeRoot(path: string): void {
  for (const name of [...machineFolders, 'proc', 'dev', 'tmp', 'usr', 'usr/local/bin']) {
    if (!machineFolders.includes(name) || existsSync(`/${name}`)) mkdirSync(join(path, name), { recursive: true })
  }
  for (const name of readdirSync('/usr')) mkdirSync(join(path, 'usr', name), { recursive: true })
  chmodSync(join(path, 'tmp'), 0o1777)
  link(realpathSync(process.execPath), join(path, 'usr/local/bin/node'))
}

function mounts(path: string): readonly string[] {
  const own = readdirSync('/usr').filter((name) => name !== 'local')
  const bound = [...machineFolders.filter((name) => existsSync(`/${name}`)), 'dev', ...own.map((name) => `usr/${name}`)]
  return [
    `mount --bind '${path}' '${path}'`,
    ...bound.map((name) => `mount --bind '${realpathSync(`/${name}`)}' '${path}/${name}'`),
    `mount -t proc proc '${path}/proc'`,
  ]
}

function runIn(path: string, place: string, command: string, env: NodeJS.ProcessEnv): void {
  const steps = [...mounts(path), `exec chroot '${path}' sh -ec 'cd "$1" && eval "$2"' sh "$1" "$2"`]
  const flags = ['--mount', '--propagation', 'private', '--pid', '--fork', '--kill-child']
  const args = [...flags, 'sh', '-ec', steps.join('\n'), 'sh', place, command]
  const { status, stdout, stderr } = spawnSync('unshare', args, { env, encoding: 'utf8' })
  if (status !== 0) throw new Error(`RUN ${command} ended with ${status}:\n${stdout}${stderr}`)
}

/** The packages of this checkout instead of those that `npm ci` would get. */
export const ownPackages: Installs = {
  'npm ci --ignore-scripts': (folder) => link(join(root, 'node_modules'), join(folder, 'node_modules')),
  'npm ci --ignore-scripts --omit=dev': (folder) => {
    const { packages } = JSON.parse(readFileSync(`${root}/package-lock.json`, 'utf8')) as {
      packages: Record<string, { dev?: boolean; devOptional?: boolean; peer?: boolean }>
    }
    rmSync(join(folder, 'node_modules'), { recursive: true, force: true })
    for (const [path, { dev, devOptional, peer }] of Object.entries(packages)) {
      const isTop = /^node_modules\/(@[^/]+\/)?[^/]+$/.test(path)
      if (isTop && !dev && !devOptional && !peer) link(join(root, path), join(folder, path))
    }
  },
}

/** Copies a folder by links to its files where it can. Files that are linked may be replaced, but not written to. */
function link(source: string, target: string): void {
  mkdirSync(dirname(target), { recursive: true })
  for (const flags of ['-al', '-a']) {
    if (spawnSync('cp', [flags, source, target]).status === 0) return
    rmSync(target, { recursive: true, force: true })
  }
  throw new Error(`cannot copy ${source}`)
}
