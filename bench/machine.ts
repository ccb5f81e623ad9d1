// The machine and the versions of a measurement.

import { readFile } from 'node:fs/promises'
import { cpus, release, totalmem, type } from 'node:os'
import { findGenerator } from './load.ts'

export function describeMachine(): string {
  const [cpu] = cpus()
  const gibibytes = (totalmem() / 1024 ** 3).toFixed(0)
  return `${cpus().length} cores of ${cpu?.model.trim()}, ${gibibytes} GiB, ${type()} ${release()}`
}

/** Versions by name: the service, its runtime, and the contenders. */
export async function findVersions(): Promise<Readonly<Record<string, string>>> {
  const [own, contenders] = await Promise.all(['../package.json', 'contenders/package.json'].map(readPackage))
  const { fastify } = own?.dependencies ?? {}
  const [generator = '', version = ''] = findGenerator().name.split(' ')
  return {
    plantstore: own?.version ?? '',
    node: process.versions.node,
    sqlite: process.versions['sqlite'] ?? '',
    ...(fastify !== undefined && { fastify }),
    ...contenders?.dependencies,
    [generator]: version,
  }
}

interface Package {
  readonly version?: string
  readonly dependencies: Readonly<Record<string, string>>
}

async function readPackage(file: string): Promise<Package> {
  return JSON.parse(await readFile(new URL(file, import.meta.url), 'utf8'))
}
