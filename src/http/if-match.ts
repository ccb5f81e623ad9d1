// If-Match and If-None-Match as a client sends them.

import type { Preconditions, Revisions } from '../domain/preconditions.ts'

/** Strong comparison for If-Match, weak for If-None-Match (RFC 9110, sections 13.1.1 and 13.1.2). */
export function toPreconditions(ifMatch: string | undefined, ifNoneMatch: string | undefined): Preconditions {
  return {
    ifMatch: ifMatch === undefined ? undefined : toRevisions(ifMatch, 'strong'),
    ifNoneMatch: ifNoneMatch === undefined ? undefined : toRevisions(ifNoneMatch, 'weak'),
  }
}

/** In a strong comparison a weak ETag is no revision, and so is left out. */
function toRevisions(list: string, comparison: 'strong' | 'weak'): Revisions {
  if (list === '*') return list
  return [...list.matchAll(/(W\/)?"([^"]*)"/g)].flatMap(([, weak, tag = '']) =>
    weak === undefined || comparison === 'weak' ? [tag] : [],
  )
}
