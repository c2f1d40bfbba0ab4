/** Programs that ask to be paired, as text for a terminal. */
import type { Client } from '@atrium/client';
import { visibleText } from '@atrium/protocol/ahp-1';
import { callExtension, UnsupportedError } from './connect/with-client.js';
import { shortId } from './sessions/find-session.js';

/** The host counts a client as watching if it asks at least every ten seconds. */
export const LOOK_EVERY_MS = 2_000;

interface OpenPairing {
  readonly id: string;
  readonly name?: string;
  /** The session that the code opens. */
  readonly session: string;
  readonly title: string;
  readonly code: string;
}

interface Listed {
  readonly id: string;
  readonly name?: string;
  readonly codes: readonly Pick<OpenPairing, 'session' | 'title' | 'code'>[];
}

/** Each program that asks, with its code for the named session, or else for the one used last. */
export async function openPairings(client: Client, session: string | undefined): Promise<OpenPairing[]> {
  const { items } = (await callExtension(client, 'atrium/pairings')) as { items: readonly Listed[] };
  return items.flatMap(({ id, name, codes }) => {
    const code = session === undefined ? codes[0] : codes.find((each) => each.session === session);
    return code ? [{ id, ...(name !== undefined && { name }), ...code }] : [];
  });
}

export function whoOf({ name }: OpenPairing): string {
  return name === undefined ? 'a local program' : `the local program '${visibleText(name, 'line')}'`;
}

export function pairingWords(pairing: OpenPairing): string {
  const title = visibleText(pairing.title, 'line') || shortId(pairing.session);
  return `Type this code into ${whoOf(pairing)}, to let it into the session ${title}: ${pairing.code}`;
}

/** Shows each program once during a chat; the returned function ends that. Hosts of others do not know the request. */
export function followPairings(client: Client, session: string, tell: (text: string) => void): () => void {
  const told = new Set<string>();
  const look = async () => {
    for (const pairing of await openPairings(client, session)) {
      if (told.has(pairing.id)) continue;
      told.add(pairing.id);
      tell(`${pairingWords(pairing)}. Only if you started it; atrium pair --deny refuses it.`);
    }
  };
  const failed = (error: unknown) => {
    if (error instanceof UnsupportedError) clearInterval(timer);
  };
  const timer = setInterval(() => void look().catch(failed), LOOK_EVERY_MS);
  timer.unref();
  void look().catch(failed);
  return () => clearInterval(timer);
}
