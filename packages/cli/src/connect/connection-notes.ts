/** Tells a person when the host is gone, when it refuses the token, and when it is back; once each. */
import type { Client, Status } from '@atrium/client';

export interface ConnectionWords {
  /** What happens while the host is gone. */
  readonly gone: string;
  /** What to do when the host does not let this client in any more. */
  readonly refused: string;
}

export function connectionNotes(note: (text: string) => void, words: ConnectionWords): (status: Status) => void {
  let was: 'open' | 'gone' | 'refused' = 'open';
  return (status) => {
    const refusal = refusalIn(status);
    if (status.at === 'open' && was !== 'open') note('The host is back.');
    if (refusal && was !== 'refused') note(`${refusal.message} ${words.refused}`);
    else if (status.at === 'waiting' && was === 'open') note(`The host is gone. ${words.gone}`);
    if (status.at === 'closed' && status.error) note(`The connection ended for good: ${status.error.message}`);
    if (status.at === 'open') was = 'open';
    if (status.at === 'waiting') was = refusal ? 'refused' : was === 'refused' ? was : 'gone';
  };
}

/**
 * Waits for work, but not for a host that came back with another token: it refuses this client for ever, and so nobody
 * would be told why the work does not end.
 */
export async function orRefused<T>(client: Client, work: Promise<T>): Promise<T> {
  let off: () => void = () => {};
  const refused = new Promise<never>((_, reject) => {
    off = client.onStatus((status) => {
      const refusal = refusalIn(status);
      if (refusal) reject(refusal);
    });
  });
  try {
    return await Promise.race([work, refused]);
  } finally {
    off();
  }
}

/** By name, as the command does with every error of the client library. */
function refusalIn(status: Status): Error | undefined {
  return status.at === 'waiting' && status.error.name === 'AccessRefusedError' ? status.error : undefined;
}
