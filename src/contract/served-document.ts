// The document as it is served: byte for byte that of the program, but for `servers`, which begin with the URL that its
// reader reaches the service at.

import type { Contract } from './document.ts'

/** The document in both of its forms. */
export interface ServedDocument {
  readonly json: string
  readonly yaml: string
}

const description = 'The server that this document was read from'

/**
 * Prepares the document so that a URL can be put into it without reading it again.
 *
 * @returns gives the document with a URL before its other servers; for undefined, or the URL that is their first
 * already, the document as it is.
 * @throws Error when a text has no place for a URL.
 */
export function prepareDocument({ json, yaml, servers }: Contract): (serverUrl: string | undefined) => ServedDocument {
  const [jsonHead, jsonRest] = splitAfter(json, '\n  "servers": [\n')
  const [yamlHead, yamlRest] = splitAfter(yaml, '\nservers:\n')
  return (serverUrl) => {
    if (serverUrl === undefined || serverUrl === servers[0]) return { json, yaml }
    // A string of JSON is one of YAML, too.
    const url = JSON.stringify(serverUrl)
    return {
      json: `${jsonHead}    {\n      "url": ${url},\n      "description": "${description}"\n    },\n${jsonRest}`,
      yaml: `${yamlHead}  - url: ${url}\n    description: ${description}\n${yamlRest}`,
    }
  }
}

function splitAfter(text: string, line: string): readonly [head: string, rest: string] {
  const parts = text.split(line)
  if (parts.length !== 2) throw new Error(`the document does not have ${JSON.stringify(line)} once`)
  return [`${parts[0]}${line}`, parts[1] as string]
}
