/** How a connection begins: `initialize` starts a client over, `reconnect` resumes where the last connection broke. */
import { type ActionEnvelope, ErrorCode, type ReconnectParams, ROOT_CHANNEL } from '@atrium/protocol/ahp-1';
import { checkClientRequest, describeProblem } from '@atrium/protocol/ahp-1/validation';
import type { WindowRequest } from '../channels/open-channel.js';
import { RequestError } from '../contracts/request-error.js';
import { REPLAY_MAX_BYTES, REPLAY_MAX_ENVELOPES } from '../log/limits.js';
import { RawJson } from '../util/json-parts.js';
import { accessKey } from './access-control.js';
import type { Connection } from './connection.js';
import type { WireContext } from './context.js';
import {
  agreedOn,
  type Dialect,
  type DialectConnection,
  type DialectView,
  dialectNamed,
  initialDialect,
  NO_MEMORY,
} from './dialects/dialects.js';
import { CLIENT_ID_MAX_CHARACTERS, REPLAY_TRIES_MAX } from './limits.js';
import { type MissedAction, missedAction } from './replay.js';
import { groupOf, isWholeCut, restoredFrom, windowOf } from './subscriptions.js';

/** The client's identity, for as long as the connection lasts. */
export interface Identity {
  readonly clientId: string;
  /** The epoch that began with its `initialize`. */
  readonly start: number;
  /** The last number that it had seen, when it resumed an earlier connection; otherwise 0. */
  readonly lastSeenServerSeq: number;
  readonly dialect: Dialect;
  readonly locale?: string | undefined;
}

export interface Handshake {
  readonly identity: Identity;
  readonly dialectConnection: DialectConnection;
  /** Makes the answer, after the connection counts as open. */
  result(connection: Connection): Promise<unknown>;
}

const REPLAY_LIMITS = { entries: REPLAY_MAX_ENVELOPES, bytes: REPLAY_MAX_BYTES };

type Params = Readonly<Record<string, unknown>>;

interface Asked {
  readonly connection: Connection;
  readonly method: 'initialize' | 'reconnect';
  readonly params: Params;
}

export function answerHandshake(context: WireContext, { connection, method, params }: Asked): Promise<Handshake> {
  return method === 'initialize' ? initialize(context, connection, params) : reconnect(context, connection, params);
}

async function initialize(context: WireContext, { edition, access }: Connection, raw: Params): Promise<Handshake> {
  const { version, dialect } = agreedOn(raw);
  const call = inbound(dialect, { method: 'initialize', params: raw }, edition.view);
  const params = checked('initialize', call.params);
  const { connection } = call;
  const greeting = { dialect: version, locale: params.locale, connection, access: accessKey(access) };
  const start = await context.clients.begin(params.clientId, greeting, access.credential);
  const window = windowOf(raw);
  return {
    identity: { clientId: params.clientId, start, lastSeenServerSeq: 0, dialect, locale: params.locale },
    dialectConnection: call.connection,
    async result(connection) {
      const subscribed = await context.subscriptions.open(connection, params.initialSubscriptions ?? [], window);
      const result = {
        protocolVersion: version,
        serverSeq: subscribed.seq,
        snapshots: subscribed.snapshots,
        ...context.greeting(connection.access),
        ...(window && { turns: subscribed.windows }),
      };
      return call.encodeResult(result, connection.edition.view);
    },
  };
}

async function reconnect(context: WireContext, { edition, access }: Connection, raw: Params): Promise<Handshake> {
  const { clients } = context;
  const found = typeof raw.clientId === 'string' ? await clients.returning(raw.clientId, access.credential) : undefined;
  // What it was sent belongs to another access: it has to start over, with the states and the role that are now its
  // own.
  const known = found?.access === accessKey(access) ? found : undefined;
  // Parameters without a channel belong to an older wire, and this one's rules cannot check them.
  if (!known && typeof raw.clientId === 'string' && raw.channel === undefined) throw unknownClient(raw.clientId);
  const dialect = (known && dialectNamed(known.dialect)) ?? initialDialect;
  const call = inbound(dialect, { method: 'reconnect', params: raw }, edition.view, known?.connection);
  const params = checked('reconnect', call.params);
  if (!known) throw unknownClient(params.clientId);
  const { clientId, lastSeenServerSeq: seen } = params;
  // A number above those given out says nothing about what the client has seen.
  const lastSeenServerSeq = seen <= context.writer.shown ? seen : 0;
  return {
    identity: { clientId, start: known.epoch, lastSeenServerSeq, dialect, locale: known.locale },
    dialectConnection: call.connection,
    result: async (connection) =>
      call.encodeResult(
        await resume(context, connection, { params, raw: call.params, window: windowOf(raw) }),
        connection.edition.view,
      ),
  };
}

function unknownClient(clientId: string): RequestError {
  const message = `no client ${clientId} is known here any more; send initialize instead`;
  return new RequestError(ErrorCode.NotFound, message);
}

interface Resumption {
  readonly params: ReconnectParams;
  readonly raw: Params;
  readonly window: WindowRequest | undefined;
}

/** Answers with everything that the client missed, or with the present state. Live actions follow the answer. */
async function resume(
  context: WireContext,
  connection: Connection,
  { params, raw, window }: Resumption,
): Promise<unknown> {
  const settled = await context.clients.settled(connection, numbers(raw.pending));
  const replayed = await replay(context, connection, params);
  if (replayed) return { ...replayed, settled };
  const { snapshots, windows } = await context.subscriptions.open(connection, params.subscriptions, window);
  return { type: 'snapshot', snapshots, ...(window && { turns: windows }), settled };
}

/**
 * Replays what was missed, action by action. Undefined when that is no longer known, or the log is too slow to tell.
 */
async function replay(
  context: WireContext,
  connection: Connection,
  params: ReconnectParams,
): Promise<object | undefined> {
  const { dialect } = connection;
  const lastSeen = params.lastSeenServerSeq;
  if (!(await context.subscriptions.returned(connection, lastSeen, params.subscriptions))) return undefined;
  // A dialect may send one action as several messages. The client may have seen only some of those with its last
  // number.
  const after = dialect.traits.needsStates ? lastSeen - 1 : lastSeen;
  for (let tries = 0; tries < REPLAY_TRIES_MAX; tries++) {
    const requested = await context.subscriptions.sourcesOf(connection, params.subscriptions);
    const wires = new Set(requested.map(({ wire }) => wire));
    const missing = [...new Set(params.subscriptions)].filter((wire) => !wires.has(wire));
    const found = requested.flatMap(({ sources }) => sources);
    const { shown } = context.writer;
    const channels = found.map(({ channel }) => channel.uri);
    const entries = await context.log.missed(after, channels, REPLAY_LIMITS);
    if (!entries) return undefined;
    // No `await` from here on: replay and subscription must meet without a gap.
    const isCurrent = context.writer.shown === shown && !found.some(({ isClosed }) => isClosed);
    if (!isCurrent) continue;
    const missed = entries.filter(({ seq }) => seq <= shown).map(missedAction);
    const replaying = { context, connection, wires };
    const actions = dialect.traits.needsStates
      ? translated(replaying, { lastSeen, missed, isGone: missing.length > 0 })
      : asKept(replaying, missed);
    if (!actions || !canReplayCuts(context, connection, missed)) return undefined;
    for (const { wire, sources } of requested) {
      const behind = sources.map(({ channel }) => channel.uri);
      context.subscriptions.add(connection, wire, behind);
    }
    return { type: 'replay', actions, missing };
  }
  return undefined;
}

/**
 * False when the client missed a cut that it cannot follow: a client that has loaded only newer turns may lack the turn
 * where history was cut. Otherwise records which turns it has after the replay.
 */
function canReplayCuts(
  { subscriptions }: WireContext,
  connection: Connection,
  missed: readonly MissedAction[],
): boolean {
  const cuts = missed.filter(({ envelope }) => envelope.action.type === 'chat/truncated');
  for (const chat of new Set(cuts.map(({ envelope }) => envelope.channel))) {
    if (subscriptions.loadedBy(connection, chat) === 0) continue;
    const own = cuts.filter(({ envelope }) => envelope.channel === chat);
    // After a cut that leaves no turns, the client has all there are.
    if (!own.some(({ envelope }) => isWholeCut(envelope.action))) return false;
    subscriptions.clearedFor(connection, chat);
  }
  for (const { envelope } of missed) {
    const from = restoredFrom(envelope.action);
    if (from !== undefined) subscriptions.restoredFor(connection, envelope.channel, from);
  }
  return true;
}

interface Replaying {
  readonly context: WireContext;
  readonly connection: Connection;
  /** The client's wire channels. */
  readonly wires: ReadonlySet<string>;
}

/**
 * Every missed action in the client's dialect; undefined when the dialect cannot express one. Actions that stay
 * unchanged go out as their stored text.
 */
function asKept(replaying: Replaying, missed: readonly MissedAction[]): unknown[] | undefined {
  const actions: unknown[] = [];
  const { edition } = replaying.connection;
  for (const { envelope, text } of missed) {
    const left = edition.envelope(envelope);
    const shown = left ? missedFrames(replaying, left) : [];
    if (!shown) return undefined;
    for (const params of shown) actions.push(params === envelope ? new RawJson(text) : params);
  }
  return actions;
}

interface Missed {
  readonly lastSeen: number;
  /** Includes the action with the last number that the client saw. */
  readonly missed: readonly MissedAction[];
  /** A channel is gone. An older wire can say so only by leaving it out of a snapshot. */
  readonly isGone: boolean;
}

/** What was missed, as it was translated when it happened. Undefined when part of it cannot be replayed that way. */
function translated(replaying: Replaying, { lastSeen, missed, isGone }: Missed): unknown[] | undefined {
  const { context, connection } = replaying;
  if (isGone) return undefined;
  const told: { readonly seq: number; readonly envelope: unknown }[] = [];
  for (const uri of new Set(missed.map(({ envelope }) => groupOf(envelope.channel, context.view)))) {
    const messages = uri === ROOT_CHANNEL ? [] : context.subscriptions.translatedAfter(connection, uri, lastSeen);
    if (!messages) return undefined;
    for (const { seq, message } of messages) told.push({ seq, envelope: envelopeOf(JSON.parse(message.text).params) });
  }
  for (const { envelope } of missed) {
    const { channel, serverSeq: seq } = envelope;
    // Actions of the root can be translated without states.
    if (channel !== ROOT_CHANNEL || seq <= lastSeen) continue;
    const left = connection.edition.envelope(envelope);
    for (const shown of (left && missedFrames(replaying, left)) ?? []) told.push({ seq, envelope: envelopeOf(shown) });
  }
  return told.sort((a, b) => a.seq - b.seq).map(({ envelope }) => envelope);
}

/**
 * An action in the client's dialect, translated without the states around it; undefined when the dialect cannot do
 * that.
 */
function missedFrames({ connection, wires }: Replaying, envelope: ActionEnvelope): readonly object[] | undefined {
  const { dialect, edition } = connection;
  const steps = [{ envelope, before: undefined, after: undefined }];
  const group = { channel: groupOf(envelope.channel, edition.view), steps, stateBefore: () => undefined };
  const { frames, close } = dialect.encodeSteps(NO_MEMORY, group, edition.view);
  if (close !== undefined) return undefined;
  return frames.filter(({ channel }) => wires.has(channel)).map(({ params }) => params);
}

function envelopeOf(params: object): unknown {
  return 'envelope' in params ? params.envelope : params;
}

function inbound(
  dialect: Dialect,
  { method, params }: { readonly method: string; readonly params: Params },
  view: DialectView,
  known: DialectConnection = {},
) {
  const clientId = typeof params.clientId === 'string' ? params.clientId : undefined;
  const call = dialect.request({ method, params }, { connection: known, clientId, view });
  if (call.kind === 'fail') throw RequestError.from(call.error);
  return call;
}

function checked<M extends 'initialize' | 'reconnect'>(method: M, params: Params) {
  const result = checkClientRequest(method, params);
  if (!result.ok) throw new RequestError(ErrorCode.InvalidParams, `${method}: ${describeProblem(result.problem)}`);
  const { clientId, locale = '' }: { clientId: string; locale?: string } = result.value;
  const tooLong = clientId.length > CLIENT_ID_MAX_CHARACTERS ? 'clientId' : 'locale';
  if (Math.max(clientId.length, locale.length) > CLIENT_ID_MAX_CHARACTERS) {
    const message = `${method}: /${tooLong} may have at most ${CLIENT_ID_MAX_CHARACTERS} characters`;
    throw new RequestError(ErrorCode.InvalidParams, message);
  }
  return result.value;
}

function numbers(value: unknown): number[] {
  return Array.isArray(value) ? value.filter((item) => Number.isSafeInteger(item)) : [];
}
