// The command line: defines each command, its flags and help, and dispatches to the command's file. That file is
// imported on demand, so that no command pays for another's dependencies.

import { Argument, Command, CommanderError, Option } from 'commander'
import { parseSettings, type SettingTexts, setting, settings } from '../config.ts'
import type { Contract } from '../contract/contract.ts'
import { changeKinds } from '../domain/change.ts'
import { AppError, OperatorError, SettingError } from '../domain/errors.ts'
import { chooseExportFormat, chooseFormat, formats } from '../files/formats.ts'
import { limits } from '../limits.ts'
import { complain, type Terminal } from '../terminal.ts'
import { defaultFirstId, IdRange, rangeIds } from '../verify/ids.ts'
import { levels } from '../verify/results.ts'
import { readVersion } from '../version.ts'
import { explainMisuse } from './misuse.ts'
import { addTokenCommands, addWebhookCommands } from './operator-commands.ts'
import {
  chooseBackupTarget,
  chooseUrl,
  fieldValue,
  localUrl,
  orMisuse,
  orVariable,
  parseBaseUrl,
  parseFolder,
  parseIdRange,
  parseKeep,
  parseTimeout,
  parseUrl,
  toOption,
} from './options.ts'

/**
 * Runs the command that the arguments name. Returns the exit status: 0 for success, 1 for failure, 2 for wrong usage or
 * settings.
 */
export async function run(terminal: Terminal): Promise<number> {
  let status = 0
  const end = (wanted: number): void => {
    status = wanted
  }
  const program = createProgram(terminal, end)
  try {
    const { args } = terminal
    await program.parseAsync(args.length === 0 ? ['serve'] : args, { from: 'user' })
    return status
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return 0
      // The help speaks for itself.
      if (error.code !== 'commander.help') complain('error', explainMisuse(error, program, terminal.args), terminal)
      return 2
    }
    if (!(error instanceof OperatorError || error instanceof AppError)) throw error
    const cause = error instanceof AppError && error.cause instanceof Error ? `: ${error.cause.message}` : ''
    complain('error', `${error.message}${cause}`, terminal)
    return error instanceof SettingError ? 2 : 1
  }
}

/** @param end receives the exit status of a command that may fail without throwing. */
function createProgram(terminal: Terminal, end: (status: number) => void): Command {
  const program = new Command('plantstore')
    .description('A plant store that really keeps its plants. Without a command, it starts the server.')
    .version(readVersion(), '--version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .showSuggestionAfterError()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.stdout.write(text),
      writeErr: (text) => terminal.stderr.write(text),
      // `run` prints errors.
      outputError: () => {},
    })

  const serveCommand = program.command('serve').description('start the server')
  for (const each of settings) serveCommand.addOption(toOption(each, terminal))
  serveCommand.action(async (options) =>
    (await import('./serve.ts')).serve(parseSettings(options as SettingTexts), terminal),
  )

  addTokenCommands(program, terminal)
  addWebhookCommands(program, terminal, end)

  const config = program
    .command('config')
    .description('show the settings that a server would use, and where each comes from')
  for (const each of settings) config.addOption(toOption(each, terminal))
  config.option('--limits', 'show the fixed limits, too')
  config.action(async (options) => {
    const { showConfig } = await import('./config.ts')
    await showConfig(options as SettingTexts, (name) => config.getOptionValueSource(name), options, terminal)
  })

  addFileCommands(program, terminal, end)
  addWatchCommand(program, terminal)
  addVerifyCommand(program, terminal, end)
  return program
}

/** The value of `--document`. */
function documentOf({ document }: { readonly document: string }): string | undefined {
  return parseSettings({ document }).document
}

async function openContractOf(options: { readonly document: string }): Promise<Contract> {
  return (await import('../contract/contract.ts')).openContract(documentOf(options))
}

/** Commands on a store's file, with or without a running server. */
function addFileCommands(program: Command, terminal: Terminal, end: (status: number) => void): void {
  const store = (): Option => toOption(setting('store'), terminal)
  const document = (): Option => toOption(setting('document'), terminal)
  const format = (): Option =>
    new Option('--format <format>', 'format of the file; by default its extension decides, else ndjson').choices(
      formats,
    )
  program
    .command('import <file>')
    .description('add plants from a file, or from standard input for -')
    .addOption(format())
    .addOption(
      new Option('--on-conflict <what>', 'what to do with an id that is taken')
        .choices(['fail', 'skip', 'replace'])
        .default('fail'),
    )
    .option('--dry-run', 'only say what would happen', false)
    .option('--all-or-nothing', 'import nothing unless everything can be imported', false)
    .option('--rejects <file>', 'write refused lines to a file')
    .addOption(store())
    .addOption(document())
    .action(async (file, options) => {
      const { importPlants } = await import('./import.ts')
      const contract = await openContractOf(options)
      end(await importPlants({ ...options, contract, file, format: chooseFormat(file, options.format) }, terminal))
    })
  program
    .command('export [file]')
    .description('write all plants to a file, replacing an existing one, or to standard output')
    .addOption(format())
    .option('--tag <tag>', 'only plants with this tag')
    .addOption(store())
    .addOption(document())
    .action(async (file = '-', options) => {
      const { exportPlants } = await import('./export.ts')
      const format = orMisuse(() => chooseExportFormat(file, options.format))
      const contract = await openContractOf(options)
      await exportPlants({ ...options, contract, file, format }, terminal)
    })
  program
    .command('backup [file]')
    .description('copy the store to a new file, even while a server is running')
    .option('--folder <folder>', 'a folder instead, for files named after the store and the time', parseFolder)
    .addOption(
      new Option('--keep <number>', 'remove all but the newest backups of this store there').argParser(parseKeep),
    )
    .addOption(store())
    .action(async (file, options) => {
      const target = chooseBackupTarget(file, options)
      await (await import('./backup.ts')).backup(options.store, target, terminal)
    })
  program
    .command('restore <file>')
    .description('replace the store with a backup')
    .option('--force', 'replace an existing store', false)
    .addOption(store())
    .action(async (file, options) => (await import('./backup.ts')).restore(file, options.store, options, terminal))
  program
    .command('check')
    .description('check the whole store for damage, and its plants by a document of your own')
    .addOption(store())
    .addOption(document())
    .action(async (options) =>
      end(await (await import('./check.ts')).check(options.store, documentOf(options), terminal)),
    )
}

function addWatchCommand(program: Command, terminal: Terminal): void {
  program
    .command('watch')
    .description('print each change of a plant on a server as it happens')
    .addOption(
      orVariable('PLANTSTORE_URL', new Option('--url <url>', 'URL of the server'), terminal)
        .default(localUrl)
        .argParser(parseUrl),
    )
    .addOption(
      orVariable('PLANTSTORE_TOKEN', new Option('--token <token>', 'access token'), terminal).argParser(
        fieldValue('--token or PLANTSTORE_TOKEN'),
      ),
    )
    .option('--after <position>', 'only changes after this position')
    .addOption(new Option('--kind <kind>', 'only changes of this kind').choices(changeKinds))
    .option('--all', 'begin with the oldest change that the server has', false)
    .option('--json', 'print JSON even on a terminal', false)
    .action(async (options) => (await import('./watch.ts')).watch(options, terminal))
}

/** The command that tests any server against the document. */
function addVerifyCommand(program: Command, terminal: Terminal, end: (status: number) => void): void {
  const tokenOption = (flag: string, help: string): Option =>
    new Option(flag, help).argParser(fieldValue(flag.split(' ')[0] ?? ''))
  program
    .command('verify')
    .description('check that a server does what the Plant Store document says')
    .addArgument(
      new Argument('[url]', 'URL of the server (default: PLANTSTORE_URL, else http://127.0.0.1:3000)').argParser(
        parseBaseUrl,
      ),
    )
    .addOption(
      orVariable('PLANTSTORE_TOKEN', tokenOption('--token <token>', 'a token that may read and write'), terminal),
    )
    .addOption(tokenOption('--second-token <token>', 'another token that may read and write'))
    .addOption(tokenOption('--read-only-token <token>', 'a token that may only read'))
    .addOption(tokenOption('--write-only-token <token>', 'a token that may only write'))
    .addOption(tokenOption('--expired-token <token>', 'a token that has expired'))
    .addOption(tokenOption('--revoked-token <token>', 'a token that was revoked'))
    .addOption(
      new Option('--level <level>', 'specified: what the sample document says; complete: all of openapi.yaml')
        .choices(levels)
        .default('complete'),
    )
    .addOption(
      new Option('--ids <first>', `the first of ${rangeIds} ids that are free; no others are touched`)
        .argParser(parseIdRange)
        .default(new IdRange(defaultFirstId), String(defaultFirstId)),
    )
    .option('--timeout <seconds>', 'how long an answer may take', parseTimeout, limits.verifyAnswerMs / 1_000)
    .option('--json', 'print JSON', false)
    .option('--junit <file>', 'write a JUnit XML file, too')
    .option('--verbose', 'print a line for each row', false)
    .action(async (url, options) => {
      const { verifyServer } = await import('./verify.ts')
      end(await verifyServer(chooseUrl(url, terminal), options, terminal))
    })
}
