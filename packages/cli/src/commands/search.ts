/** `atrium search`: finds words in all sessions. */
import { resolve } from 'node:path';
import { Command } from 'commander';
import { HOST_HELP, type HostOptions, jsonOption, wholeNumber, withHostOptions } from '../connect/host-options.js';
import { withClient } from '../connect/with-client.js';
import { UsageError } from '../exit.js';

const EXAMPLES = `
Searches messages, answers, reasoning, what tools did, commands, changed files and titles, the newest first.
"a phrase" in quotes, begin* for the beginning of a word, -word to leave out what has it (behind --).
${HOST_HELP}

Examples:
  $ atrium search rate limiter
  $ atrium search '"connection reset"' --since 7d
  $ atrium search retry --folder . --agent claude
  $ atrium search --file src/server.ts
  $ atrium search -- retry -backoff
  $ atrium search retry --json | jq -r '.items[].session'

Exit codes: 0 done, 1 an error, 2 called in a wrong way, 4 no such session.`;

interface Options extends HostOptions {
  readonly folder?: string;
  readonly agent?: string;
  readonly model?: string;
  readonly file?: string;
  readonly state?: string;
  readonly since?: string;
  readonly until?: string;
  readonly session?: string;
  readonly limit: number;
  readonly json?: boolean;
}

export function searchCommand(): Command {
  const command = new Command('search')
    .description('Find words in all sessions')
    .argument('[words...]', 'what to find')
    .option('--folder <path>', 'only sessions that work there')
    .option('--agent <name>', 'only sessions of this agent')
    .option('--model <name>', 'only turns with this model')
    .option('--file <path>', 'only turns that changed such a file')
    .option('--state <state>', 'idle, working, waiting, failed, unread, archived or pinned')
    .option('--since <when>', 'a day like 2026-03-01, or 12h, 7d, 2w')
    .option('--until <when>', 'the same, for the end')
    .option('--session <session>', 'only this one')
    .option('--limit <number>', 'how many to show', wholeNumber, 20)
    .addOption(jsonOption())
    .addHelpText('after', EXAMPLES)
    .showHelpAfterError('(atrium search --help shows all options)');
  withHostOptions(command);
  return command.action((words: string[]) => {
    const {
      folder,
      agent,
      model,
      file,
      state,
      since,
      until,
      session,
      limit,
      json = false,
      ...host
    } = command.opts<Options>();
    const filters = { agent, model, file, state, since, until };
    if (words.length === 0 && folder === undefined && Object.values(filters).every((value) => value === undefined))
      throw new UsageError('say what to find: atrium search <words>');
    return withClient(host, async (client) => {
      const { printFound } = await import('../sessions/search.js');
      const { findSession } = await import('../sessions/find-session.js');
      const channel =
        session === undefined ? {} : { channel: findSession(await client.listSessions(), session).resource };
      const place = folder === undefined ? {} : { folder: host.url === undefined ? resolve(folder) : folder };
      const chosen = Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined));
      return printFound(client, { query: words.join(' '), ...chosen, ...place, ...channel }, { json, limit });
    });
  });
}
