/** `atrium share`: shows a session to others, for reading. */
import type { Client } from '@atrium/client';
import { LEFT_OUT_WORDS } from '@atrium/protocol/ahp-1';
import { Command } from 'commander';
import { HOST_HELP, type HostOptions, jsonOption, withHostOptions } from '../connect/host-options.js';
import { withClient } from '../connect/with-client.js';

const EXAMPLES = `
Whoever has the link reads the session as it goes on: no other session, no files, nothing to press. It ends by itself.
The link is shown once; the host keeps a digest of it. --without leaves out, for good, at the host:
${Object.entries(LEFT_OUT_WORDS)
  .map(([name, text]) => `  ${name.padEnd(14)}${text}`)
  .join('\n')}
${HOST_HELP}

Examples:
  $ atrium share make last
  $ atrium share make 1f2e --for 7d --without fileContents,folders
  $ atrium share list
  $ atrium share end 3fA2

Exit codes: 0 done, 1 an error, 2 called in a wrong way, 4 no such session.`;

type Shares = typeof import('../sessions/shares.js');

interface MakeOptions extends HostOptions {
  readonly for?: string;
  readonly without: readonly string[];
  readonly name?: string;
  readonly json?: boolean;
}

export function shareCommand(): Command {
  const command = new Command('share')
    .description('Show a session to others, for reading')
    .addHelpText('after', EXAMPLES)
    .showHelpAfterError('(atrium share --help shows all commands)');
  for (const each of [making(), listing(), ending()]) {
    withHostOptions(
      each
        .addHelpText('after', EXAMPLES)
        .addOption(jsonOption())
        .showHelpAfterError(`(atrium share ${each.name()} --help shows all options)`),
    );
    command.addCommand(each);
  }
  return command;
}

async function use<T>(options: HostOptions, act: (client: Client, shares: Shares) => Promise<T>): Promise<T> {
  const shares = await import('../sessions/shares.js');
  return withClient(options, (client) => act(client, shares));
}

function making(): Command {
  const command = new Command('make')
    .description('Make a link that shows a session')
    .argument('<session>', 'which one')
    .option('--for <time>', 'how long it lasts, such as 90m, 12h or 7d; 24h if left out, 30d at most')
    .option('--without <what...>', 'what to leave out', [])
    .option('--name <name>', 'name in the list of shares');
  return command.action(async (reference: string) => {
    const { for: time, without, name, json, ...host } = command.opts<MakeOptions>();
    const { lengthOf, leftOutIn, makeShare, madeLines } = await import('../sessions/shares.js');
    const wish = { name, lengthMs: time === undefined ? undefined : lengthOf(time), leftOut: leftOutIn(without) };
    return use(host, async (client) => {
      const { findSession } = await import('../sessions/find-session.js');
      const { print, printJson } = await import('../io.js');
      const made = await makeShare(client, findSession(await client.listSessions(), reference).resource, wish);
      if (json) return printJson(made);
      for (const line of madeLines(made)) print(line);
    });
  });
}

function listing(): Command {
  const command = new Command('list').description('List the shares, with the number of current readers');
  return command.action(() => {
    const { json, ...host } = command.opts<MakeOptions>();
    return use(host, async (client, { listShares, shareRow }) => {
      const { print, printJson, tell } = await import('../io.js');
      const { table } = await import('../text/table.js');
      const items = await listShares(client);
      if (json) return printJson({ items });
      if (items.length === 0) return tell('Nothing is shared.');
      print(table(items.map(shareRow)));
    });
  });
}

function ending(): Command {
  const command = new Command('end')
    .description('End a share and disconnect its readers')
    .argument('<share>', 'its id, or the beginning');
  return command.action((reference: string) => {
    const { json, ...host } = command.opts<MakeOptions>();
    return use(host, async (client, { listShares, findShare, endShare }) => {
      const { printJson, tell } = await import('../io.js');
      const { id } = findShare(await listShares(client), reference);
      await endShare(client, id);
      if (json) printJson({ id });
      else tell('The share is over.');
    });
  });
}
