// Where a list goes on.

/** A target of a Link and its parameters, of which strings may hold anything (RFC 8288, section 3). */
const links = /<([^>]*)>((?:\s*;\s*[^\s=;,"]+(?:\s*=\s*(?:"[^"]*"|[^\s;,"]+))?)*)/g
const relations = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))/i

/** The `after` of the next page. The path of the link may be another one here: behind a proxy. */
export function nextOf({ headers }: { readonly headers: Headers }): string | undefined {
  for (const [, target = '', parameters = ''] of (headers.get('link') ?? '').matchAll(links)) {
    const [, quoted, bare = ''] = relations.exec(parameters) ?? []
    const isNext = (quoted ?? bare).toLowerCase().split(/\s+/).includes('next')
    if (isNext) return new URLSearchParams(target.split('?')[1]).get('after') ?? undefined
  }
  return undefined
}
