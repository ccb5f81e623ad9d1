// All commands with their arguments, options and help. Each command's file is imported on demand, so that no command
// pays for another's dependencies.

import { type Command, Option } from 'commander'
import { defaultFirstId, rangeIds } from '../../verify/ids.ts'
import { levels } from '../../verify/results.ts'
import { nonEmpty, parseDuration, settings } from '../config.ts'
import { allScopes } from '../domain/caller.ts'
import { changeKinds } from '../domain/change.ts'
import { formats } from '../files/formats.ts'
import { limits } from '../limits.ts'
import type { Terminal } from '../terminal.ts'
import {
  argument,
  localUrl,
  option,
  orVariable,
  parseIdRange,
  parseKeep,
  parseLifetime,
  parseName,
  parseTimeout,
  parseToken,
  parseUrl,
  parseWebhookUrl,
  someOf,
  toOption,
} from './options.ts'

/** Runs a command. `options` also contains its arguments, by name. May return an exit status instead of throwing. */
export type Run = (options: never, terminal: Terminal, command: Command) => Promise<unknown>

/** Adds a command to a parent. `words` are its name and the names of its arguments. */
export type Add = (parent: Command, words: string, load: () => Promise<Run>) => Command

export function addServerCommands(program: Command, add: Add, terminal: Terminal): void {
  const serve = add(program, 'serve', async () => (await import('./serve.ts')).serve).description('start the server')
  const config = add(program, 'config', async () => (await import('./config.ts')).showConfig)
    .description('show the settings that a server would use, and where each comes from')
    .option('--limits', 'also show the fixed limits')
  for (const command of [serve, config])
    for (const each of Object.values(settings)) command.addOption(toOption(each, terminal))
  const url = option('--url <url>', 'URL of the server', parseUrl, localUrl)
  const token = (flag: string, help: string): Option => option(flag, help, parseToken)
  add(program, 'watch', async () => (await import('./watch.ts')).watch)
    .description('print each change of a plant on a server as it happens')
    .addOption(orVariable('PLANTSTORE_URL', url, terminal))
    .addOption(orVariable('PLANTSTORE_TOKEN', token('--token <token>', 'access token'), terminal))
    .addOption(new Option('--after <position>', 'only changes after this position').conflicts('all'))
    .option('--all', 'begin with the oldest change that the server has', false)
  const ids = `the first of ${rangeIds} free ids; no others are touched`
  const level = 'specified: what the sample document requires; complete: all of openapi.yaml'
  const seconds = String(limits.verifyAnswerMs / 1_000)
  add(program, 'verify', async () => (await import('./verify.ts')).verifyServer)
    .description('check that a server conforms to the Plant Store document')
    .addArgument(argument('[url]', `URL of the server (default: PLANTSTORE_URL, else ${localUrl})`, parseUrl))
    .addOption(orVariable('PLANTSTORE_TOKEN', token('--token <token>', 'a token that may read and write'), terminal))
    .addOption(token('--second-token <token>', 'another token that may read and write'))
    .addOption(token('--read-only-token <token>', 'a token that may only read'))
    .addOption(token('--write-only-token <token>', 'a token that may only write'))
    .addOption(token('--expired-token <token>', 'a token that has expired'))
    .addOption(token('--revoked-token <token>', 'a token that was revoked'))
    .addOption(toOption(settings.document, terminal))
    .addOption(new Option('--level <level>', level).choices(levels).default('complete'))
    .addOption(option('--ids <first>', ids, parseIdRange, String(defaultFirstId)))
    .addOption(option('--timeout <seconds>', 'time limit of each request', parseTimeout, seconds))
    .option('--json', 'print JSON', false)
    .option('--junit <file>', 'also write a JUnit XML file')
    .option('--verbose', 'print a line for each row', false)
}

export function addTokenCommands(program: Command, add: Add, terminal: Terminal): void {
  const parent = program.command('token').description('create, list, rotate and revoke access tokens')
  const store = toOption(settings.store, terminal)
  const command = (name: keyof typeof import('./token.ts'), words = ''): Command =>
    add(parent, `${name} ${words}`, async () => (await import('./token.ts'))[name]).addOption(store)
  command('create')
    .description('create a token and print only the token to stdout')
    .addOption(option('--name <name>', 'what the token is for', parseName).makeOptionMandatory())
    .addOption(
      option('--scope <scopes>', 'scopes of the token, comma-separated', someOf(allScopes), allScopes.join(',')),
    )
    .addOption(option('--expires <time>', 'lifetime such as 90d, 12h, 30m or 60s, or never', parseLifetime, 'never'))
  command('list')
    .description('list all tokens, without their secrets')
    .option('--json', 'print JSON instead of a table', false)
  const overlap = 'how long the old token is still valid, such as 24h or 30m; 0s revokes it at once'
  command('rotate', '<id>')
    .description('replace a token with a new one, and print only the new one to stdout')
    .addOption(option('--overlap <time>', overlap, parseDuration, '24h'))
  command('revoke', '<id>').description('revoke a token for good; a running server rejects it within a second')
}

export function addWebhookCommands(program: Command, add: Add, terminal: Terminal): void {
  const parent = program.command('webhook').description('send each change of a plant to other services')
  const store = toOption(settings.store, terminal)
  const command = (name: keyof typeof import('./webhook.ts'), words = ''): Command =>
    add(parent, `${name} ${words}`, async () => (await import('./webhook.ts'))[name]).addOption(store)
  const url = 'https URL that receives the changes; http only to this machine'
  command('add')
    .description('add a webhook and print only its signing secret to stdout')
    .addArgument(argument('<url>', url, parseWebhookUrl))
    .addOption(
      option('--on <kinds>', 'kinds of changes to send, comma-separated', someOf(changeKinds), changeKinds.join(',')),
    )
    .addOption(option('--name <name>', 'what the webhook is for', parseName))
  command('list')
    .description('list all webhooks, how far behind they are, and their last answers')
    .option('--json', 'print JSON instead of a table', false)
  command('show', '<id>')
    .description('print everything about a webhook but its secrets')
    .option('--json', 'print JSON', false)
  command('rotate', '<id>').description('print a new signing secret; the old one signs, too, for 24 hours')
  command('pause', '<id>').description('send nothing until the webhook is resumed')
  command('resume', '<id>').description('send all changes since the webhook was paused')
  command('send', '<id>')
    .description('send again all changes after a position')
    .requiredOption('--after <position>', 'a position from `show`, oldest, or now')
  command('test', '<id>').description('send a test, and print the answer')
  command('remove', '<id>').description('remove a webhook for good')
}

export function addFileCommands(program: Command, add: Add, terminal: Terminal): void {
  const store = toOption(settings.store, terminal)
  const command = (words: string, load: () => Promise<Run>): Command => add(program, words, load).addOption(store)
  const document = toOption(settings.document, terminal)
  const byExtension = 'format of the file; by default its extension decides, else ndjson'
  const format = new Option('--format <format>', byExtension).choices(formats)
  const taken = new Option('--on-conflict <what>', 'what to do with an id that is taken')
  command('import <file>', async () => (await import('./import.ts')).importPlants)
    .description('add plants from a file, or from standard input for -')
    .addOption(format)
    .addOption(taken.choices(['fail', 'skip', 'replace']).default('fail'))
    .option('--dry-run', 'report what would happen, and change nothing', false)
    .option('--all-or-nothing', 'import nothing unless everything can be imported', false)
    .option('--rejects <file>', 'new file for the rejected lines')
    .addOption(document)
  command('export [file]', async () => (await import('./export.ts')).exportPlants)
    .description('write all plants to a file, replacing an existing one, or to standard output')
    .addOption(format)
    .addOption(document)
  const folder = 'folder for a backup that is named after the store and the time'
  command('backup [file]', async () => (await import('./backup.ts')).backup)
    .description('copy the store to a new file, even while a server is running')
    .addOption(option('--folder <folder>', folder, nonEmpty))
    .addOption(option('--keep <number>', 'how many backups of this store the folder keeps: the newest', parseKeep))
  command('restore <file>', async () => (await import('./backup.ts')).restore)
    .description('replace the store with a backup')
    .option('--force', 'replace an existing store', false)
  command('check', async () => (await import('./check.ts')).check)
    .description('check the whole store for damage, and its plants against your own document')
    .addOption(document)
}
