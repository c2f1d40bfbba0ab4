/** What happens after a tick: a stored tick is shown to subscribers, and one that could not be stored is undone. */
import { ROOT_CHANNEL, type StateAction } from '@atrium/protocol/ahp-1';
import { STORE_RETRY_MS } from './channels/limits.js';
import type { RootChannel } from './channels/root-channel.js';
import type { CommittedBatch, PendingStep, UndoneBatch } from './channels/writer.js';
import type { Compaction } from './log/compaction.js';
import type { EntryOrigin } from './log/log.js';
import type { IdleUnloader } from './sessions/idle.js';
import type { Sessions } from './sessions/sessions.js';
import type { Clock } from './util/clock.js';
import type { Clients } from './wire/clients.js';
import type { ConnectionRegistry } from './wire/connections.js';
import { DISK_FULL } from './wire/outbox.js';
import type { Subscriptions } from './wire/subscriptions.js';
import { CloseCode } from './wire/transport.js';

export interface PostCommitOptions {
  readonly clock: Clock;
  readonly metrics: {
    measure(name: string, unit: string, value: number): void;
    count(name: string, unit: string, value: number): void;
  };
  readonly subscriptions: Subscriptions;
  readonly compaction: Compaction;
  readonly sessions: Pick<Sessions, 'has' | 'inMemory' | 'sessionUriOf'>;
  readonly idle: IdleUnloader;
  readonly root: RootChannel;
  readonly clients: Clients;
  readonly connections: ConnectionRegistry;
}

export class PostCommit {
  readonly #options: PostCommitOptions;

  constructor(options: PostCommitOptions) {
    this.#options = options;
  }

  /** Measures how long storing a tick took. */
  took(entries: number, milliseconds: number): void {
    const { metrics } = this.#options;
    metrics.measure('atrium.log.commit.duration', 'ms', milliseconds);
    metrics.measure('atrium.log.commit.entries', '{entry}', entries);
  }

  /** Pauses reading from clients while storing is behind. */
  behind({ isBehind, milliseconds }: { readonly isBehind: boolean; readonly milliseconds: number }): void {
    const { metrics, connections } = this.#options;
    if (isBehind) return connections.pauseReading();
    metrics.measure('atrium.log.behind.duration', 'ms', milliseconds);
    connections.resumeReading();
  }

  /** Shows a stored tick to subscribers. */
  show(batch: CommittedBatch): void {
    const { subscriptions, compaction, metrics, clients } = this.#options;
    let seq = batch.first;
    for (const { origin } of batch.entries) {
      if (origin) clients.received.stored(origin, seq);
      seq += 1;
    }
    const start = performance.now();
    subscriptions.show(batch);
    metrics.measure('atrium.fanout.duration', 'ms', performance.now() - start);
    metrics.count('atrium.fanout.actions', '{action}', batch.steps.length);
    compaction.stored(batch);
    this.#startIdleTimers(batch);
  }

  /** Starts the idle timer of sessions that acted and may be idle now. */
  #startIdleTimers({ steps }: CommittedBatch): void {
    const { sessions, idle } = this.#options;
    let known: string | undefined;
    for (const { channel } of steps) {
      const uri = sessions.sessionUriOf(channel.uri);
      if (uri !== known && sessions.has(uri) && !sessions.inMemory.get(uri)?.isAtWork) idle.used(uri);
      known = uri;
    }
  }

  /** Undoes a tick. Clients connect again and repeat their actions; the host repairs its own. */
  undone({ entries, steps, notices, error }: UndoneBatch): void {
    const { clock, sessions, root } = this.#options;
    const isFull = error.kind === 'refused' && error.reason === 'disk-full';
    const reason = isFull ? DISK_FULL : 'could not be stored: resume and send it again';
    for (const { channel, origin } of entries) {
      if (origin)
        this.#askAgain(
          origin,
          reason,
          sessions.inMemory.get(sessions.sessionUriOf(channel))?.isDeferring(origin) ?? false,
        );
    }
    for (const notice of notices) notice.lost(reason);
    for (const [uri, lost] of ownActions(steps, (channel) => sessions.sessionUriOf(channel))) {
      const session = sessions.inMemory.get(uri);
      if (session) session.afterLoss(lost);
      else if (uri === ROOT_CHANNEL) clock.after(STORE_RETRY_MS, () => root.publish());
    }
  }

  /** Makes a client connect again and resend its action. The host itself repeats a deferred action. */
  #askAgain(origin: EntryOrigin, reason: string, isDeferred: boolean): void {
    const { clients, connections } = this.#options;
    clients.received.release(origin, isDeferred);
    const connection = connections.of(origin.clientId);
    if (isDeferred || connection?.identity?.start !== origin.sent?.start) return;
    connection?.close(CloseCode.NotStored, reason);
  }
}

/** The host's own actions, grouped by session or other channel. */
function ownActions(steps: readonly PendingStep[], sessionUriOf: (uri: string) => string): Map<string, StateAction[]> {
  const actions = new Map<string, StateAction[]>();
  for (const { channel, action, origin } of steps) {
    if (origin) continue;
    const session = sessionUriOf(channel.uri);
    const known = actions.get(session);
    if (known) known.push(action);
    else actions.set(session, [action]);
  }
  return actions;
}
