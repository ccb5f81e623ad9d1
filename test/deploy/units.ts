// The systemd units of deploy/, as an instance of a template resolves them, and what systemd would do with them.

import { chmodSync } from 'node:fs'
import { userInfo } from 'node:os'
import { stepsToOpen } from '../support/other-user.ts'
import { readDeployed } from './files.ts'

/** Values of a unit by their name, in their order. */
export type Unit = ReadonlyMap<string, readonly string[]>

export const commandOfUnits = '/opt/plantstore/node_modules/.bin/plantstore'

/** @param specifiers what stands for `%i`, `%S` and so on. */
export function readUnit(name: string, specifiers: Readonly<Record<string, string>> = {}): Unit {
  const values = new Map<string, string[]>()
  for (const line of readDeployed(name).split('\n')) {
    const [, key, value = ''] = /^(\w+)=(.*)$/.exec(line) ?? []
    if (key === undefined) continue
    const filled = value.replaceAll(/%(\w)/g, (specifier, letter) => specifiers[letter] ?? specifier)
    values.set(key, [...(values.get(key) ?? []), filled])
  }
  return values
}

export function single(unit: Unit, name: string): string {
  const [value, ...more] = unit.get(name) ?? []
  if (value === undefined || more.length > 0) throw new Error(`${name} is not there once`)
  return value
}

/** Anybody but root; no user of this machine has to be it. */
export const someone = 61_234

/** Whether namespaces can be made here. */
export const mayIsolate = userInfo().uid === 0 && process.platform === 'linux'

/** A command without privileges, with all but some folders read-only, and /proc as the units have it. */
export function isolate(command: readonly string[], writable: readonly string[]): readonly string[] {
  for (const path of writable) chmodSync(path, 0o777)
  const steps = [
    ...stepsToOpen(),
    ...writable.map((path) => `mount --bind '${path}' '${path}'`),
    'mount -o remount,ro,bind /',
    'mount -t proc -o subset=pid,hidepid=invisible proc /proc',
    `exec setpriv --reuid ${someone} --regid ${someone} --clear-groups --no-new-privs --bounding-set=-all "$@"`,
  ]
  return ['unshare', '--mount', '--propagation', 'private', 'sh', '-ec', steps.join('\n'), 'sh', ...command]
}
