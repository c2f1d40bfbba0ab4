/**
 * Shares: a link that lets anyone who has it read a session. The store keeps their tokens as digests; this file decides
 * what may be shared.
 */
import type { Access } from '@atrium/core/contracts/access.js';
import { RequestError } from '@atrium/core/contracts/request-error.js';
import type { Service } from '@atrium/core/sessions/service.js';
import type { Clock } from '@atrium/core/util/clock.js';
import { unknownChannel } from '@atrium/core/wire/unknown-channel.js';
import {
  END_SHARE_METHOD,
  ErrorCode,
  isLeftOut,
  LEFT_OUT,
  type LeftOut,
  type MadeShare,
  SHARE_DEFAULT_MS,
  SHARE_MAX_MS,
  SHARE_METHOD,
  SHARES_METHOD,
  type Share,
  type ShareList,
  withImplied,
} from '@atrium/protocol/ahp-1';

type Params = Readonly<Record<string, unknown>>;

/** A share as it is stored. */
export interface StoredShare {
  readonly id: string;
  readonly name: string;
  readonly bounds?: Access['bounds'];
  readonly leftOut?: readonly LeftOut[] | undefined;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly expiresAt?: number | undefined;
  /** The device that made it; absent if a holder of the connection token did. */
  readonly by?: string | undefined;
}

interface ShareGrant extends Pick<StoredShare, 'name' | 'bounds' | 'leftOut' | 'expiresAt' | 'by'> {
  readonly role: 'viewer';
}

/** Stores the tokens of shares. */
export interface ShareStore {
  /** Resolves when the share is stored. */
  add(kind: 'share', grant: ShareGrant): Promise<{ readonly credential: StoredShare; readonly token: string }>;
  list(kind: 'share'): readonly StoredShare[];
  change(id: string, change: { readonly expiresAt: number }): Promise<boolean>;
  /** Closes the connections of a share; false when it does not exist. */
  remove(id: string): Promise<boolean>;
}

export interface SharesParts {
  readonly clock: Clock;
  readonly store: ShareStore;
  /** The title of a session; undefined when it is not listed. */
  titleOf(session: string): string | undefined;
  /** How many connections a credential has now. */
  connectionsOf(credentialId: string): number;
  addresses(): readonly string[];
}

export class Shares implements Service {
  constructor(private readonly parts: SharesParts) {}

  readonly extensionRequests: NonNullable<Service['extensionRequests']> = {
    [SHARE_METHOD]: (caller, params) => this.#make(params, caller.access),
    [SHARES_METHOD]: (_caller, { session }): ShareList => ({
      items: this.#all().filter((share) => session === undefined || share.session === session),
    }),
    [END_SHARE_METHOD]: async (_caller, { id }) => {
      const isShare = this.parts.store.list('share').some((share) => share.id === id);
      if (!isShare || !(await this.parts.store.remove(String(id))))
        throw new RequestError(ErrorCode.NotFound, `there is no share ${String(id)}: atrium/shares lists them`);
      return null;
    },
  };

  /** A session that is gone for good takes its shares with it. */
  async forgotten(session: string): Promise<void> {
    for (const share of this.#all()) if (share.session === session) await this.parts.store.remove(share.id);
  }

  /** Ends the shares of a device that may no longer share: it may have been lost, or never have been its owner's. */
  async makerChanged(maker: string, access: Access | undefined): Promise<void> {
    const mayShare = access?.role === 'owner' && access.bounds === undefined;
    const end = mayShare ? (access.until ?? Number.POSITIVE_INFINITY) : 0;
    const { store } = this.parts;
    for (const { id, expiresAt = 0 } of store.list('share').filter(({ by }) => by === maker)) {
      if (!mayShare) await store.remove(id);
      else if (expiresAt > end) await store.change(id, { expiresAt: end });
    }
  }

  async #make(
    { session, name, until, leftOut = [] }: Params,
    { until: makersEnd = Number.POSITIVE_INFINITY, credential: maker }: Access,
  ): Promise<MadeShare> {
    const title = typeof session === 'string' ? this.parts.titleOf(session) : undefined;
    if (typeof session !== 'string' || title === undefined) throw unknownChannel(String(session));
    if (name !== undefined && typeof name !== 'string') throw wrong('/name must be a text');
    if (!Array.isArray(leftOut) || !leftOut.every(isLeftOut)) throw wrong(`/leftOut may name ${LEFT_OUT.join(', ')}`);
    const grant: ShareGrant = {
      role: 'viewer',
      name: name || title || 'A session',
      bounds: { sessions: [session] },
      leftOut: withImplied(leftOut),
      // Nobody shares for longer than their own access lasts.
      expiresAt: Math.min(this.#end(until), makersEnd),
      ...(maker.kind === 'device' && { by: maker.id }),
    };
    const { credential, token } = await this.parts.store.add('share', grant);
    return { ...this.#shown(credential, session), token, addresses: this.parts.addresses() };
  }

  #end(until: unknown): number {
    const now = this.parts.clock.now();
    if (until === undefined) return now + SHARE_DEFAULT_MS;
    const time = typeof until === 'string' ? Date.parse(until) : Number.NaN;
    if (!Number.isFinite(time) || time <= now)
      throw wrong('/until must be a time to come, such as 2030-01-31T12:00:00Z');
    if (time > now + SHARE_MAX_MS) throw wrong(`/until: a share lasts ${SHARE_MAX_MS / 86_400_000} days at most`);
    return time;
  }

  #all(): Share[] {
    return this.parts.store.list('share').flatMap((share) => {
      const [session] = share.bounds?.sessions ?? [];
      return session === undefined ? [] : [this.#shown(share, session)];
    });
  }

  #shown({ id, name, leftOut = [], createdAt, expiresAt = createdAt }: StoredShare, session: string): Share {
    const viewers = this.parts.connectionsOf(id);
    const [created, expires] = [createdAt, expiresAt].map((time) => new Date(time).toISOString()) as [string, string];
    return { id, name, session, leftOut, createdAt: created, expiresAt: expires, viewers };
  }
}

function wrong(message: string): RequestError {
  return new RequestError(ErrorCode.InvalidParams, message);
}
