// Runs a command on a new terminal, as its users do, with script(1).

import { type SpawnOptions, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cleanEnvironment, killAtExit, outputOf } from './program.ts'
import { until } from './time.ts'

/** Why tests that need a terminal are left out, or false. */
export const noScript = spawnSync('script', ['--version']).status !== 0 && 'there is no script(1) here'

/** @param command a command line of the shell. */
export function startOnTerminal(command: string, options: SpawnOptions = {}) {
  const child = spawn('script', ['-qec', command, '/dev/null'], { env: cleanEnvironment(), ...options, stdio: 'pipe' })
  const output = outputOf(child)
  const shown = (): string => output().replaceAll('\r', '')
  let isGone = false
  const closed = once(child, 'close').then(() => {
    isGone = true
  })
  /** Presses Ctrl-C, and resolves when the command has ended. */
  const interrupt = async (): Promise<void> => {
    if (!isGone) child.stdin.write('\u0003')
    await closed
  }
  // The terminal goes with it, and what runs there is told so.
  killAtExit(child)
  child.stdin.on('error', () => {})
  return {
    process: child,
    interrupt,
    /** Gives what the terminal shows once it shows this, with line feeds alone. */
    shows: async (pattern: RegExp): Promise<string> => {
      await until(`the terminal shows ${pattern}`, () => {
        if (!pattern.test(shown()) && isGone) throw new Error(`${command} ended, and showed:\n${shown()}`)
        return pattern.test(shown())
      })
      return shown()
    },
    [Symbol.asyncDispose]: interrupt,
  }
}
