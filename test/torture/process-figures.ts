// The memory and the descriptors of a process, from Linux (proc(5)).

import { readdir, readFile } from 'node:fs/promises'

/** The memory of a process that is in use, in bytes. */
export async function memoryOf(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024
}

/** How many files and sockets a process has open. */
export async function descriptorsOf(pid: number | undefined): Promise<number> {
  return (await readdir(`/proc/${pid}/fd`)).length
}
