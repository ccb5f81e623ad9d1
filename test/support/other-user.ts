// Runs commands as a user other than root, who can read the program even if only root may enter the checkout.

import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')

/** A command with the rights of a user, in a mount namespace of its own if it needs one to read the checkout. */
export function asUser(id: number, command: readonly string[]): readonly string[] {
  return inOpenCheckout(['setpriv', `--reuid=${id}`, `--regid=${id}`, '--clear-groups', ...command])
}

/** A command, in a mount namespace of its own if not every user can read the checkout. */
export function inOpenCheckout(command: readonly string[]): readonly string[] {
  const steps = stepsToOpen()
  if (steps.length === 0) return command
  const script = [...steps, 'exec "$@"'].join('\n')
  return ['unshare', '--mount', '--propagation', 'private', 'sh', '-ec', script, 'sh', ...command]
}

/** What a shell in a mount namespace does so that every user can read the checkout, under its own path. */
export function stepsToOpen(): readonly string[] {
  const closed = [...parentsOf(root), root].find((folder) => (statSync(folder).mode & 0o001) === 0)
  if (closed === undefined) return []
  return [
    'held=$(mktemp -d)',
    `mount --rbind '${root}' "$held"`,
    `mount -t tmpfs -o mode=755 tmpfs '${closed}'`,
    `mkdir -p '${root}'`,
    // Not the checkout itself, which may be closed, too.
    'for each in "$held"/*; do',
    `  opened='${root}'/"\${each##*/}"`,
    '  if [ -d "$each" ]; then mkdir "$opened"; else touch "$opened"; fi',
    '  mount --rbind "$each" "$opened"',
    'done',
    'umount --lazy "$held"',
    'rmdir "$held"',
  ]
}

/** The outermost first. */
function parentsOf(path: string): string[] {
  const parent = dirname(path)
  return parent === path ? [] : [...parentsOf(parent), parent]
}
