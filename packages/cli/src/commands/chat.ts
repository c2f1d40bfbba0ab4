/** `atrium chat` and `atrium attach`: talk to an agent in the terminal. */
import { readDeviceLink } from '@atrium/protocol/ahp-1';
import { Command } from 'commander';
import { HOST_HELP, type HostOptions, withHostOptions } from '../connect/host-options.js';
import { dataFolderFrom } from '../data-folder.js';
import { UsageError } from '../exit.js';
import { io } from '../io.js';
import type { SessionChoice } from '../sessions/open-session.js';
import { forSession, withSessionOptions } from './run.js';

const KEYS = `
Enter sends; while a turn runs it queues. Alt+Enter or Ctrl+S steers the running turn, Esc stops it. Ctrl+J makes a new
line. Ctrl+D or Ctrl+C leaves: the session goes on in the host. /help shows the rest.
${HOST_HELP}`;

const CHAT_EXAMPLES = `${KEYS}

Examples:
  $ atrium chat
  $ atrium chat "what does this project do?"
  $ atrium chat --agent offline --cwd ~/src/app
  $ atrium chat --worktree --branch main       on a branch and in a folder of its own
  $ atrium chat --session last

Exit codes: 0 left, 1 an error, 2 called in a wrong way, 4 no such session, 130 left with Ctrl+C.`;

const ATTACH_EXAMPLES = `${KEYS}

Examples:
  $ atrium attach                  the only session, or choose one
  $ atrium attach last             the newest
  $ atrium attach 1f2e             by the beginning of its id
  $ atrium attach last --chat 2    another chat of it: atrium chats last
  $ atrium attach --url ws://server:9300 --token-file token
  $ atrium attach ws://server:9300?tkn=secret          a host of the protocol, anybody's
  $ atrium attach ws://server:9300?tkn=secret 1f2e     a session of it
  $ atrium attach ssh://me@server last                 a host of yours elsewhere, by ssh
  $ atrium attach "http://server:9300/#add=…&key=…"    become a device of it: atrium devices add

Exit codes: 0 left, 1 an error, 2 called in a wrong way, 4 no such session, 130 left with Ctrl+C.`;

/** If the text is a link for a device, makes this machine a device first. */
async function addressOf(text: string, { dataDir }: HostOptions): Promise<string> {
  const link = readDeviceLink(text);
  if (!link) return text;
  const { becomeDevice } = await import('../connect/become-device.js');
  await becomeDevice(link, dataFolderFrom(dataDir, io().env));
  return link.address;
}

export function chatCommand(): Command {
  const command = withSessionOptions(new Command('chat'))
    .description('Talk to an agent in the terminal')
    .argument('[message...]', 'the first message')
    .addHelpText('after', CHAT_EXAMPLES)
    .showHelpAfterError('(atrium chat --help shows all options)');
  withHostOptions(command);
  return command.action(async (words: string[]) => {
    const { chat } = await import('../chat/run-chat.js');
    const prompt = words.length > 0 ? words.join(' ') : undefined;
    await chat({ ...forSession<HostOptions & SessionChoice>(command), prompt });
  });
}

export function attachCommand(): Command {
  const command = new Command('attach')
    .description('Continue a session in the terminal')
    .argument('[session]', 'session to open; or the address of a host, as with --url')
    .argument('[of-it]', 'which session of that host')
    .option('--chat <chat>', 'chat to open: its number in atrium chats, or a part of its title')
    .addHelpText('after', ATTACH_EXAMPLES)
    .showHelpAfterError('(atrium attach --help shows all options)');
  withHostOptions(command);
  return command.action(async (first: string | undefined, second: string | undefined) => {
    const { attach } = await import('../chat/run-chat.js');
    const isAddress = first !== undefined && /^((ws|http)s?|ssh):\/\//i.test(first);
    if (!isAddress && second !== undefined) throw new UsageError(`"${second}" is one word too many`);
    const options = command.opts<HostOptions & { chat?: string }>();
    if (isAddress) await attach({ ...options, url: await addressOf(first, options) }, second);
    else await attach(options, first);
  });
}
