// The commands of operators that manage the tokens and the webhooks of a store.

import { type Command, Option } from 'commander'
import { setting } from '../config.ts'
import { allScopes } from '../domain/caller.ts'
import { changeKinds } from '../domain/change.ts'
import type { Terminal } from '../terminal.ts'
import {
  parseKinds,
  parseLifetime,
  parseOverlap,
  parseScopes,
  parseTokenName,
  parseWebhookUrl,
  toOption,
} from './options.ts'

/** How long a rotated token stays valid, unless `--overlap` is set. */
const overlapMs = 24 * 60 * 60 * 1000

/** Commands that manage the tokens of a store. */
export function addTokenCommands(program: Command, terminal: Terminal): void {
  const token = program.command('token').description('create, list, rotate and revoke access tokens')
  token
    .command('create')
    .description('create a token and print only the token to stdout')
    .requiredOption('--name <name>', 'what the token is for', parseTokenName)
    .addOption(
      new Option('--scope <scopes>', 'what the token may do, comma-separated')
        .argParser(parseScopes)
        .default(allScopes, allScopes.join(',')),
    )
    .option('--expires <time>', 'lifetime such as 90d, 12h, 30m or 60s, or never', parseLifetime, 'never')
    .addOption(toOption(setting('store'), terminal))
    .action(async ({ store, name, scope, expires }) => {
      const { tokenCreate } = await import('./token.ts')
      await tokenCreate(store, { name, scopes: scope, ...(expires !== 'never' && { lifetimeMs: expires }) }, terminal)
    })
  token
    .command('list')
    .description('list all tokens, without their secrets')
    .option('--json', 'print JSON instead of a table', false)
    .addOption(toOption(setting('store'), terminal))
    .action(async ({ store, json }) => (await import('./token.ts')).tokenList(store, { json }, terminal))
  token
    .command('rotate <id>')
    .description('replace a token with a new one like it, and print only that to stdout')
    .addOption(
      new Option('--overlap <time>', 'how long the old token is still valid, such as 24h or 30m; 0s revokes it at once')
        .argParser(parseOverlap)
        .default(overlapMs, '24h'),
    )
    .addOption(toOption(setting('store'), terminal))
    .action(async (id, { store, overlap }) =>
      (await import('./token.ts')).tokenRotate(store, id, { overlapMs: overlap }, terminal),
    )
  token
    .command('revoke <id>')
    .description('revoke a token for good; a running server refuses it within a second')
    .addOption(toOption(setting('store'), terminal))
    .action(async (id, { store }) => (await import('./token.ts')).tokenRevoke(store, id, terminal))
}

/** Commands that manage the webhooks of a store. */
export function addWebhookCommands(program: Command, terminal: Terminal, end: (status: number) => void): void {
  const load = () => import('./webhook.ts')
  const webhook = program.command('webhook').description('send each change of a plant to other services')
  const command = (words: string, description: string): Command =>
    webhook
      .command(words)
      .description(description)
      .addOption(toOption(setting('store'), terminal))
  command('add', 'add a webhook and print only its signing secret to stdout')
    .argument('<url>', 'https URL that gets the changes; http only to this machine', parseWebhookUrl)
    .addOption(
      new Option('--on <kinds>', 'which changes, comma-separated')
        .argParser(parseKinds)
        .default(changeKinds, changeKinds.join(',')),
    )
    .option('--name <name>', 'what the webhook is for', parseTokenName)
    .addOption(new Option('--from <where>', 'which change is sent first').choices(['now', 'oldest']).default('now'))
    .action(async (url, options) => (await load()).webhookAdd(options.store, { url, ...options }, terminal))
  command('list', 'list all webhooks, how far behind they are, and their last answers')
    .option('--json', 'print JSON instead of a table', false)
    .action(async ({ store, json }) => (await load()).webhookList(store, { json }, terminal))
  command('show <id>', 'print everything about a webhook but its secrets')
    .option('--json', 'print JSON', false)
    .action(async (id, { store, json }) => (await load()).webhookShow(store, id, { json }, terminal))
  command('rotate <id>', 'print a new signing secret; the old one signs, too, for 24 hours').action(
    async (id, { store }) => (await load()).webhookRotate(store, id, terminal),
  )
  command('pause <id>', 'send nothing until the webhook is resumed').action(async (id, { store }) =>
    (await load()).webhookPause(store, id, terminal),
  )
  command('resume <id>', 'send all changes since the webhook was paused').action(async (id, { store }) =>
    (await load()).webhookResume(store, id, terminal),
  )
  command('send <id>', 'send all changes after a position again')
    .requiredOption('--after <position>', 'a position from `show`, oldest, or now')
    .action(async (id, { store, after }) => (await load()).webhookSend(store, id, { after }, terminal))
  command('test <id>', 'send a test, and print the answer').action(async (id, { store }) =>
    end(await (await load()).webhookTest(store, id, terminal)),
  )
  command('remove <id>', 'remove a webhook for good').action(async (id, { store }) =>
    (await load()).webhookRemove(store, id, terminal),
  )
}
