// The command line: runs the command that the arguments name, and explains wrong arguments.

import { Command, CommanderError } from 'commander'
import { AppError, OperatorError, SettingError } from '../domain/errors.ts'
import { complain, type Terminal } from '../terminal.ts'
import { readVersion } from '../version.ts'
import { type Add, addFileCommands, addServerCommands, addTokenCommands, addWebhookCommands } from './commands.ts'

/** Returns the exit status: 0 for success, 1 for failure, 2 for wrong usage or settings. */
export async function run(terminal: Terminal): Promise<number> {
  let status = 0
  const program = createProgram(terminal)
  const add: Add = (parent, words, load) => {
    const command = parent.command(words)
    return command.exitOverride(explainTo(command)).action(async () => {
      const names = command.registeredArguments.map((argument) => argument.name())
      const given = Object.fromEntries(names.map((name, index) => [name, command.processedArgs[index]]))
      const run = await load()
      const result = await run(Object.assign(command.opts(), given) as never, terminal, command)
      if (typeof result === 'number') status = result
    })
  }
  addServerCommands(program, add, terminal)
  addTokenCommands(program, add, terminal)
  addWebhookCommands(program, add, terminal)
  addFileCommands(program, add, terminal)
  try {
    await program.parseAsync(terminal.args.length === 0 ? ['serve'] : terminal.args, { from: 'user' })
    return status
  } catch (error) {
    // The help and the version are not errors.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    if (!(error instanceof OperatorError || error instanceof AppError)) throw error
    const cause = error instanceof AppError && error.cause instanceof Error ? `: ${error.cause.message}` : ''
    complain('error', `${error.message}${cause}`, terminal)
    return error instanceof SettingError ? 2 : 1
  }
}

function createProgram({ stdout, stderr }: Terminal): Command {
  const program = new Command('plantstore')
  return program
    .description('A plant store that really keeps its plants. Without a command, it starts the server.')
    .version(readVersion(), '--version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .showSuggestionAfterError()
    .exitOverride(explainTo(program))
    .configureOutput({
      writeOut: (text) => stdout.write(text),
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
