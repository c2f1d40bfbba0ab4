/** The first exchange on a connection: `initialize` on the first one, `reconnect` on later ones. */

import { asError, type Outcome } from '@atrium/link';
import {
  type Implementation,
  type InitializeParams,
  type InitializeResult,
  isInCaretRange,
  type ReconnectResult,
} from '@atrium/protocol/ahp-1';
import type { Channel } from './channel.js';
import { InvalidResultError, RequestError } from './errors.js';
import { isStateful } from './kinds.js';
import type { CallParams, Peer } from './peer.js';
import { asStale, olderOfChannel, type TurnWindow } from './reconcile.js';
import { asChat } from './reducers.js';
import type { Store } from './store.js';

/** The versions that this client speaks, most preferred first. 0.9 is 1.0 with fewer members. */
export const PROTOCOL_VERSIONS = ['1.0.0', '0.9.0'] as const;

/** Whether this client speaks a version: later ones add only what it may ignore. */
export function isSpoken(version: string): boolean {
  return PROTOCOL_VERSIONS.some((baseline) => isInCaretRange(version, baseline));
}

interface Offer {
  readonly protocolVersions: readonly string[];
  readonly clientInfo: Implementation;
  readonly locale?: string;
}

/** How a connection began: from scratch, or where the last one ended. */
export type HandshakeResult =
  | { readonly by: 'initialize'; readonly result: InitializeResult }
  | { readonly by: 'replay' | 'snapshot' };

type Settle = (outcome: Outcome<HandshakeResult>) => void;

/** Members that Atrium adds to the protocol; other hosts ignore them. */
type Windowed<T> = T & { turns?: TurnWindow };
type ReconnectExtended = Windowed<CallParams<'reconnect'>> & { pending: number[] };

/**
 * Once this is sent, the host may count our actions from the start, even if its answer never arrives: actions that were
 * sent earlier must not be sent again.
 */
export function initialize(peer: Peer, store: Store, offer: Offer, settle: Settle): void {
  store.forget(sentSeqs(store));
  const asked = store.channels;
  const params: Windowed<Omit<InitializeParams, 'channel'>> = {
    protocolVersions: [...offer.protocolVersions],
    clientId: store.clientId,
    clientInfo: offer.clientInfo,
    initialSubscriptions: asked.map(({ uri }) => uri),
    ...(offer.locale === undefined ? {} : { locale: offer.locale }),
    ...windowFor(asked),
  };
  peer.call('initialize', params, (outcome) => {
    settle(attempt(outcome, (result) => initialized(store, asked, result)));
  });
}

/** Resumes the lost connection. When the host has forgotten it, initializes again on the same transport. */
export function reconnect(peer: Peer, store: Store, offer: Offer, settle: Settle): void {
  for (const channel of store.channels) channel.disconnected();
  const asked = store.channels.filter(({ phase, kind }) => phase.at === 'live' && isStateful(kind));
  const doubtful = store.doubtful();
  const params: ReconnectExtended = {
    clientId: store.clientId,
    lastSeenServerSeq: store.lastSeenServerSeq,
    subscriptions: asked.map(({ uri }) => uri),
    pending: [...sentSeqs(store)],
    ...windowFor(asked),
  };
  peer.call('reconnect', params, (outcome) => {
    if (!outcome.ok && outcome.error instanceof RequestError) return initialize(peer, store, offer, settle);
    settle(attempt(outcome, (result) => resumed(store, { asked, doubtful }, result)));
  });
}

/** A result that cannot be applied is a failure of the host, not of the program. */
function attempt<T>(outcome: Outcome<T>, apply: (value: T) => HandshakeResult): Outcome<HandshakeResult> {
  if (!outcome.ok) return outcome;
  try {
    return { ok: true, value: apply(outcome.value) };
  } catch (error) {
    return { ok: false, error: asError(error) };
  }
}

function initialized(store: Store, asked: readonly Channel[], result: InitializeResult): HandshakeResult {
  const { protocolVersion } = result;
  if (!isSpoken(protocolVersion))
    throw new InvalidResultError('initialize', `nobody offered to speak version ${protocolVersion}`);
  store.lastSeenServerSeq = result.serverSeq;
  replaceAll(store, asked, result);
  return { by: 'initialize', result };
}

interface Resuming {
  readonly asked: readonly Channel[];
  /** Channels that may have missed actions older than the replay. */
  readonly doubtful: readonly Channel[];
}

function resumed(store: Store, { asked, doubtful }: Resuming, result: ReconnectResult): HandshakeResult {
  if (result.type === 'replay') {
    store.receive(result.actions);
    for (const channel of doubtful) channel.update(asStale);
    store.forget(decidedSeqs(store, result));
    for (const channel of asked.filter(({ uri }) => result.missing.includes(uri))) store.lose(channel);
  } else {
    store.pending.forget(decidedSeqs(store, result));
    // A host that starts with a fresh counter sends smaller numbers than this client has seen.
    store.lastSeenServerSeq = 0;
    replaceAll(store, asked, result);
  }
  for (const entry of store.pending.entries()) entry.sent = false;
  return { by: result.type };
}

/**
 * Replaces the state of the channels; a channel without a snapshot is gone. A channel that was still opening is
 * subscribed to separately, because that answer carries the error.
 */
function replaceAll(store: Store, asked: readonly Channel[], result: Pick<InitializeResult, 'snapshots'>): void {
  const turns = 'turns' in result ? result.turns : undefined;
  for (const channel of asked) {
    const snapshot = result.snapshots.find(({ resource }) => resource === channel.uri);
    const installed = store.install(channel, snapshot, olderOfChannel(turns, channel.uri));
    if (!installed && channel.phase.at === 'live') store.lose(channel);
  }
}

/**
 * Our actions that must not be sent again: those that the host has decided. A host that does not list them may have
 * applied any of them, and sending one twice could apply it twice.
 */
function decidedSeqs(store: Store, result: object): Set<number> {
  const sent = sentSeqs(store);
  if (!('settled' in result) || !Array.isArray(result.settled)) return sent;
  const settled = new Set<unknown>(result.settled);
  return new Set([...sent].filter((clientSeq) => settled.has(clientSeq)));
}

/** Actions dispatched without a connection were never sent, so they can wait for the next one. */
function sentSeqs(store: Store): Set<number> {
  const sent = store.pending.entries().filter((entry) => entry.sent);
  return new Set(sent.map(({ clientSeq }) => clientSeq));
}

/** One window for all chats: the largest in use, and none when a chat needs its whole history. */
function windowFor(channels: readonly Channel[]): { turns?: TurnWindow } {
  const chats = channels.filter(({ kind }) => kind === 'chat').map(turnsToRequest);
  if (chats.length === 0 || chats.includes(undefined)) return {};
  return { turns: { last: Math.max(...chats.map((last) => last ?? 0)) } };
}

/** At least as many turns as were asked for, and those paged in since. */
export function turnsToRequest({ kind, last, mirror }: Channel): number | undefined {
  if (last === undefined) return undefined;
  return Math.max(last, asChat(kind, mirror?.confirmed)?.turns.length ?? 0);
}
