// Finds the next page of a list.

/** The target and parameters of a Link; quoted strings may contain anything (RFC 8288, section 3). */
const links = /<([^>]*)>((?:\s*;\s*[^\s=;,"]+(?:\s*=\s*(?:"[^"]*"|[^\s;,"]+))?)*)/g
const relations = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))/i

/**
 * The `after` in the link to the next page, empty if it lacks one; undefined on the last page. Ignores the path of the
 * link, which a proxy may have changed.
 */
export function nextOf({ headers }: { readonly headers: Headers }): string | undefined {
  for (const [, target = '', parameters = ''] of (headers.get('link') ?? '').matchAll(links)) {
    const [, quoted, bare = ''] = relations.exec(parameters) ?? []
    const isNext = (quoted ?? bare).toLowerCase().split(/\s+/).includes('next')
    if (isNext) return new URLSearchParams(target.split('?')[1]).get('after') ?? ''
  }
  return undefined
}

/** Whether a text is an id, and greater than another one if given. */
export function isGreater(one: string, other: string | undefined): boolean {
  return /^-?\d{1,19}$/.test(one) && (other === undefined || BigInt(one) > BigInt(other))
}
