// Explains command line errors to people.

import type { Command, CommanderError } from 'commander'

/** Explains the error in one line, and adds the usage when arguments do not match it. */
export function explainMisuse({ code, message }: CommanderError, program: Command, args: readonly string[]): string {
  const isOfArguments = code === 'commander.missingArgument' || code === 'commander.excessArguments'
  return isOfArguments
    ? `${toOneLine(message).replace(/\.$/, '')}; usage: ${usageOf(program, args)}`
    : toOneLine(message)
}

/** The usage of the command that the arguments name, with its full name. */
function usageOf(command: Command, [name, ...rest]: readonly string[]): string {
  const named = command.commands.find((each) => each.name() === name)
  return named === undefined ? `${command.name()} ${command.usage()}` : `${command.name()} ${usageOf(named, rest)}`
}

function toOneLine(text: string): string {
  return text
    .replace(/^error: /, '')
    .trim()
    .replaceAll(/\s*\n\s*/g, ' ')
}
