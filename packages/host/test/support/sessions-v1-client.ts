/** Clients of the older wire: raw ones that speak it, and what they make of what they hear. */
import type { SessionsV1ActionEnvelope, SessionsV1SessionState, SessionsV1Snapshot } from '@atrium/protocol/dialects';
import { applySessionsV1 } from '../../../protocol/test/support/sessions-v1-client.js';
import type { Message, RawClient, TestHost } from './test-host.js';

type RootUri = 'agenthost:root' | 'agenthost:/root';

export class SessionsV1Client {
  #clientSeq = 0;

  constructor(
    readonly raw: RawClient,
    readonly clientId: string,
    readonly root: RootUri,
  ) {}

  dispatch(
    action: { type: string; session?: string } & Record<string, unknown>,
    clientSeq = ++this.#clientSeq,
  ): number {
    this.raw.send({ method: 'dispatchAction', params: { clientSeq, action } });
    return clientSeq;
  }

  async subscribe(resource: string): Promise<SessionsV1Snapshot> {
    return this.raw.request<SessionsV1Snapshot & Record<string, unknown>>('subscribe', { resource });
  }

  /** All envelopes so far; of one session, when it is named. */
  envelopes(session?: string): SessionsV1ActionEnvelope[] {
    const all = this.raw.received.flatMap((message) => envelopeIn(message) ?? []);
    return session === undefined ? all : all.filter(({ action }) => 'session' in action && action.session === session);
  }

  types(session?: string): string[] {
    return this.envelopes(session).map(({ action }) => action.type);
  }

  /** What it was told beside actions. */
  notifications(): { type: string }[] {
    return this.raw.received.flatMap(({ method, params }) =>
      method === 'notification' ? [params?.notification as { type: string }] : [],
    );
  }

  /** Waits for an action, past or future. */
  async action(test: string | ((envelope: SessionsV1ActionEnvelope) => boolean)): Promise<SessionsV1ActionEnvelope> {
    const matches = typeof test === 'string' ? ({ action }: SessionsV1ActionEnvelope) => action.type === test : test;
    const message = await this.raw.until((received) => {
      const envelope = envelopeIn(received);
      return envelope !== undefined && matches(envelope);
    });
    return envelopeIn(message) as SessionsV1ActionEnvelope;
  }

  /** Waits for what became of an own action. */
  answerTo(clientSeq: number): Promise<SessionsV1ActionEnvelope> {
    return this.action(({ origin }) => origin?.clientId === this.clientId && origin.clientSeq === clientSeq);
  }

  /** The session as this client sees it: its last snapshot, and every action behind it. */
  mirror(session: string): unknown {
    let state: SessionsV1SessionState | undefined;
    for (const message of this.raw.received) {
      const shown = snapshotsIn(message).find(({ resource }) => resource === session);
      if (shown) state = shown.state as SessionsV1SessionState;
      const envelope = envelopeIn(message);
      const isOwn = envelope && 'session' in envelope.action && envelope.action.session === session;
      if (state && isOwn) state = applySessionsV1(state, envelope);
    }
    return comparableSessionsV1(state);
  }
}

/** A connection that has said hello in the older wire. */
export async function sessionsV1Client(
  host: TestHost,
  clientId: string,
  root: RootUri = 'agenthost:root',
): Promise<SessionsV1Client> {
  const raw = host.connect();
  raw.clientId = clientId;
  await raw.request('initialize', { protocolVersion: 1, clientId, initialSubscriptions: [root] });
  return new SessionsV1Client(raw, clientId, root);
}

/** A state without what a client makes up for itself: times, and the text that a finished turn lists once more. */
export function comparableSessionsV1(state: unknown): unknown {
  const plain = JSON.parse(JSON.stringify(state ?? null));
  if (!plain) return plain;
  delete plain.summary.modifiedAt;
  delete plain.summary.status;
  for (const turn of plain.turns) delete turn.responseParts;
  return plain;
}

function envelopeIn({ method, params }: Message): SessionsV1ActionEnvelope | undefined {
  return method === 'action' ? (params?.envelope as SessionsV1ActionEnvelope | undefined) : undefined;
}

function snapshotsIn({ result }: Message): readonly SessionsV1Snapshot[] {
  if (typeof result !== 'object' || result === null) return [];
  if ('snapshots' in result) return result.snapshots as SessionsV1Snapshot[];
  return 'state' in result ? [result as SessionsV1Snapshot] : [];
}
