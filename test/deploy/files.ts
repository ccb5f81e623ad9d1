// The files of deploy/, with their paths, ports and addresses replaced by those of a test.

import { readFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { haproxyOf, nginxOf, type ProxyKind } from '../http/framing/proxies.ts'
import { makeCertificate } from '../support/certificate.ts'
import type { Folder } from '../support/folder.ts'
import { root } from '../support/readme.ts'

export function readDeployed(name: string): string {
  return readFileSync(`${root}/deploy/${name}`, 'utf8')
}

/** Puts values in place of texts, each of which has to be there. */
export function replaceAll(text: string, values: Readonly<Record<string, string>>): string {
  let replaced = text
  for (const [each, value] of Object.entries(values)) {
    if (!replaced.includes(each)) throw new Error(`there is no ${each} in\n${text}`)
    replaced = replaced.replaceAll(each, value)
  }
  return replaced
}

export type ProxyName = 'nginx' | 'HAProxy'

export const proxyNames: readonly ProxyName[] = ['nginx', 'HAProxy']

/** What each file says to change to serve below `/store`. */
export const belowPath: Readonly<Record<ProxyName, Readonly<Record<string, string>>>> = {
  nginx: { '    location / {': '    #', '# location /store/': 'location /store/' },
  HAProxy: {
    '# http-request redirect': 'http-request redirect',
    '# http-request return': 'http-request return',
    '# http-request replace-path': 'http-request replace-path',
  },
}

export interface ProxyParts {
  /** With the certificate of the proxy, that signs itself. */
  readonly folder: Folder
  /** Two addresses, such as `127.0.0.2:3001`. */
  readonly servers: readonly [string, string]
  /** Texts of the file that are replaced by others. */
  readonly change?: Readonly<Record<string, string>>
}

/** The proxy of deploy/, for `startProxy`, which gives it its port; and the certificate that its clients trust. */
export async function deployedProxy(
  name: ProxyName,
  { folder, servers: [one, two], change = {} }: ProxyParts,
): Promise<{ readonly kind: ProxyKind; readonly ca: string }> {
  const { cert, key } = makeCertificate(folder, 'proxy')
  const ca = await readFile(cert, 'utf8')
  const both = folder.file('both.pem')
  await writeFile(both, `${ca}${await readFile(key, 'utf8')}`)
  const text = replaceAll(readDeployed(name === 'nginx' ? 'nginx.conf' : 'haproxy.cfg'), {
    '127.0.0.1:3001': one,
    '127.0.0.1:3002': two,
    ...change,
  })
  if (name === 'HAProxy') {
    const kind = haproxyOf((_files, port) =>
      replaceAll(text, { ':::443 v4v6': `127.0.0.1:${port}`, '/etc/haproxy/plantstore.pem': both }),
    )
    return { kind, ca }
  }
  const kind = nginxOf((files, port) =>
    replaceAll(text, {
      'listen 443 ssl;': `listen 127.0.0.1:${port} ssl;`,
      'listen [::]:443 ssl;': '',
      '/etc/nginx/plantstore.crt': cert,
      '/etc/nginx/plantstore.key': key,
      '/var/log/nginx/plantstore.log': `${files}/seen.log`,
    }),
  )
  return { kind, ca }
}
