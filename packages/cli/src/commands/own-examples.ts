/** Examples of a group of commands, given to each of them: those in which it is named. */
import type { Command } from 'commander';

/** `group` is the command above, as it is typed; `help` is its text with the examples. */
export function withOwnExamples(command: Command, group: string, help: string): Command {
  const typed = `atrium ${group} ${command.name()}`;
  const own = help.split('\n').filter((line) => line.startsWith('  $ ') && line.includes(typed));
  return command.addHelpText('after', ['', 'Examples:', ...own].join('\n'));
}
