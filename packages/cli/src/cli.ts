/** All commands of `atrium`, and the one place where errors become exit codes. */
import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { agentsCommand } from './commands/agents.js';
import { serveCommand } from './commands/serve.js';
import { serviceCommand } from './commands/service.js';
import { trustCommand } from './commands/trust.js';
import { ExitCode, exitCodeOf, explain } from './exit.js';

/** Runs one command to its end. Takes what `process.argv` holds. */
export async function run(argv: readonly string[]): Promise<ExitCode> {
  try {
    await program().parseAsync([...argv]);
    return ExitCode.Ok;
  } catch (error) {
    const text = explain(error);
    if (text !== undefined) process.stderr.write(`${text}\n`);
    return exitCodeOf(error);
  }
}

function program(): Command {
  const command = new Command('atrium')
    .description('A portable host for AI coding agents')
    .version(version(), '-V, --version')
    .showHelpAfterError('(atrium --help shows all commands)')
    .exitOverride();
  // `addCommand` does not pass this on, and every error has to come back here.
  for (const each of [serveCommand(), serviceCommand(), agentsCommand(), trustCommand()])
    command.addCommand(each.exitOverride());
  return command;
}

function version(): string {
  const file: { version: string } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  return file.version;
}
