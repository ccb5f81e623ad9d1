// Preloaded into a server: replaces limits by those of the variable TEST_LIMITS, as JSON.

const { freeze } = Object
const own = JSON.parse(process.env['TEST_LIMITS'] ?? '{}')

Object.freeze = (<T extends object>(all: T) => freeze('stopGraceMs' in all ? { ...all, ...own } : all)) as typeof freeze
await import('../../src/limits.ts')
Object.freeze = freeze
