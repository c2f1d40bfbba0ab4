/** What follows a tick: when it has been stored everybody hears of it, and when it could not be, it never happened. */
import { ROOT_CHANNEL, type SessionState, type StateAction } from '@atrium/protocol';
import type { HostCore } from '../contracts/host-core.js';
import { STORE_RETRY_MS } from '../limits.js';
import { LogWriteError } from '../log/errors.js';
import type { EntryOrigin } from '../log/log.js';
import { afterLoss } from '../sessions/mending.js';
import { summaryChanges } from '../sessions/summaries.js';
import { DISK_FULL } from '../wire/replies.js';
import { CloseCode } from '../wire/transport.js';
import type { CommittedBatch, CommittedStep, UndoneBatch } from './batch.js';
import type { Channel } from './channel.js';
import type { Compaction } from './compaction.js';
import type { Watching } from './watching.js';

export interface AftermathParts {
  readonly core: HostCore;
  readonly watching: Watching;
  readonly compaction: Compaction;
}

export class Aftermath {
  readonly #parts: AftermathParts;

  constructor(parts: AftermathParts) {
    this.#parts = parts;
  }

  /** Storing a tick took so many milliseconds. */
  took(entries: number, milliseconds: number): void {
    const { telemetry } = this.#parts.core;
    telemetry.measure('atrium.log.commit.duration', 'ms', milliseconds);
    telemetry.measure('atrium.log.commit.entries', '{entry}', entries);
  }

  /** One stored tick: kept for returning clients, and shown to those who are here. */
  stored(batch: CommittedBatch): void {
    const { core, watching, compaction } = this.#parts;
    const steps = new Map(batch.steps.map((step) => [step.envelope.serverSeq, step]));
    for (const { seq } of batch.entries) core.replay.add(seq, steps.get(seq)?.envelope, steps.get(seq)?.text ?? '');
    const start = performance.now();
    watching.show(batch);
    core.telemetry.measure('atrium.fanout.duration', 'ms', performance.now() - start);
    core.telemetry.count('atrium.fanout.actions', '{action}', batch.steps.length);
    compaction.stored(batch.entries);
    for (const { channel, before } of firstSteps(batch)) this.#announceChanges(channel, before);
  }

  /** Everyone who shows a list hears what changed in it. */
  #announceChanges({ uri, committed }: Channel<SessionState>, before: SessionState): void {
    const { core, watching } = this.#parts;
    if (!core.sessions.has(uri)) return;
    const changes = summaryChanges(before.summary, committed.summary);
    if (changes) watching.notify(ROOT_CHANNEL, 'root/sessionSummaryChanged', { session: uri, changes });
    if (!committed.activeTurn) watching.mayRest(uri);
  }

  /** What could not be stored never happened. Clients come back and ask for it again; the host mends its own part. */
  undone({ entries, steps, notices, error }: UndoneBatch): void {
    const { clock, sessions, root } = this.#parts.core;
    const isFull = error instanceof LogWriteError && error.reason === 'disk-full';
    const reason = isFull ? DISK_FULL : 'could not be stored: resume and send it again';
    for (const { channel, origin } of entries) {
      if (origin) this.#askAgain(origin, reason, sessions.inMemory.get(channel)?.isHolding(origin) ?? false);
    }
    // An answer that is lost with somebody else's action, or with its own number, would be waited for in vain.
    for (const { connection } of notices) connection.close(CloseCode.NotStored, reason);
    for (const [uri, lost] of ownActions(steps)) {
      const session = sessions.inMemory.get(uri);
      if (session) afterLoss(session, lost);
      else if (uri === ROOT_CHANNEL) clock.after(STORE_RETRY_MS, () => root.tell());
    }
  }

  /** What is held is the host's to try again. */
  #askAgain(origin: EntryOrigin, reason: string, isHeld: boolean): void {
    const { clients, connections } = this.#parts.core;
    clients.sent.release(origin, isHeld);
    const connection = connections.of(origin.clientId);
    if (isHeld || connection?.identity?.start !== origin.sent?.start) return;
    connection?.close(CloseCode.NotStored, reason);
  }
}

/** The first step of each session in a batch: the state before it is the state before the tick. */
function firstSteps({ steps }: CommittedBatch): { channel: Channel<SessionState>; before: SessionState }[] {
  const first = new Map<Channel, unknown>();
  for (const { channel, before } of steps) if (!first.has(channel)) first.set(channel, before);
  return [...first].map(([channel, before]) => ({
    channel: channel as Channel<SessionState>,
    before: before as SessionState,
  }));
}

/** What the host itself did, by channel. */
function ownActions(steps: readonly CommittedStep[]): Map<string, StateAction[]> {
  const actions = new Map<string, StateAction[]>();
  for (const { channel, envelope } of steps) {
    if (envelope.origin) continue;
    const known = actions.get(channel.uri);
    if (known) known.push(envelope.action);
    else actions.set(channel.uri, [envelope.action]);
  }
  return actions;
}
