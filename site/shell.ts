// Requests as commands for a shell in which TOKEN is set.

interface Command {
  readonly method: string
  readonly url: string
  readonly hasToken?: boolean
  readonly fields?: readonly (readonly [name: string, value: string])[]
  readonly body?: string | undefined
}

export function curl({ method, url, hasToken = true, fields = [], body }: Command): string {
  return [
    `curl -i${method === 'GET' ? '' : ` -X ${method}`} ${quoted(url)}`,
    ...(hasToken ? ['-H "Authorization: Bearer $TOKEN"'] : []),
    ...fields.map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`-d ${quoted(body)}`]),
  ].join(' \\\n  ')
}

/** Quotes a text as one word of a POSIX shell. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
