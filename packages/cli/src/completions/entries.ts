/** What can be completed, read off the program itself: commands, options, and the values that these take. */
import type { Argument, Command, Option } from 'commander';

export interface CompletedOption {
  readonly name: string;
  readonly text: string;
  /** What follows it: nothing, one of these words, a file, or something that nobody can guess. */
  readonly value: 'none' | 'file' | 'free' | readonly string[];
}

export interface Entry {
  /** The words that lead to it: `sessions list`. */
  readonly path: string;
  readonly commands: readonly { readonly name: string; readonly text: string }[];
  readonly options: readonly CompletedOption[];
  /** Words that the command itself takes. */
  readonly words: readonly string[];
  readonly takesFiles: boolean;
}

const HELP: CompletedOption = { name: '--help', text: 'show help', value: 'none' };

export function entriesOf(command: Command, path = ''): Entry[] {
  const commands = command.commands.map((each) => ({ name: each.name(), text: each.description() }));
  const options = command.options.flatMap((option) => (option.long ? [optionOf(option, option.long)] : []));
  const args: readonly Argument[] = command.registeredArguments;
  const words = args.flatMap(({ argChoices }) => argChoices ?? []);
  const takesFiles = args.some((argument) => isFile(argument.name()));
  const below = command.commands.flatMap((each) => entriesOf(each, `${path} ${each.name()}`.trim()));
  return [{ path, commands, options: [...options, HELP], words, takesFiles }, ...below];
}

function optionOf({ argChoices, description, flags, required, optional }: Option, name: string): CompletedOption {
  const free = isFile(flags) ? 'file' : 'free';
  return { name, text: description, value: argChoices ?? (required || optional ? free : 'none') };
}

function isFile(text: string): boolean {
  return /\b(file|folder)\b/.test(text);
}
