/** `atrium providers`: the providers of sessions, and their tools. */

import { Command } from 'commander';
import { HOST_HELP, type HostOptions, jsonOption, withHostOptions } from '../connect/host-options.js';
import { withClient } from '../connect/with-client.js';
import { io, print, printJson } from '../io.js';
import type { ReadSession } from '../sessions/find-session.js';
import { sessionOption } from './run.js';

const EXAMPLES = `
Providers are programs that give tools, checks, prompt text and events to sessions.
${HOST_HELP}

Examples:
  $ atrium providers
  $ atrium providers --session last
  $ atrium providers --json

Exit codes: 0 done, 1 an error, 2 called in a wrong way, 4 no such session.`;

interface ProviderEntry {
  readonly session: string;
  readonly name: string;
  readonly trust?: string;
  readonly tools?: readonly string[];
  /** The number of tools, if the list leaves some out. */
  readonly toolCount?: number;
  readonly away?: boolean;
}

interface Options extends HostOptions {
  readonly session?: string;
  readonly json?: boolean;
}

export function providersCommand(): Command {
  const command = new Command('providers')
    .description('Show the providers that are connected to sessions')
    .addOption(sessionOption())
    .addOption(jsonOption())
    .addHelpText('after', EXAMPLES)
    .showHelpAfterError('(atrium providers --help shows all options)');
  withHostOptions(command);
  return command.action(() => providers(command.opts<Options>()));
}

async function providers(options: Options): Promise<void> {
  const { readSessions } = await import('../sessions/find-session.js');
  const states = await withClient(options, (client) => readSessions(client, options.session));
  const found = states.flatMap(providersOf);
  if (options.json) return printJson(found);
  if (found.length === 0) return print('No provider is connected.');
  const { table } = await import('../text/table.js');
  const { shortId } = await import('../sessions/find-session.js');
  const { printable } = await import('../text/printable.js');
  const rows = found.map(({ session, name, trust = '', tools = [], toolCount = tools.length, away }) => {
    const more = toolCount > tools.length ? [`and ${toolCount - tools.length} more`] : [];
    const listed = [...tools, ...more].join(', ') || '(no tools)';
    return [shortId(session), name, trust, away ? 'reconnecting' : 'here', listed].map(printable);
  });
  print(table([['SESSION', 'PROVIDER', 'TRUST', 'STATE', 'TOOLS'], ...rows], io().stdout.columns));
}

/** The host keeps machine-readable facts about providers in the metadata of each session. */
function providersOf({ uri, state: { _meta } }: ReadSession): ProviderEntry[] {
  const gateway = _meta?.gateway as { providers?: unknown } | undefined;
  const entries = Array.isArray(gateway?.providers) ? gateway.providers : [];
  return entries.map((entry: Omit<ProviderEntry, 'session'>) => ({ session: uri, ...entry }));
}
