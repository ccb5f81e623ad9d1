// openapi.yaml is valid, and follows the rules of Redocly that redocly.yaml has.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { createConfig, lintFromString } from '@redocly/openapi-core'

const read = (name: string): Promise<string> => readFile(new URL(`../../${name}`, import.meta.url), 'utf8')
const yaml = await read('openapi.yaml')
const withFaults = yaml
  .replace(/^ {2}contact:\n.*\n/m, '')
  .replace('operationId: getLivez', 'operationId: get livez')
  .replace('type: string', 'type: strin')

describe('openapi.yaml', () => {
  test('is valid and has nothing that Redocly objects to', async () => {
    const config = await createConfig(await read('redocly.yaml'))
    const lint = async (source: string): Promise<string[]> => {
      const problems = await lintFromString({ source, absoluteRef: 'openapi.yaml', config })
      return problems.map(({ ruleId, location, message }) => `${ruleId} at ${location[0]?.pointer}: ${message}`)
    }
    assert.deepEqual(await lint(yaml), [])
    assert.deepEqual(rulesOf(await lint(withFaults)), ['info-contact', 'operation-operationId-url-safe', 'struct'])
  })
})

test('no package that is installed reports that it was', async () => {
  const { packages } = JSON.parse(await read('package-lock.json'))
  const names = Object.keys(packages)
  assert.ok(names.length > 100)
  assert.deepEqual(
    names.filter((name) => name.endsWith('@scarf/scarf')),
    [],
  )
})

function rulesOf(findings: readonly string[]): string[] {
  return findings.map((finding) => finding.split(' ')[0] ?? '').sort()
}
