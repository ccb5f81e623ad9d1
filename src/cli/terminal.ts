// What a command sees of the process it runs in. src/main.ts is the only file that touches the process itself.

export interface Terminal {
  readonly args: readonly string[]
  readonly stdout: Output
  readonly stderr: Output
  /** Calls back at each SIGTERM and SIGINT with its name. */
  onSignal(listener: (signal: string) => void): void
  /** Ends the process at once. */
  exit(status: number): never
}

export type Output = NodeJS.WritableStream & { readonly isTTY?: boolean }
