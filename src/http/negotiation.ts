// Content negotiation (RFC 9110, section 12.5): the weights in fields such as Accept.

/** The weights of a field such as Accept or Accept-Encoding, by member, in lower case. */
export function weightsOf(field: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>()
  for (const member of field.toLowerCase().split(',')) {
    const [name = '', ...parameters] = member.split(';').map((each) => each.trim())
    const weight = parameters.find((each) => each.startsWith('q='))?.slice('q='.length) ?? '1'
    weights.set(name, Number(weight))
  }
  return weights
}

/** Whether an Accept field names a media type, and does not give JSON a higher weight. */
export function prefers(type: 'text/html' | 'text/event-stream', accept = ''): boolean {
  const weights = weightsOf(accept)
  const weight = weights.get(type) ?? 0
  return weight > 0 && weight >= (weights.get('application/json') ?? 0)
}
