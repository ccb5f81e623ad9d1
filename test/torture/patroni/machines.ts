// Machines on a network of their own: each has namespaces for its network, processes and mounts, so that it can be
// switched off as a whole, cut off from others, and have files where programs look for them.

import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { promisify } from 'node:util'
import { type Folder, makeFolder } from '../../support/folder.ts'

/** Reserved for tests of networks (RFC 2544): no address of a real machine is hidden. */
const networks = '198.18'
const isolate = ['--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc']
const lastLines = 60
const repeated = /no action|Exception happened|Traceback|STATEMENT|FATAL: {2}the database system is/

/** Whether this machine can have others in it: that takes root, and a kernel that lets it. */
export function canMakeMachines(): boolean {
  const isMade = 'ip link add pair type veth && ip link add bridge type bridge && ip rule add from 198.18.0.1 blackhole'
  return spawnSync('unshare', [...isolate, 'sh', '-c', isMade]).status === 0
}

export class Network implements AsyncDisposable {
  readonly #bridge: Inside
  /** The first three numbers of its addresses, with a dot behind them. */
  readonly prefix: string

  private constructor(bridge: Inside, prefix: string) {
    this.#bridge = bridge
    this.prefix = prefix
  }

  static async make(): Promise<Network> {
    let number = 0
    do number = 1 + Math.floor(Math.random() * 250)
    while (existsSync(`/sys/class/net/torture${number}`))
    const prefix = `${networks}.${number}.`
    const bridge = await Inside.start('ip link add bridge type bridge && ip link set bridge up')
    const network = new Network(bridge, prefix)
    // The end on this machine is gone with the other one.
    const own = `torture${number}`
    await run('ip', 'link', 'add', own, 'type', 'veth', 'peer', 'name', 'here', 'netns', String(bridge.pid))
    await network.#plugIn('here')
    await run('ip', 'address', 'add', `${prefix}1/24`, 'dev', own)
    await run('ip', 'link', 'set', own, 'up')
    return network
  }

  /** Connects a machine, which always has the same address, down to that of its card. */
  async connect(machine: Inside, name: string, host: number): Promise<void> {
    await run(
      ...['ip', 'link', 'add', 'eth0', 'netns', String(machine.pid), 'address', `02:00:00:00:00:${host}`],
      ...['type', 'veth', 'peer', 'name', name, 'netns', String(this.#bridge.pid)],
    )
    await this.#plugIn(name)
    await machine.run('ip', 'address', 'add', `${this.prefix}${host}/24`, 'dev', 'eth0')
    await machine.run('ip', 'link', 'set', 'eth0', 'up')
  }

  /** Takes away what a machine that is gone was connected with; Linux does so, too, at its leisure. */
  async disconnect(name: string): Promise<void> {
    await this.#bridge.run('ip', 'link', 'del', name).catch(() => {})
  }

  /** Drops all packets of the connections with a port, both ways, so that neither end is told. */
  async silence(port: number): Promise<void> {
    const rules = `table bridge silence {
      chain silence {
        type filter hook forward priority 0
        tcp sport ${port} drop
        tcp dport ${port} drop
      }
    }`
    await this.#bridge.run('nft', rules)
  }

  async mend(): Promise<void> {
    await this.#bridge.run('nft', 'delete', 'table', 'bridge', 'silence')
  }

  async #plugIn(name: string): Promise<void> {
    await this.#bridge.run('ip', 'link', 'set', name, 'master', 'bridge', 'up')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#bridge.kill()
  }
}

/** The folders that a machine has for itself, with the users who have them. */
export type Mounts = Readonly<Record<string, string>>

export class Machine implements AsyncDisposable {
  readonly name: string
  readonly address: string
  readonly #host: number
  readonly #network: Network
  readonly #folder: Folder
  readonly #mounts: Mounts
  #inside: Inside | undefined

  private constructor(network: Network, name: string, host: number, folder: Folder, mounts: Mounts) {
    this.#network = network
    this.name = name
    this.#host = host
    this.address = `${network.prefix}${host}`
    this.#folder = folder
    this.#mounts = mounts
  }

  static async make(network: Network, name: string, host: number, mounts: Mounts): Promise<Machine> {
    const machine = new Machine(network, name, host, await makeFolder(), mounts)
    for (const [path, user] of Object.entries(mounts)) {
      mkdirSync(machine.file(path), { recursive: true })
      await run('chown', user, machine.file(path))
    }
    // Its users get to their folders.
    await run('chmod', 'a+rx', machine.#folder.path)
    return machine
  }

  /** Where a file of the machine, which is in one of its own folders, is as seen from outside. */
  file(path: string): string {
    const mount = Object.keys(this.#mounts).find((each) => path === each || path.startsWith(`${each}/`))
    if (mount === undefined) throw new Error(`${path} is in no folder of the machine's own`)
    return this.#folder.file(`${mount.slice(1).replaceAll('/', '-')}${path.slice(mount.length)}`)
  }

  async switchOn(): Promise<void> {
    const mounts = Object.keys(this.#mounts).map((path) => `mount --bind ${this.file(path)} ${path}`)
    // Rules of the machine's own can come before the one that takes in whatever is for it.
    const rules = 'ip rule add pref 2 lookup local && ip rule del pref 0'
    const sockets = 'mount -t tmpfs tmpfs /run/postgresql && chown postgres /run/postgresql'
    this.#inside = await Inside.start([...mounts, sockets, rules, 'ip link set lo up'].join(' && '))
    await this.#network.connect(this.#inside, this.name, this.#host)
  }

  get isOn(): boolean {
    return this.#inside !== undefined
  }

  /** Ends all of it at once: what was not sent is not sent any more. */
  async switchOff(): Promise<void> {
    if (this.#inside === undefined) return
    await this.#inside.kill()
    this.#inside = undefined
    await this.#network.disconnect(this.name)
  }

  /** Starts a program that goes on until it is killed; what it says is in a log. */
  start(user: string, environment: NodeJS.ProcessEnv, program: string, ...args: string[]): void {
    this.#running.start(this.#folder.file(`${program}.log`), user, environment, [program, ...args])
  }

  /** The end of a program's log, without what it repeats. */
  lastWords(program: string): readonly string[] {
    const lines = readFileSync(this.#folder.file(`${program}.log`), 'utf8').split('\n')
    return lines.filter((line) => /^\d{4}-/.test(line) && !repeated.test(line)).slice(-lastLines)
  }

  /** Runs a program to its end and gives what it printed. */
  run(...command: string[]): Promise<string> {
    return this.#running.run(...command)
  }

  /** Sends a signal to all processes of some programs. */
  signal(signal: NodeJS.Signals, ...names: string[]): void {
    this.#running.signal(signal, names)
  }

  /** Receives nothing more from another machine, and that from this one, until it is mended. */
  async cutOff(other: Machine): Promise<void> {
    await this.#running.drop('add', other.address)
    await other.#running.drop('add', this.address)
  }

  async mend(other: Machine): Promise<void> {
    await this.#inside?.drop('del', other.address)
    await other.#inside?.drop('del', this.address)
  }

  get #running(): Inside {
    if (this.#inside === undefined) throw new Error(`${this.name} is switched off`)
    return this.#inside
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.switchOff()
    await this.#folder[Symbol.asyncDispose]()
  }
}

/** Namespaces that last as long as their first process. */
class Inside {
  readonly #outer: ChildProcess
  readonly pid: number
  readonly #kill: () => void
  readonly #started: ChildProcess[] = []

  private constructor(outer: ChildProcess, pid: number) {
    this.#outer = outer
    this.pid = pid
    this.#kill = () => {
      outer.kill('SIGKILL')
      this.#wakeStarters()
    }
    process.once('exit', this.#kill)
  }

  /** @param prepare what is done inside before anything else. */
  static async start(prepare: string): Promise<Inside> {
    // The shell also takes leave of the orphans.
    const script = `${prepare} && echo ready && while :; do sleep 60; done`
    const outer = spawn('unshare', [...isolate, 'sh', '-c', script], { stdio: ['ignore', 'pipe', 'pipe'] })
    let complaint = ''
    outer.stderr.setEncoding('utf8').on('data', (text) => {
      complaint += text
    })
    const [first] = await Promise.race([once(outer.stdout, 'data'), once(outer, 'close')])
    if (String(first) !== 'ready\n') throw new Error(`namespaces could not be prepared: ${complaint}`)
    const pid = Number(readFileSync(`/proc/${outer.pid}/task/${outer.pid}/children`, 'utf8'))
    return new Inside(outer, pid)
  }

  run(...command: string[]): Promise<string> {
    return run('nsenter', ...this.#enter, ...command)
  }

  /** Drops, or no longer, what comes from an address. */
  async drop(verb: 'add' | 'del', address: string): Promise<void> {
    await this.run('ip', 'rule', verb, 'pref', '1', 'from', address, 'blackhole')
  }

  start(log: string, user: string, environment: NodeJS.ProcessEnv, command: readonly string[]): void {
    const output = openSync(log, 'a')
    try {
      const child = spawn('nsenter', [...this.#enter, 'runuser', '-u', user, '--', ...command], {
        cwd: '/',
        env: { PATH: process.env['PATH'], ...environment },
        stdio: ['ignore', output, output],
      })
      this.#started.push(child)
    } finally {
      closeSync(output)
    }
  }

  signal(signal: NodeJS.Signals, names: readonly string[]): void {
    for (const pid of this.#processes().filter((each) => names.includes(programOf(each) ?? ''))) {
      try {
        process.kill(pid, signal)
      } catch {
        // It has ended meanwhile.
      }
    }
  }

  async kill(): Promise<void> {
    process.off('exit', this.#kill)
    if (this.#outer.exitCode !== null || this.#outer.signalCode !== null) return
    const closed = once(this.#outer, 'close')
    process.kill(this.pid, 'SIGKILL')
    this.#wakeStarters()
    await closed
  }

  /** nsenter stops when what it started is stopped, and has to take leave of it. */
  #wakeStarters(): void {
    for (const child of this.#started) child.kill('SIGCONT')
  }

  get #enter(): readonly string[] {
    return ['--target', String(this.pid), '--net', '--mount', '--pid', '--']
  }

  #processes(): readonly number[] {
    const own = namespaceOf(this.pid)
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
    return pids.map(Number).filter((pid) => pid !== this.pid && namespaceOf(pid) === own)
  }
}

function namespaceOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/pid`)
  } catch {
    return undefined
  }
}

function programOf(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trimEnd()
  } catch {
    return undefined
  }
}

/** Runs a program to its end and gives what it printed. */
export async function run(...[command = '', ...args]: string[]): Promise<string> {
  return (await promisify(execFile)(command, args)).stdout
}
