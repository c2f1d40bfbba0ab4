/** Small ports between the parts of the host. The composition root passes each to the parts that need it. */
import type { HostRequestMethod, HostRequests, Turn } from '@atrium/protocol/ahp-1';
import type { EntryOrigin } from '../log/log.js';
import type { Access } from './access.js';

/** Which clients are connected, wherever that is, and how to ask them something. */
export interface Presence {
  isConnected(clientId: string): boolean;
  /** Whether the client is connected, speaks a version with this method, and has not said that it lacks it. */
  mayAsk(clientId: string, method: HostRequestMethod): boolean;
  /** Rejects on an error, on a result of the wrong shape, on silence, and when the client leaves. */
  ask<M extends HostRequestMethod>(
    clientId: string,
    method: M,
    params: HostRequests[M]['params'],
    timeoutMs?: number,
  ): Promise<HostRequests[M]['result']>;
}

/** How many clients watch a channel, and how long all of them let text wait; undefined when none of them said so. */
export interface Audience {
  readonly count: number;
  readonly mayWaitMs?: number | undefined;
}

/** The subscribers of channels. */
export interface Watchers {
  isWatched(uri: string): boolean;
  audienceOf(uri: string): Audience;
  /** Whether a subscriber can answer questions; true without subscribers, because one may come. */
  mayBeAnswered(uri: string): boolean;
  /** Whether some subscriber's dialect has no questions at all. */
  isWatchedWithoutQuestions(uri: string): boolean;
  /** Whether a subscriber of a session speaks a wire that has further chats; true without subscribers, because one may come. */
  mayShowChats(session: string): boolean;
  /** The index of the newest turn before which a subscriber of a chat has loaded none; 0 when all have loaded all. */
  loadedFrom(chat: string): number;
  /** Loads turns for subscribers of a chat that do not have them: those from this index on. */
  loadTurns(chat: string, index: number, turns: readonly Turn[]): void;
  /** Ends all subscriptions to a channel that is gone. */
  unsubscribeAll(uri: string): void;
  /** Notifies all subscribers once, without a number. */
  notify(uri: string, method: string, params: object): void;
}

/** Remembers that a client's action waits for the end of a turn, so that a resend is not applied a second time. */
export interface Deferrals {
  deferred(origin: EntryOrigin): void;
}

/** The client that sent a request. Handlers may use it as a key for what lasts as long as its connection. */
export interface Caller {
  /** Undefined once the connection has closed. */
  readonly identity: { readonly clientId: string; readonly locale?: string | undefined } | undefined;
  /** What it may do now; another one when its credential is changed. */
  readonly access: Access;
  /** Whether answers may contain JSON text that is stored, without parsing it first. */
  readonly sendsStoredJson: boolean;
}
