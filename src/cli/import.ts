// `plantstore import`: adds plants from a file, validating each line like a POST.

import { statSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { parseSettings } from '../config.ts'
import { openContract } from '../contract/contract.ts'
import { MissingStoreError, OperatorError } from '../domain/errors.ts'
import type { PlantImport, Store } from '../domain/store.ts'
import { openStore } from '../store/open.ts'
import { assertReadableFile, explainFileFailure } from '../store/paths.ts'
import type { Terminal } from '../terminal.ts'
import { type ImportOptions, ImportRun } from './import-run.ts'
import { assertNotOfStore, commandOptions, withStore } from './stores.ts'

type ImportCommandOptions = Omit<ImportOptions, 'contract'> & { readonly document: string }

/** Returns the exit status: 0 if every plant was imported, else 1. */
export async function importPlants({ document, ...asked }: ImportCommandOptions, terminal: Terminal): Promise<number> {
  keepMemorySmall()
  const contract = await openContract(parseSettings({ document }).document)
  const options = { ...asked, contract }
  if (options.file !== '-') assertImportable(options.file)
  if (options.rejects !== undefined) await assertNotOfStore(options.rejects, options.store)
  if (options.dryRun) return tryImport(options, terminal)
  return withStore(options.store, terminal, async (store) => {
    const target = await store.beginImport({ isWhole: options.allOrNothing })
    return new ImportRun(target, options, terminal).run()
  })
}

/** Performs a dry run: imports into a scratch store and neither creates nor changes the real one. */
async function tryImport(options: ImportOptions, terminal: Terminal): Promise<number> {
  await using store = await openStore(options.store, { ...commandOptions(terminal), mayMake: false }).catch((cause) => {
    if (cause instanceof MissingStoreError) return undefined
    throw cause
  })
  const folder = await mkdtemp(join(tmpdir(), 'plantstore-')).catch((cause) => {
    throw explainFileFailure(cause, tmpdir(), 'written')
  })
  try {
    await using scratch = await openStore(join(folder, 'dry-run.db'), commandOptions(terminal))
    return await new ImportRun(await beginDryRun(store, scratch), options, terminal).run()
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** V8 lets a heap of short-lived values grow to 100 MB before collecting; this makes it collect sooner. */
function keepMemorySmall(): void {
  setFlagsFromString('--optimize-for-size')
  setFlagsFromString('--semi-space-growth-factor=1')
}

/**
 * Begins an import into a scratch store, which receives the real store's plants of the same ids. It delays no other
 * request.
 */
async function beginDryRun(store: Store | undefined, scratch: Store): Promise<PlantImport> {
  const trial = await scratch.beginImport({ isWhole: true })
  return {
    isCommitted: false,
    add: async (plants, onConflict) => {
      const found = await Promise.all(plants.map(({ id }) => store?.getPlant(id)))
      await trial.add(
        found.filter((plant) => plant !== undefined),
        'skip',
      )
      return trial.add(plants, onConflict)
    },
    commit: () => trial.commit(),
    end: () => trial.end(),
  }
}

/** A device may be endless. */
function assertImportable(file: string): void {
  assertReadableFile(file)
  const facts = statSync(file)
  if (facts.isBlockDevice() || facts.isCharacterDevice()) {
    throw new OperatorError(`${file} is a device; name a file, or - for standard input`)
  }
}
