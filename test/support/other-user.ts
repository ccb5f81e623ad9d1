// Commands as another user than root. That user must be able to read the program, also in a checkout below a folder that
// only root may enter.

import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')

/** A command with the rights of a user, in a mount namespace of its own. */
export function asUser(id: number, command: readonly string[]): readonly string[] {
  const steps = [...stepsToOpen(), `exec setpriv --reuid ${id} --regid ${id} --clear-groups "$@"`]
  return ['unshare', '--mount', '--propagation', 'private', 'sh', '-ec', steps.join('\n'), 'sh', ...command]
}

/** What a shell in a mount namespace does so that every user can read the checkout, under its own path. */
export function stepsToOpen(): readonly string[] {
  const closed = parentsOf(root).find((folder) => (statSync(folder).mode & 0o001) === 0)
  if (closed === undefined) return []
  return [
    'held=$(mktemp -d)',
    `mount --rbind '${root}' "$held"`,
    `mount -t tmpfs -o mode=755 tmpfs '${closed}'`,
    `mkdir -p '${root}'`,
    `mount --move "$held" '${root}'`,
    'rmdir "$held"',
  ]
}

/** The outermost first. */
function parentsOf(path: string): string[] {
  const parent = dirname(path)
  return parent === path ? [] : [...parentsOf(parent), parent]
}
