/** Further chats of the sessions of a test: their names say whose they are, and none is used twice. */
import { sessionOfDefaultChat } from '@atrium/protocol/ahp-1';

const SESSION = 'ahp-session:/';
const FURTHER = /^ahp-chat:\/((?:fuzz|crash)-\d+)\.\d+$/;

export function furtherChat(session: string, number: number): string {
  return `ahp-chat:/${session.slice(SESSION.length)}.${number}`;
}

export function isFurtherChat(channel: string): boolean {
  return FURTHER.test(channel);
}

/** The session of a channel: its own, or that of one of its chats. */
export function sessionOf(channel: string): string {
  const [, id] = FURTHER.exec(channel) ?? [];
  return sessionOfDefaultChat(channel) ?? (id === undefined ? channel : SESSION + id);
}
