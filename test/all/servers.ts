import { importTests } from './folders.ts'

await importTests('servers')
