// HAProxy and PgBouncer of docs/operating.md, beside the servers.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { freePort, isListening } from '../../http/framing/proxies.ts'
import { type Folder, makeFolder } from '../../support/folder.ts'
import { until } from '../../support/time.ts'
import type { PatroniCluster } from './cluster.ts'
import type { Documented } from './documented.ts'

const haproxyFile = '/etc/haproxy/haproxy.cfg'
const pgbouncerFile = '/etc/pgbouncer/pgbouncer.ini'
const usersFile = '/etc/pgbouncer/userlist.txt'

/** A port of docs/operating.md, and that in its place here. */
type Port = readonly [documented: string, here: number]

export class Between implements AsyncDisposable {
  readonly #documented: Documented
  readonly #cluster: PatroniCluster
  readonly #folder: Folder
  /** HAProxy's and PgBouncer's. */
  readonly #ports: readonly [Port, Port]
  readonly #programs: ChildProcess[] = []

  private constructor(documented: Documented, cluster: PatroniCluster, folder: Folder, ports: readonly number[]) {
    const [haproxy = 0, pgbouncer = 0] = ports
    this.#documented = documented
    this.#cluster = cluster
    this.#folder = folder
    this.#ports = [
      ['5000', haproxy],
      ['6432', pgbouncer],
    ]
    process.once('exit', this.#kill)
  }

  static async start(documented: Documented, cluster: PatroniCluster): Promise<Between> {
    const ports = [await freePort(), await freePort()]
    const between = new Between(documented, cluster, await makeFolder(), ports)
    chmodSync(between.#folder.path, 0o755)
    between.#write(usersFile)
    between.#start('haproxy', '-db', '-f', between.#write(haproxyFile))
    between.#start('pgbouncer', '-u', 'postgres', between.#write(pgbouncerFile))
    for (const port of ports) await until('HAProxy and PgBouncer listen', () => isListening(port))
    // HAProxy takes all machines for primaries until it has checked them.
    await until('HAProxy knows the primary', () => between.#isAlwaysPrimary())
    return between
  }

  /** A text of docs/operating.md with the addresses, ports and files that there are here. */
  here(text: string): string {
    const withPorts = this.#ports.reduce(
      (changed: string, [documented, here]: Port) =>
        changed.replaceAll(new RegExp(`\\b${documented}\\b`, 'g'), String(here)),
      this.#cluster.here(text),
    )
    return withPorts.replaceAll(usersFile, this.#folder.file(basename(usersFile)))
  }

  /** The stores of the servers: by HAProxy, by PgBouncer and by themselves. */
  get stores(): readonly string[] {
    return this.#documented
      .commands('plantstore')
      .map((command) => this.here(/(?<=--store )\S+/.exec(command)?.[0] ?? 'no store'))
  }

  async #isAlwaysPrimary(): Promise<boolean> {
    for (const _ of this.#cluster.machines)
      if (!(await this.#cluster.isPrimaryAt('127.0.0.1', this.#ports[0][1]))) return false
    return true
  }

  #write(path: string): string {
    const file = this.#folder.file(basename(path))
    writeFileSync(file, this.here(this.#documented.file(path)))
    return file
  }

  #start(program: string, ...args: string[]): void {
    this.#programs.push(spawn(program, args, { stdio: 'ignore' }))
  }

  readonly #kill = (): void => {
    for (const program of this.#programs) program.kill('SIGKILL')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    process.off('exit', this.#kill)
    for (const program of this.#programs) {
      if (program.exitCode !== null || program.signalCode !== null) continue
      const closed = once(program, 'close')
      program.kill('SIGKILL')
      await closed
    }
    await this.#folder[Symbol.asyncDispose]()
  }
}
