import { importTests } from './folders.ts'

await importTests('verify')
