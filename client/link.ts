// Finds the next page of a list.

/** The target and parameters of a Link; quoted strings may contain anything (RFC 8288, section 3). */
const links = /<([^>]*)>((?:\s*;\s*[^\s=;,"]+(?:\s*=\s*(?:"[^"]*"|[^\s;,"]+))?)*)/g
const relations = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))/i

/**
 * The `after` of the next page; undefined on the last page. Empty if the link has none. Ignores the link's path, which a
 * proxy may have changed.
 */
export function nextOf({ headers }: { readonly headers: Headers }): string | undefined {
  for (const [, target = '', parameters = ''] of (headers.get('link') ?? '').matchAll(links)) {
    const [, quoted, bare = ''] = relations.exec(parameters) ?? []
    const isNext = (quoted ?? bare).toLowerCase().split(/\s+/).includes('next')
    if (isNext) return new URLSearchParams(target.split('?')[1]).get('after') ?? ''
  }
  return undefined
}

/** Whether one text is a greater id than another, if there is one. */
export function isGreater(one: string, other: string | undefined): boolean {
  return /^-?\d{1,19}$/.test(one) && (other === undefined || BigInt(one) > BigInt(other))
}
