/** Shows what was stored to everyone who watches: each action becomes bytes once per dialect, not once per client. */
import type { SessionState } from '@atrium/protocol';
import type { Connection } from '../wire/connection.js';
import {
  type ActionFrame,
  type ChannelMemory,
  type Dialect,
  type DialectStep,
  type HostView,
  NO_MEMORY,
  rememberingDialects,
  withoutEchoes,
} from '../wire/dialects/dialects.js';
import { type Outgoing, outgoing } from '../wire/outgoing.js';
import { CloseCode } from '../wire/transport.js';
import type { Audience } from './audience.js';
import type { CommittedBatch, CommittedStep } from './writer.js';

export class Broadcaster {
  /** What older wires remember of a session, while it is open. */
  readonly #memories = new Map<string, ChannelMemory>();

  constructor(
    private readonly audience: Audience,
    private readonly connectionOf: (clientId: string) => Connection | undefined,
    private readonly everyone: () => Iterable<Connection>,
  ) {}

  memoryOf(uri: string): ChannelMemory | undefined {
    return this.#memories.get(uri);
  }

  forget(uri: string): void {
    this.#memories.delete(uri);
  }

  /** Each client gets what it watches in the order of the numbers, whichever channel it is from. */
  show({ steps }: CommittedBatch): void {
    const deliveries: Deliveries = new Map();
    for (const run of byChannel(steps)) this.#showChannel(run, deliveries);
    for (const [connection, { messages, close }] of deliveries) {
      messages.sort((a, b) => a.seq - b.seq);
      for (const { message } of messages) connection.send(message);
      if (close) connection.close(CloseCode.SnapshotNeeded, close);
    }
  }

  /** What one channel did in one tick. */
  #showChannel(steps: readonly [CommittedStep, ...CommittedStep[]], deliveries: Deliveries): void {
    const uri = steps[0].channel.uri;
    const watchers = this.audience.of(uri);
    const dialectSteps = steps.map(
      ({ envelope, before, after }): DialectStep => ({
        envelope,
        before: before as SessionState,
        after: after as SessionState,
      }),
    );
    const memory = this.#memories.get(uri) ?? NO_MEMORY;
    const encoded = new Map<Dialect, Encoded>();
    for (const connection of [...watchers, ...this.#absentAskers(steps, watchers)]) {
      const { dialect } = connection;
      const known = encoded.get(dialect) ?? encode(dialect, memory, dialectSteps);
      encoded.set(dialect, known);
      this.#collect(connection, known, { deliveries, isWatching: watchers.includes(connection) });
    }
    this.#remember(uri, memory, dialectSteps);
  }

  /** A client hears of its own action even when it does not watch, so that it need not wait for it for ever. */
  #absentAskers(steps: readonly CommittedStep[], watchers: readonly Connection[]): Connection[] {
    const askers = steps.flatMap(({ envelope }) => envelope.origin?.clientId ?? []).map(this.connectionOf);
    return [...new Set(askers)].flatMap((asker) => (asker && !watchers.includes(asker) ? asker : []));
  }

  #collect(
    connection: Connection,
    { frames, messages, close }: Encoded,
    { deliveries, isWatching }: { deliveries: Deliveries; isWatching: boolean },
  ): void {
    const delivery = deliveries.get(connection) ?? { messages: [] };
    deliveries.set(connection, delivery);
    const clientId = connection.identity?.clientId ?? '';
    const wanted = new Set(withoutEchoes(frames, clientId, connection.echoedEarly));
    frames.forEach((frame, index) => {
      const message = messages[index];
      const isOwn = frame.origin?.clientId === clientId;
      if (message && wanted.has(frame) && (isWatching || isOwn)) delivery.messages.push(message);
      if (!wanted.has(frame) && frame.origin) connection.echoedEarly.delete(frame.origin.clientSeq);
    });
    if (close && isWatching) delivery.close = close;
  }

  #remember(uri: string, memory: ChannelMemory, steps: readonly DialectStep[]): void {
    const next = rememberingDialects.reduce((current, dialect) => dialect.remember(current, steps), memory);
    if (next !== memory) this.#memories.set(uri, next);
  }

  /** A notification to everyone who watches a channel, and to those whose wire has no such subscription. */
  notify(uri: string, method: string, params: object, view: HostView): void {
    const encoded = new Map<Dialect, Outgoing | undefined>();
    const watchers = new Set(this.audience.of(uri));
    for (const connection of this.everyone()) {
      const { dialect } = connection;
      if (!connection.identity || !(watchers.has(connection) || dialect.notifiesEveryone)) continue;
      if (!encoded.has(dialect)) {
        const frame = dialect.encodeNotification({ method, params: { channel: uri, ...params } }, view);
        encoded.set(dialect, frame && outgoing({ jsonrpc: '2.0', method: frame.method, params: frame.params }));
      }
      const message = encoded.get(dialect);
      if (message) connection.send(message);
    }
  }
}

interface Numbered {
  readonly seq: number;
  readonly message: Outgoing;
}

type Deliveries = Map<Connection, { readonly messages: Numbered[]; close?: string }>;

interface Encoded {
  readonly frames: readonly ActionFrame[];
  readonly messages: readonly Numbered[];
  readonly close: string | undefined;
}

function encode(dialect: Dialect, memory: ChannelMemory, steps: readonly DialectStep[]): Encoded {
  const { frames, close } = dialect.encodeSteps(memory, steps);
  return { frames, messages: frames.map((frame) => numbered(dialect, frame)), close };
}

function numbered(dialect: Dialect, frame: ActionFrame): Numbered {
  return { seq: envelopeIn(frame.params).serverSeq, message: message(dialect, frame) };
}

function message(dialect: Dialect, { method, params }: ActionFrame): Outgoing {
  const plain = { jsonrpc: '2.0', method, params };
  const delta = deltaOf(params);
  if (!delta) return outgoing(plain);
  return outgoing(plain, {
    key: `${dialect.version} ${delta.key}`,
    content: delta.content,
    withContent: (content) => ({ ...plain, params: delta.withContent(content) }),
  });
}

interface Envelope {
  readonly serverSeq: number;
  readonly channel?: string;
  readonly action: {
    readonly type: string;
    readonly turnId?: string;
    readonly partId?: string;
    readonly content?: unknown;
  };
  readonly envelope?: Envelope;
}

/** An older wire wraps the envelope once more. */
function envelopeIn(params: object): Envelope {
  return (params as Envelope).envelope ?? (params as Envelope);
}

/** The text in a delta. */
function deltaOf(params: object) {
  const inner = envelopeIn(params);
  const { type, turnId, partId, content } = inner.action;
  if ((type !== 'session/delta' && type !== 'session/reasoning') || typeof content !== 'string') return undefined;
  const session = inner.channel ?? (inner.action as { session?: string }).session;
  const rebuild = (text: string) => ({ ...inner, action: { ...inner.action, content: text } });
  return {
    key: JSON.stringify([session, type, turnId, partId]),
    content,
    withContent: (text: string) => (inner === params ? rebuild(text) : { ...params, envelope: rebuild(text) }),
  };
}

/** The steps of each channel, in order; channels in the order they first acted. */
function byChannel(steps: readonly CommittedStep[]): [CommittedStep, ...CommittedStep[]][] {
  const runs = new Map<string, [CommittedStep, ...CommittedStep[]]>();
  for (const step of steps) {
    const run = runs.get(step.channel.uri);
    if (run) run.push(step);
    else runs.set(step.channel.uri, [step]);
  }
  return [...runs.values()];
}
