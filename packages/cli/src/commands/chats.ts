/** `atrium chats`: the conversations of a session. */
import { Command } from 'commander';
import { HOST_HELP, type HostOptions, jsonOption, withHostOptions } from '../connect/host-options.js';
import { withClient } from '../connect/with-client.js';
import { io, print, printJson } from '../io.js';

const EXAMPLES = `
A session has one chat to begin with. People add others, as forks and side chats, and agents add those of their workers,
which stand below the chat that they work for. Where a command takes --chat, a chat is named by its number in this list,
by a part of its title, or by its URI.
${HOST_HELP}

Examples:
  $ atrium chats                   those of the newest session
  $ atrium chats 1f2e --json
  $ atrium attach 1f2e --chat 2
  $ atrium sessions show 1f2e --chat 2

Exit codes: 0 done, 1 an error, 2 called in a wrong way, 4 no such session.`;

export function chatsCommand(): Command {
  const command = new Command('chats')
    .description('List the chats of a session')
    .argument('[session]', 'which one', 'last')
    .addOption(jsonOption())
    .addHelpText('after', EXAMPLES)
    .showHelpAfterError('(atrium chats --help shows all options)');
  withHostOptions(command);
  return command.action((name: string) => list(name, command.opts<HostOptions & { json?: boolean }>()));
}

async function list(name: string, options: HostOptions & { json?: boolean }): Promise<void> {
  const { chatName, chatState, chatTree, kindWord } = await import('../sessions/chats.js');
  const { findSession } = await import('../sessions/find-session.js');
  const { readState } = await import('../sessions/transfer.js');
  const session = await withClient(options, async (client) =>
    readState(client, findSession(await client.listSessions(), name).resource),
  );
  const rows = chatTree(session);
  if (options.json)
    return printJson(
      rows.map(({ chat, ...row }, index) => ({ number: index + 1, kind: kindWord({ chat, ...row }), ...row, ...chat })),
    );
  const { ago } = await import('../sessions/summary-text.js');
  const { table } = await import('../text/table.js');
  const lines = rows.map((row, index) => [
    ...[String(index + 1), chatState(row), ago(row.chat.modifiedAt, Date.now()), kindWord(row)],
    `${'  '.repeat(row.depth)}${chatName(session, row.chat)}${row.asks === undefined ? '' : ` – ${row.asks}`}`,
  ]);
  print(table([['NO', 'STATE', 'CHANGED', 'KIND', 'TITLE'], ...lines], io().stdout.columns));
}
