// The command line: runs the command that the arguments name, and explains wrong arguments.

import { Command, CommanderError } from 'commander'
import { AppError, OperatorError, SettingError } from '../domain/errors.ts'
import { readVersion } from '../package.ts'
import { complain, print, type Terminal } from '../terminal.ts'
import { type Add, addFileCommands, addServerCommands, addTokenCommands, addWebhookCommands } from './commands.ts'

/** Returns the exit status: 0 for success, 1 for failure, 2 for wrong usage or settings. */
export async function run(terminal: Terminal): Promise<number> {
  let status = 0
  let help = ''
  const program = createProgram(terminal, (text) => {
    help += text
  })
  const add: Add = (parent, words, load) => {
    const command = parent.command(words)
    return command.exitOverride(explainTo(command)).action(async () => {
      const names = command.registeredArguments.map((argument) => argument.name())
      const given = Object.fromEntries(names.map((name, index) => [name, command.processedArgs[index]]))
      const options = Object.assign(command.opts(), given)
      const empty = Object.keys(options).find((name) => options[name] === '')
      if (empty !== undefined) {
        const option = command.options.find((each) => each.attributeName() === empty)
        throw new SettingError(`${option?.long ?? empty}: must not be empty`)
      }
      const run = await load()
      const result = await run(options as never, terminal, command)
      if (typeof result === 'number') status = result
    })
  }
  addServerCommands(program, add, terminal)
  addTokenCommands(program, add, terminal)
  addWebhookCommands(program, add, terminal)
  addFileCommands(program, add, terminal)
  try {
    const args = terminal.args.length === 0 ? ['serve'] : terminal.args
    await program.parseAsync(args, { from: 'user' }).catch((error) => {
      if (!(error instanceof CommanderError)) throw error
      // The help and the version are not errors.
      status = error.exitCode === 0 ? 0 : 2
    })
    if (help !== '') await print(terminal.stdout, help)
    return status
  } catch (error) {
    if (!(error instanceof OperatorError || error instanceof AppError)) throw error
    const cause = error instanceof AppError && error.cause instanceof Error ? `: ${error.cause.message}` : ''
    complain('error', `${error.message}${cause}`, terminal)
    return error instanceof SettingError ? 2 : 1
  }
}

/** @param writeHelp receives the help or the version. */
function createProgram({ stderr }: Terminal, writeHelp: (text: string) => void): Command {
  const program = new Command('plantstore')
  return program
    .description('A durable server for the OpenAPI Plant Store. Without a command, starts the server.')
    .version(readVersion(), '--version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .showSuggestionAfterError()
    .exitOverride(explainTo(program))
    .configureOutput({
      writeOut: writeHelp,
      writeErr: (text) => stderr.write(text),
      // `run` prints errors.
      outputError: () => {},
    })
}

/** Turns an error of commander into one line, with the usage of the command if arguments do not match it. */
function explainTo(command: Command): (error: CommanderError) => never {
  return (error) => {
    if (error.exitCode === 0 || error.code === 'commander.help') throw error
    const line = error.message.replace(/^error: /, '').replaceAll(/\s*\n\s*/g, ' ')
    const isOfArguments = error.code === 'commander.missingArgument' || error.code === 'commander.excessArguments'
    if (!isOfArguments) throw new SettingError(line)
    throw new SettingError(`${line.replace(/\.$/, '')}; usage: ${command.createHelp().commandUsage(command)}`)
  }
}
