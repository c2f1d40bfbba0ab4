/** Small ports between the parts of the host. The composition root passes each to the parts that need it. */
import type { HostRequestMethod, HostRequests, Turn } from '@atrium/protocol/ahp-1';
import type { EntryOrigin } from '../log/log.js';
import type { Access } from './access.js';

/** Which clients are connected, to any host, and how to send them requests. */
export interface Presence {
  isConnected(clientId: string): boolean;
  /** True when the client is connected, speaks a version with this method, and has not answered that it lacks it. */
  canAsk(clientId: string, method: HostRequestMethod): boolean;
  /** Rejects when the client answers with an error or a result of the wrong shape, stays silent, or leaves. */
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
  readonly maxDelayMs?: number | undefined;
}

/** The subscribers of channels. */
export interface Watchers {
  isWatched(uri: string): boolean;
  audienceOf(uri: string): Audience;
  /** True when a subscriber can answer questions. True without subscribers, because one may come. */
  canBeAnswered(uri: string): boolean;
  /** True when the dialect of some subscriber has no questions at all. */
  isWatchedWithoutQuestions(uri: string): boolean;
  /**
   * True when a subscriber of a session speaks a wire with further chats. True without subscribers, because one may
   * come.
   */
  canShowChats(session: string): boolean;
  /**
   * The greatest index from which on a subscriber has loaded the chat's turns; 0 when all subscribers have loaded all.
   */
  loadedFrom(chat: string): number;
  /** Sends the turns from this index on to subscribers of a chat that lack them. */
  loadTurns(chat: string, index: number, turns: readonly Turn[]): void;
  /** Ends all subscriptions to a channel that is gone. */
  unsubscribeAll(uri: string): void;
  /** Notifies all subscribers once, without a number. */
  notify(uri: string, method: string, params: object): void;
}

/** Records that a client's action waits for the end of a turn, so that a resend is not applied again. */
export interface Deferrals {
  deferred(origin: EntryOrigin): void;
}

/** The client that sent a request. Handlers may use it as a key for what ends with its connection. */
export interface Caller {
  /** Undefined once the connection has closed. */
  readonly identity: { readonly clientId: string; readonly locale?: string | undefined } | undefined;
  /** What it may do now; changes when its credential changes. */
  readonly access: Access;
  /** Answers may contain stored JSON text without parsing it first. */
  readonly sendsStoredJson: boolean;
}
