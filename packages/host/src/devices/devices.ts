/**
 * Devices: which ones have access, how a new one gets it, and how one loses it. People manage them with methods of our
 * own. The device itself presents its code over HTTP, because it has no token yet.
 */
import type { KeyObject } from 'node:crypto';
import type { Writer } from '@atrium/core/channels/writer.js';
import { type Access, OWNER } from '@atrium/core/contracts/access.js';
import type { Caller } from '@atrium/core/contracts/ports.js';
import { RequestError } from '@atrium/core/contracts/request-error.js';
import { jsonText, type Log } from '@atrium/core/log/log.js';
import type { Service } from '@atrium/core/sessions/service.js';
import type { Clock } from '@atrium/core/util/clock.js';
import type { Logger } from '@atrium/core/util/logger.js';
import { digestOf } from '@atrium/core/util/secrets.js';
import { cutText } from '@atrium/core/util/text.js';
import {
  type Device,
  type DeviceInvitation,
  type DeviceList,
  ErrorCode,
  type RedeemedDevice,
  ROOT_CHANNEL,
} from '@atrium/protocol/ahp-1';
import {
  accessOf,
  CredentialStore,
  type Place,
  type StoredCredential,
  TooManyCredentialsError,
} from './credential-store.js';
import { changedGrant, grantIn, isWithin, wrong } from './granting.js';
import { HostKey, hostKey } from './host-key.js';
import { Invitations, type Redemption, TooManyCodesError } from './invitations.js';
import { USER_AGENT_MAX_CHARACTERS } from './limits.js';

type Params = Readonly<Record<string, unknown>>;

/** Where the host can be reached, and who keeps its connection token. The part that listens provides this. */
export interface Reachability {
  /** As `https://name:port`; addresses that other machines can use come first. */
  addresses(): readonly string[];
  /** Nobody on the network can read what a device sends, because the host serves only this machine or uses TLS. */
  readonly isPrivate: boolean;
  /** The connection token; absent when every program of this machine may connect. */
  readonly connectionToken?: string | undefined;
  /** Replaces the connection token and stores it; throws if the host does not keep the token itself. */
  rotateToken?(): Promise<RotatedToken>;
}

export interface RotatedToken {
  readonly token: string;
  /** How many connections this ends. */
  readonly closing: number;
}

/**
 * The record with the digest of the connection token, from which a host knows whether its last run had another token.
 */
const TOKEN_RECORD = 'connection-token-digest';

/** Undefined access: the credential was removed or has expired. */
type AccessListener = (credentialId: string, access: Access | undefined) => void;

interface DevicesParts {
  readonly log: Log;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly dataFolder: string | undefined;
  /** Undefined: the host reads its key from the data folder. */
  readonly hostKey: KeyObject | undefined;
  /** A credential's access has changed; undefined: it is gone, and its connections must be closed. */
  changeAccess(credentialId: string, access: Access | undefined): void;
  connectionsOf(credentialId: string): number;
  /** Sends one client a notification outside the protocol. */
  notify(caller: Caller, method: string, params: object): void;
  /** Ends the connections of a client and frees its id for the next user. */
  releaseClient(clientId: string): Promise<boolean>;
}

export interface RedeemAsked {
  readonly code: string;
  /** The name that the device gives itself. */
  readonly name: string | undefined;
  readonly isPrivate: boolean;
}

export type Redeemed =
  | { readonly kind: 'in'; readonly device: RedeemedDevice & { readonly token: string }; readonly expiresAt?: number }
  | Exclude<Redemption, { readonly kind: 'taken' }>
  | { readonly kind: 'full' };

export class Devices implements Service {
  readonly store: CredentialStore;
  readonly #parts: DevicesParts;
  readonly #invitations: Invitations;
  /** Clients that have requested the list, and hear of changes. */
  readonly #watchers = new Set<Caller>();
  readonly #listeners: AccessListener[] = [];
  #tokenReplaced: () => void = () => {};
  #key: HostKey | undefined;
  #reach: Reachability = { addresses: () => [], isPrivate: true };

  constructor(parts: DevicesParts) {
    this.#parts = parts;
    this.#invitations = new Invitations(parts.clock);
    this.store = new CredentialStore({
      ...parts,
      events: { access: (id, access) => this.#accessChanged(id, access), changed: () => this.#listChanged() },
    });
  }

  async start(): Promise<void> {
    const { hostKey: given, dataFolder } = this.#parts;
    this.#key = given ? new HostKey(given) : await hostKey(dataFolder);
    await this.store.load();
  }

  close(): Promise<void> {
    return this.store.close();
  }

  left(connection: Caller): void {
    this.#watchers.delete(connection);
  }

  get key(): HostKey {
    if (!this.#key) throw new Error('the host has not started yet');
    return this.#key;
  }

  /** Where the host can be reached; addresses that other machines can use come first. */
  get addresses(): readonly string[] {
    return this.#reach.addresses();
  }

  async reachedAt(reach: Reachability): Promise<void> {
    this.#reach = reach;
    if (reach.connectionToken !== undefined) await this.#noteToken(reach.connectionToken);
  }

  /** Whether the port requires a token. */
  get asksForToken(): boolean {
    return this.#reach.connectionToken !== undefined;
  }

  /** Calls back when the connection token was replaced, which ends everything that holders of the old one had. */
  onTokenReplaced(listener: () => void): void {
    this.#tokenReplaced = listener;
  }

  async #noteToken(token: string): Promise<void> {
    const { log, writer, logger } = this.#parts;
    const value = jsonText(digestOf(token).toString('base64url'));
    const before = await log.record(TOKEN_RECORD);
    if (before === value) return;
    if (before !== undefined) this.#tokenReplaced();
    this.#invitations.cancelOf(OWNER.credential.id);
    // One commit holds the digest and everything that ends, so a host that dies before it repeats all of it at its next
    // start.
    writer.record({ key: TOKEN_RECORD, value }, 'full');
    await writer.settled().catch((error: unknown) => {
      logger.log('warn', 'the digest of the new connection token could not be stored', { error: String(error) });
    });
  }

  /** Calls back when a device or share was removed or has expired, so that everything it had ends with it. */
  onGone(listener: (credentialId: string) => void): void {
    this.onAccess((id, access) => access ?? listener(id));
  }

  /** Calls back when the access of a device or share has changed or ended. */
  onAccess(listener: AccessListener): void {
    this.#listeners.push(listener);
  }

  accessOf(token: string): Access | undefined {
    const found = this.store.find(token);
    return found && accessOf(found);
  }

  /** The present access of a device or share; undefined when it is gone. */
  accessOfDevice(id: string): Access | undefined {
    const found = this.store.get(id);
    return found && accessOf(found);
  }

  used({ credential }: Access, { address, userAgent }: Place): void {
    this.store.used(credential.id, { address, userAgent: userAgent && cutText(userAgent, USER_AGENT_MAX_CHARACTERS) });
  }

  /** A device presents its code. Its credential is stored before it gets the answer. */
  async redeem({ code, name, isPrivate }: RedeemAsked): Promise<Redeemed> {
    const taken = this.#invitations.take(code, { isPrivate });
    if (taken.kind !== 'taken') return taken;
    const { by, name: given, ...grant } = taken.invited;
    try {
      const { credential, token } = await this.store.add('device', { ...grant, name: given ?? name ?? 'New device' });
      const { id, role, expiresAt } = credential;
      this.#parts.logger.log('info', 'a device was admitted', { device: id, role, by });
      const device = { id, name: credential.name, role, token };
      return { kind: 'in', device, ...(expiresAt !== undefined && { expiresAt }) };
    } catch (error) {
      if (error instanceof TooManyCredentialsError) return { kind: 'full' };
      throw error;
    }
  }

  readonly extensionRequests = {
    'atrium/devices': (caller: Caller): DeviceList => {
      const { access } = this.#owner(caller);
      this.#watchers.add(caller);
      const items = this.#visibleTo(access).map((credential) => this.#shown(credential));
      return { items, ...(access.credential.kind === 'device' && { self: access.credential.id }) };
    },
    'atrium/addDevice': (caller: Caller, params: Params): DeviceInvitation => this.#add(this.#owner(caller), params),
    'atrium/cancelDevice': (caller: Caller, { id }: Params) => {
      const { access } = this.#owner(caller);
      return { wasOpen: this.#invitations.cancel(String(id), access.bounds && access.credential.id) };
    },
    'atrium/changeDevice': async (caller: Caller, params: Params) => {
      const { access } = this.#owner(caller);
      const before = this.#found(access, params.id);
      const { name } = params;
      if (name !== undefined && (typeof name !== 'string' || name.trim() === '')) throw wrong('/name must be a text');
      const { role, bounds, expiresAt } = changedGrant(before, params, access, this.#parts.clock.now());
      await this.store.change(before.id, { role, bounds, expiresAt, ...(name !== undefined && { name }) });
      const changed = { device: before.id, role, isBounded: bounds !== undefined, by: access.credential.id };
      this.#parts.logger.log('info', 'a device was changed', changed);
      return null;
    },
    'atrium/removeDevice': async (caller: Caller, params: Params) => {
      const { id } = this.#found(this.#owner(caller).access, params.id);
      const connections = this.#parts.connectionsOf(id);
      await this.store.remove(id);
      this.#parts.logger.log('info', 'a device was removed', { device: id });
      return { closed: connections };
    },
    'atrium/rotateToken': async (caller: Caller) => {
      const { access } = this.#owner(caller);
      if (access.bounds || access.until !== undefined) throw denied();
      const { rotateToken } = this.#reach;
      if (!rotateToken) throw new RequestError(ErrorCode.InvalidRequest, 'this host has no connection token');
      const { token, closing } = await rotateToken().catch(({ message }: Error) => {
        throw new RequestError(ErrorCode.InvalidRequest, message);
      });
      await this.#noteToken(token);
      return { closing };
    },
    'atrium/releaseClient': async (caller: Caller, { clientId }: Params) => {
      const { access } = this.#owner(caller);
      if (access.bounds || typeof clientId !== 'string') throw denied();
      return { wasKnown: await this.#parts.releaseClient(clientId) };
    },
  };

  #add({ access }: Caller, params: Params): DeviceInvitation {
    const { name } = params;
    if (name !== undefined && typeof name !== 'string') throw wrong('/name must be a text');
    const grant = grantIn(params, access, this.#parts.clock.now());
    const { isPrivate } = this.#reach;
    try {
      const invited = { ...grant, ...(name?.trim() && { name }), by: access.credential.id };
      const { expiresAt, ...made } = this.#invitations.make(invited, { isPrivate });
      const { fingerprint } = this.key;
      const addresses = this.#reach.addresses();
      return { ...made, expiresAt: new Date(expiresAt).toISOString(), role: grant.role, fingerprint, addresses };
    } catch (error) {
      if (error instanceof TooManyCodesError) throw new RequestError(ErrorCode.Conflict, error.message);
      throw error;
    }
  }

  #owner(caller: Caller): Caller {
    if (caller.access.role !== 'owner') throw denied();
    return caller;
  }

  /** The devices that have no more access than the caller; the caller does not see others. */
  #visibleTo(access: Access): StoredCredential[] {
    return this.store.list('device').filter((credential) => isWithin(credential, access));
  }

  #found(access: Access, id: unknown): StoredCredential {
    const found = this.#visibleTo(access).find((credential) => credential.id === id);
    if (!found) throw new RequestError(ErrorCode.NotFound, 'there is no such device; atrium/devices lists them');
    return found;
  }

  #shown({ id, name, role, bounds, createdAt, expiresAt, lastUsed }: StoredCredential): Device {
    const iso = (time: number) => new Date(time).toISOString();
    const use = lastUsed && {
      at: iso(lastUsed.at),
      address: lastUsed.address,
      ...(lastUsed.userAgent !== undefined && { userAgent: lastUsed.userAgent }),
    };
    return {
      ...{ id, name, role, createdAt: iso(createdAt), connections: this.#parts.connectionsOf(id) },
      ...(bounds && { bounds }),
      ...(expiresAt !== undefined && { expiresAt: iso(expiresAt) }),
      ...(use && { lastUsed: use }),
    };
  }

  #accessChanged(id: string, access: Access | undefined): void {
    this.#invitations.cancelOf(id);
    this.#parts.changeAccess(id, access);
    for (const listener of this.#listeners) listener(id, access);
  }

  #listChanged(): void {
    for (const caller of this.#watchers) {
      if (caller.access.role === 'owner')
        this.#parts.notify(caller, 'atrium/devicesChanged', { channel: ROOT_CHANNEL });
    }
  }
}

function denied(): RequestError {
  return new RequestError(ErrorCode.PermissionDenied, 'devices are for the owner of this host', { role: 'owner' });
}
