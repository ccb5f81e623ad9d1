// openapi.yaml by the rules of the linters that people run over it, which redocly.yaml and .spectral.yaml have.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import core, { type RulesetDefinition } from '@stoplight/spectral-core'
import rulesets from '@stoplight/spectral-rulesets'
import { parse } from 'yaml'

const read = (name: string): Promise<string> => readFile(new URL(`../../${name}`, import.meta.url), 'utf8')
const yaml = await read('openapi.yaml')
const withFaults = yaml.replace(/^ {2}contact:\n.*\n/m, '').replace('operationId: getLivez', 'operationId: get livez')

describe('openapi.yaml', () => {
  test('has nothing that Redocly objects to', async () => {
    const config = await createConfig(await read('redocly.yaml'))
    const lint = async (source: string): Promise<string[]> => {
      const problems = await lintFromString({ source, absoluteRef: 'openapi.yaml', config })
      return problems.map(({ ruleId, location, message }) => `${ruleId} at ${location[0]?.pointer}: ${message}`)
    }
    assert.deepEqual(await lint(yaml), [])
    assert.deepEqual(rulesOf(await lint(withFaults)), ['info-contact', 'operation-operationId-url-safe'])
  })

  test('has nothing that Spectral objects to', async () => {
    const { extends: sets, rules } = parse(await read('.spectral.yaml'))
    assert.deepEqual(sets, [['spectral:oas', 'all']])
    const spectral = new core.Spectral()
    spectral.setRuleset({ extends: [[rulesets.oas as RulesetDefinition, 'all']], rules })
    const lint = async (source: string): Promise<string[]> =>
      (await spectral.run(parse(source))).map(({ code, path, message }) => `${code} at ${path.join('.')}: ${message}`)
    assert.deepEqual(await lint(yaml), [])
    assert.deepEqual(rulesOf(await lint(withFaults)), ['info-contact', 'operation-operationId-valid-in-url'])
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
