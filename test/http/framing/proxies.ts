// nginx and HAProxy in front of a service, with the requests that each of them recognised.

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { freePort } from '../../support/answering.ts'
import { makeFolder } from '../../support/folder.ts'
import { killAtExit, outputOf } from '../../support/program.ts'
import { until } from '../../support/time.ts'

export interface ProxyKind {
  readonly name: string
  readonly command: string
  /** @param folder where all of its files are. */
  readonly configure: (folder: string, port: number, upstream: number) => string
  readonly args: (configFile: string, folder: string) => readonly string[]
}

export type RunningProxy = Awaited<ReturnType<typeof startProxy>>

const logFile = 'seen.log'

/** Debian's nginx; `http` is what stands in its block of that name. */
export const nginxOf = (http: ProxyKind['configure']): ProxyKind => ({
  name: 'nginx',
  command: 'nginx',
  args: (configFile, folder) => ['-p', folder, '-c', configFile, '-e', 'stderr'],
  configure: (folder, port, upstream) => `
daemon off;
master_process off;
pid ${folder}/pid;
error_log stderr emerg;
events { worker_connections 1024; }
http {
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/${name};`).join('\n  ')}
  ${http(folder, port, upstream)}
}
`,
})

/** @param location where the service is `http://service`. */
export const nginxWith = (location: string): ProxyKind =>
  nginxOf(
    (folder, port, upstream) => `
  log_format seen '$request_method $request_uri';
  access_log ${folder}/${logFile} seen;
  client_header_timeout 2s;
  client_body_timeout 2s;
  lingering_timeout 200ms;
  upstream service { server 127.0.0.1:${upstream}; keepalive 4; }
  server {
    listen 127.0.0.1:${port};
    ${location}
  }`,
  )

/** Requests are passed on as they come, over connections that are kept. */
const nginx = nginxWith(`location / {
      proxy_pass http://service;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $http_host;
      proxy_request_buffering off;
      proxy_next_upstream off;
    }`)

/** Debian's HAProxy. */
export const haproxyOf = (configure: ProxyKind['configure']): ProxyKind => ({
  name: 'HAProxy',
  command: 'haproxy',
  args: (configFile) => ['-db', '-f', configFile],
  configure,
})

/** The same way. */
const haproxy = haproxyOf(
  (_folder, port, upstream) => `
global
  log stdout format raw local0
  maxconn 256
defaults
  mode http
  log global
  log-format "%HM %HU"
  timeout connect 2s
  timeout client 2s
  timeout http-request 2s
  timeout server 5s
  retries 0
  http-reuse always
frontend clients
  bind 127.0.0.1:${port}
  default_backend service
backend service
  server service 127.0.0.1:${upstream}
`,
)

export const proxyKinds: readonly ProxyKind[] = [nginx, haproxy]

export function isInstalled({ command }: Pick<ProxyKind, 'command'>): boolean {
  return spawnSync(command, ['-v'], { stdio: 'ignore' }).status === 0
}

export async function startProxy(kind: ProxyKind, upstream: number) {
  const folder = await makeFolder()
  const port = await freePort()
  const configFile = folder.file('proxy.conf')
  await mkdir(folder.file('files'))
  await writeFile(configFile, kind.configure(folder.file('files'), port, upstream))
  await writeFile(folder.file(`files/${logFile}`), '')
  const args = kind.args(configFile, folder.file('files'))
  const child = spawn(kind.command, args, { stdio: ['ignore', 'pipe', 'ignore'] })
  const closed = once(child, 'close')
  killAtExit(child)
  const written = outputOf(child)
  await until(`${kind.name} listens`, () => child.exitCode !== null || isListening(port))
  if (child.exitCode !== null) throw new Error(`${kind.name} ended with ${child.exitCode} before it listened`)
  return {
    port,
    /** Method and target of each request that it saw, in the order of their ends. */
    seen: async (): Promise<readonly string[]> =>
      `${written()}${await readFile(folder.file(`files/${logFile}`), 'utf8')}`.trimEnd().split('\n'),
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL')
      await closed
      await folder[Symbol.asyncDispose]()
    },
  }
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect({ port, host: '127.0.0.1' })
  const connected = once(socket, 'connect').then(() => true)
  return await connected.catch(() => false).finally(() => socket.destroy())
}
