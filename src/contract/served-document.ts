// The document as served: identical to the bundled one, except that `servers` begins with the URL of this server.

import type { Contract } from './contract.ts'

export interface ServedDocument {
  readonly json: string
  readonly yaml: string
}

const description = 'The server that this document was read from'

/**
 * Prepares the document for the insertion of server URLs.
 *
 * @returns a function that returns the document with a URL before its other servers. It returns the document unchanged
 * if the URL is undefined or already the first.
 * @throws Error if the document has no place for a URL.
 */
export function prepareDocument({ json, yaml, servers }: Contract): (serverUrl: string | undefined) => ServedDocument {
  const [jsonHead, jsonRest] = splitAfter(json, '\n  "servers": [\n')
  const [yamlHead, yamlRest] = splitAfter(yaml, '\nservers:\n')
  return (serverUrl) => {
    if (serverUrl === undefined || serverUrl === servers[0]) return { json, yaml }
    // A JSON string is also a YAML string.
    const url = JSON.stringify(serverUrl)
    return {
      json: `${jsonHead}    {\n      "url": ${url},\n      "description": "${description}"\n    },\n${jsonRest}`,
      yaml: `${yamlHead}  - url: ${url}\n    description: ${description}\n${yamlRest}`,
    }
  }
}

function splitAfter(text: string, line: string): readonly [head: string, rest: string] {
  const parts = text.split(line)
  if (parts.length !== 2) throw new Error(`the document must contain ${JSON.stringify(line)} exactly once`)
  return [`${parts[0]}${line}`, parts[1] as string]
}
