/**
 * A fuzzed client that calls sessions by other names: the names are exchanged in the texts on its wire, so that everything
 * around it can go on with the host's names. Notes when it hears of a channel by a name that it does not use.
 */
import { defaultChatUri, sessionOfDefaultChat } from '@atrium/protocol/ahp-1';

export interface FuzzNames {
  /** What `initialize` says beside the versions. */
  readonly greeting: object;
  out(text: string): string;
  in(text: string): string;
  /** Whether it may be told of a channel by this name. */
  mayHear(channel: string): boolean;
}

const HOSTS = 'ahp-session:/';
const PROVIDERS = 'mock:/';
const NAMED_CHAT = /ahp-chat:\/\/default\/[\w-]+/g;

function inChats(text: string, rename: (session: string) => string): string {
  return text.replace(NAMED_CHAT, (chat) => defaultChatUri(rename(sessionOfDefaultChat(chat) ?? '')));
}

/** `mock:/<id>`, as VS Code did, or as ahpx does without saying who it is. */
export function byProvider(greeting: object = {}): FuzzNames {
  const isOurs = (session: string) => !session.startsWith(HOSTS);
  return {
    greeting,
    out: (text) => inChats(text, (session) => session.replace(HOSTS, PROVIDERS)).replaceAll(HOSTS, PROVIDERS),
    in: (text) => inChats(text, (session) => session.replace(PROVIDERS, HOSTS)).replaceAll(PROVIDERS, HOSTS),
    mayHear: (channel) => isOurs(sessionOfDefaultChat(channel) ?? channel),
  };
}

/** `ahp-chat:/<id>` for the default chat, as agent-host-protocol-ui does. */
export const plainChats: FuzzNames = {
  greeting: {},
  out: (text) => text.replace(NAMED_CHAT, (chat) => (sessionOfDefaultChat(chat) ?? '').replace(HOSTS, 'ahp-chat:/')),
  in: (text) => text.replace(/"ahp-chat:\/([\w-]+)"/g, (_chat, id) => JSON.stringify(defaultChatUri(HOSTS + id))),
  mayHear: (channel) => sessionOfDefaultChat(channel) === undefined,
};
