/** Which page of the reference a definition stands on: that follows from the file that it is written in. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export interface Page {
  readonly name: string;
  readonly title: string;
  readonly intro: string;
  /** Paths below `src`; the first page that fits has what is written there. */
  readonly files: RegExp;
}

export const PAGES: readonly Page[] = [
  {
    name: 'connection',
    title: 'Connection',
    intro:
      'How a client connects, subscribes, dispatches and reconnects. A client begins with `initialize`, or with ' +
      '`reconnect` after a break; before that only `ping` is answered.',
    files: /^(rpc|common\/envelope|root\/connection|actions)\.ts$/,
  },
  {
    name: 'root',
    title: 'The root channel',
    intro: 'What every client may know without opening a session: agents, terminals, the list of sessions.',
    files: /^root\/(actions|state|commands)\.ts$/,
  },
  {
    name: 'session',
    title: 'Sessions',
    intro: 'The state of a session, and the commands on one. Its conversations are in its [chats](chat.md).',
    files: /^session\/(commands|state)\.ts$/,
  },
  {
    name: 'session-actions',
    title: 'Actions of a session',
    intro: 'Everything that can happen to a session itself. Only these actions change its state.',
    files: /^session\/actions\.ts$/,
  },
  {
    name: 'chat',
    title: 'Chats',
    intro: 'The state of a chat with its turns and messages, and the commands on one. A session has at least one chat.',
    files: /^(chat\/(commands|state)|(chat|session)\/(turns|messages))\.ts$/,
  },
  {
    name: 'chat-actions',
    title: 'Actions of a chat',
    intro: 'Everything that can happen in a conversation. Only these actions change its state.',
    files: /^chat\/(tool-call-)?actions\.ts$/,
  },
  {
    name: 'tool-calls',
    title: 'Tool calls',
    intro: 'What tools look like, and the states that a call goes through.',
    files: /^(chat|session)\/tool-calls\.ts$/,
  },
  {
    name: 'input',
    title: 'Questions to people',
    intro: 'Questions from an agent or the host to a person, and the answers.',
    files: /^chat\/input\.ts$/,
  },
  {
    name: 'annotations',
    title: 'Annotations',
    intro: 'Notes of people on files, one channel for each session.',
    files: /^annotations\//,
  },
  {
    name: 'automations',
    title: 'Automations',
    intro:
      'Messages that the host sends by itself, and the runs that they start. [The guide](../automations.md) explains them.',
    files: /^automation\//,
  },
  {
    name: 'canvas',
    title: 'Canvases',
    intro: 'Defined by AHP 1.0; an Atrium host has none.',
    files: /^canvas\//,
  },
  {
    name: 'customizations',
    title: 'Customizations',
    intro: 'Plugins and folders of rules, skills, agents, hooks and servers, as a session shows them.',
    files: /^session\/customizations\.ts$/,
  },
  {
    name: 'changeset',
    title: 'Changesets',
    intro: 'Sets of changed files, each a channel of its own.',
    files: /^changeset\//,
  },
  {
    name: 'terminal',
    title: 'Terminals',
    intro: 'Processes with a screen, each a channel of its own.',
    files: /^terminal\//,
  },
  {
    name: 'resources',
    title: 'Resources and watches',
    intro:
      'Files and other content behind a URI. Most of these commands work in both directions: each side may ask the other.',
    files: /^(root\/resources\.ts$|resource-watch\/)/,
  },
  {
    name: 'authentication',
    title: 'Authentication',
    intro:
      'Tokens for agents and for servers behind the host. Whether a client may connect is decided earlier, by the connection token.',
    files: /^root\/authentication\.ts$/,
  },
  {
    name: 'telemetry',
    title: 'Telemetry',
    intro: 'Logs, traces and metrics in OTLP/JSON, for clients that subscribe to them. These channels have no state.',
    files: /^otlp\//,
  },
  {
    name: 'errors',
    title: 'Errors',
    intro: 'Every error code, and the `data` of those that have it.',
    files: /^errors[./]/,
  },
  {
    name: 'provider',
    title: 'Provider Interface',
    intro:
      'All messages between the gateway and a provider. Each is one JSON object with a `type`. How to use them is in ' +
      '[the guide](../providers.md).',
    files: /^provider\//,
  },
  { name: 'types', title: 'Common types', intro: 'Small types that many messages share.', files: /^(common|schema)\// },
];

const SOURCES = fileURLToPath(new URL('../../src/', import.meta.url));
const NAMED = /(?:\$id: |Type\.Cyclic\([\s\S]*?\n {2}\},\n {2})'(\w+)'/g;

/** What AHP 1.0 took over from earlier versions stands in their folders, everything else in its own. */
const AHP_1 = 'ahp-1/';

/** The name of every definition, with the page that it belongs to. */
export function pageOfDefinition(): Map<string, Page> {
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).map((file) => file.replaceAll('\\', '/'));
  const isOwn = (file: string) => file.startsWith(AHP_1);
  const found = new Map<string, Page>();
  for (const file of [...files.filter((file) => !isOwn(file)), ...files.filter(isOwn)]) {
    const topic = isOwn(file) ? file.slice(AHP_1.length) : file;
    const page = file.endsWith('.ts') && PAGES.find((candidate) => candidate.files.test(topic));
    if (!page) continue;
    for (const [, name = ''] of readFileSync(SOURCES + file, 'utf8').matchAll(NAMED)) found.set(name, page);
  }
  return found;
}

/** The anchor that a heading gets on GitHub and in most renderers. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');
}
