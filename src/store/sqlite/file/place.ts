// The real path of a store, beside which every process finds its log, its index and its lock.

import { readFileSync, realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { OperatorError } from '../../../domain/errors.ts'

/**
 * The real path of a file, so that all paths to a file share one log and one lock.
 *
 * @throws OperatorError if the file itself is a mount point: the files beside it in its original folder are not visible
 * here, so that two servers would have separate logs and locks.
 */
export function realPathOf(path: string): string {
  const realPath = realpathSync(path)
  if (!isMounted(realPath)) return realPath
  throw new OperatorError(
    `${path} is mounted as a single file, without the log and the lock that lie beside it; mount its folder instead`,
  )
}

function isMounted(realPath: string): boolean {
  const mounts = readMounts()
  return mounts === undefined ? statSync(realPath).dev !== statSync(dirname(realPath)).dev : mounts.includes(realPath)
}

/** All mount points; undefined if the system has no such list. A bind mount has the device number of its disk. */
function readMounts(): readonly string[] | undefined {
  try {
    const lines = readFileSync('/proc/self/mountinfo', 'utf8').split('\n')
    return lines.map((line) => unescapeMount(line.split(' ')[4] ?? ''))
  } catch {
    return undefined
  }
}

/** Spaces, line ends and backslashes are octal escapes (proc_pid_mountinfo(5)). */
function unescapeMount(text: string): string {
  return text.replaceAll(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)))
}
