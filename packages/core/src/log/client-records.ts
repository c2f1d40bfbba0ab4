/** The records that a log keeps of each client, and how they change when the client starts over. */
import { createHash } from 'node:crypto';
import type { ClientFacts, Commit, LogRecord } from './log.js';

/** Prefix of the records with each client's dialect, epoch, and when it was last seen. */
export const CLIENT_RECORDS = 'client:';

export const knownKey = (clientId: string) => CLIENT_RECORDS + clientId;

/** Key of the record that says from which turn on the client has the chats that it loaded in part. */
export const windowsKey = (clientId: string) => `windows:${clientId}`;

/** Key of the greatest epoch that the client ever had. */
export const epochKey = (clientId: string) => `sent:${shortHash(clientId)}`;

/** Prefix of the answers to what the client sent, by its numbers. */
export const answersPrefix = (clientId: string) => `${epochKey(clientId)}:`;

export function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}

/** What the log has of a client before it starts over. */
export interface StoredClient {
  /** The record with its greatest epoch. */
  readonly epoch: string | undefined;
  readonly answers: readonly { readonly key: string }[];
}

/** Makes the commit that starts a client over, and its new epoch. */
export function beginning(
  clientId: string,
  stored: StoredClient,
  { above, known }: ClientFacts,
): { readonly epoch: number; readonly commit: Commit } {
  const epoch = Math.max(above, Number(stored.epoch ?? 0)) + 1;
  const records: LogRecord[] = [
    ...stored.answers.map(({ key }) => ({ key, value: null })),
    { key: epochKey(clientId), value: String(epoch) },
    { key: knownKey(clientId), value: `${known.before}${epoch}${known.after}` },
  ];
  return { epoch, commit: { entries: [], records, durability: 'normal' } };
}
