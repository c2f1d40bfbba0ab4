/** The sessions that are open to providers: which there are, which one people use, and what a provider is told. */

import type { ProviderSessionEntry } from '@atrium/protocol/provider';
import type { Extension } from '../core/contracts/extension.js';
import type { Companion } from '../core/sessions/companion.js';
import type { Session } from '../core/sessions/session.js';
import type { Clock } from '../core/util/clock.js';
import { type Throttle, throttle } from '../core/util/throttle.js';
import { type Group, Room } from './gateway-session.js';
import { extensionId } from './provider.js';
import { type Access, isOpenTo, listFor } from './provider-auth.js';
import type { GatewayService } from './service.js';

/** A session as the host lists it. */
export interface RegistryEntry extends ProviderSessionEntry {
  /** Whether it is the one that a person touched last. There is exactly one, as long as there is any. */
  readonly foreground: boolean;
}

export class Registry {
  readonly #rooms = new Map<string, Room>();
  /** Those that are being taken apart, by their id. */
  readonly #leaving = new Map<string, Promise<void>>();
  /** Touched by people, the latest last. */
  readonly #touched = new Set<Room>();

  rooms(): readonly Room[] {
    return [...this.#rooms.values()];
  }

  get(id: string): Room | undefined {
    return this.#rooms.get(id);
  }

  has(room: Room): boolean {
    return this.#rooms.get(room.id) === room;
  }

  add(room: Room): void {
    this.#rooms.set(room.id, room);
  }

  /** A person did something in a session. */
  touch(room: Room): void {
    this.#touched.delete(room);
    if (this.has(room)) this.#touched.add(room);
  }

  /** It is not listed from now on; until it is apart, no other session takes its id. */
  remove(room: Room, apart: Promise<void>): void {
    this.#rooms.delete(room.id);
    this.#touched.delete(room);
    const done = () => void this.#leaving.delete(room.id);
    this.#leaving.set(room.id, apart.then(done, done));
  }

  /** Resolves when a session of this id, which was disposed and restored, is apart; undefined when there is none. */
  leaving(id: string): Promise<void> | undefined {
    return this.#leaving.get(id);
  }

  entries(): RegistryEntry[] {
    const foreground = this.#foreground();
    return this.rooms().map((room) => ({ ...room.entry(true), foreground: room === foreground }));
  }

  /** Its own come first, and the one that people use before all others: some providers just take the first. */
  entriesFor(access: Access): ProviderSessionEntry[] {
    const foreground = this.#foreground();
    const rooms = [...this.rooms()].sort((one, other) => Number(other === foreground) - Number(one === foreground));
    return listFor(access, rooms).map((room) => room.entry(isOpenTo(access, room)));
  }

  #foreground(): Room | undefined {
    return [...this.#touched].at(-1) ?? this.rooms().at(-1);
  }
}

/** The way of a session through the gateway: it enters memory, is open to providers, is worked in, and ends. */

/** Titles may change with every word of an agent; lists of sessions need not. */
export const TITLES_INTERVAL_MS = 1_000;

export interface OpenSessionsParts {
  readonly clock: Clock;
  readonly services: readonly GatewayService[];
  /** A session that nobody needs any more may leave memory. */
  mayRest(uri: string): void;
  /** The list of sessions has changed: whoever keeps it is told. */
  announce(): void;
  /** Whether there is anybody to be told. */
  isHeard(): boolean;
  /** Nobody new comes into a session. When it only leaves memory, whoever was let in may come again later. */
  closeTo(room: Room, hasEnded: boolean): void;
  /** Takes everybody out of a session. */
  unbind(room: Room): void;
}

export class OpenSessions {
  readonly registry = new Registry();
  readonly #parts: OpenSessionsParts;
  readonly #titlesChanged: Throttle;

  constructor(parts: OpenSessionsParts) {
    this.#parts = parts;
    this.#titlesChanged = throttle(parts.clock, TITLES_INTERVAL_MS, () => parts.announce());
  }

  /** A session entered memory. It is open to providers from the moment it is ready until it ends. */
  attach(session: Session): Companion {
    const room = new Room(session, {
      extension: (group) => this.#extension(group),
      changed: (group) => {
        for (const service of this.#parts.services) service.changed?.(group);
      },
      emptied: () => this.#parts.mayRest(session.uri),
    });
    // The session is still being put together; nothing can be written to it in this very moment.
    if (session.state.lifecycle === 'ready') queueMicrotask(() => this.#reopen(room));
    return {
      begin: async () => {
        room.isUsed = true;
        if (this.registry.has(room)) this.#use(room);
      },
      rest: async () => {
        await Promise.all(this.#parts.services.map((service) => service.resting?.(room)));
      },
      get keepsAwake() {
        return room.bindings.length > 0;
      },
      observe: (step) => {
        const { action, origin } = step.envelope;
        if (origin) this.registry.touch(room);
        if (action.type === 'session/ready') this.#open(room);
        if (action.type === 'session/titleChanged' && this.#parts.isHeard()) this.#titlesChanged.request();
        for (const service of this.#parts.services) service.observe?.(room, step);
      },
      close: () => this.#end(room),
    };
  }

  stop(): void {
    this.#titlesChanged.stop();
  }

  #extension(group: Group): Extension {
    const parts = this.#parts.services.map((service) => service.extend?.(group));
    return Object.assign({ id: extensionId(group.name), name: group.name }, ...parts);
  }

  /** It comes from the log. Whoever asked something then does not wait for the answer any more. */
  #reopen(room: Room): void {
    room.session.standing.withdrawStale(room.session.state);
    this.#open(room);
  }

  #open(room: Room): void {
    const leaving = this.registry.leaving(room.id);
    if (leaving) return void leaving.then(() => this.#open(room));
    if (room.session.isClosed || this.registry.get(room.id)) return;
    this.registry.add(room);
    for (const service of this.#parts.services) service.opened?.(room);
    this.#parts.announce();
    if (room.isUsed) this.#use(room);
  }

  #use(room: Room): void {
    for (const service of this.#parts.services) service.used?.(room);
  }

  async #end(room: Room): Promise<void> {
    if (!this.registry.has(room)) return;
    const { session } = room;
    room.isEnding = true;
    this.#parts.closeTo(room, !session.parts.catalogue.isListed(session.uri));
    // Providers hear of it first, then everybody sees it gone.
    const ready = Promise.all(this.#parts.services.map((service) => service.ending?.(room)));
    const apart = ready.then(() => this.#takeApart(room));
    this.registry.remove(room, apart);
    this.#parts.announce();
    await apart;
  }

  /** Its providers are ready for that, or their time is up. */
  async #takeApart(room: Room): Promise<void> {
    this.#parts.unbind(room);
    await Promise.all(this.#parts.services.map((service) => service.ended?.(room)));
  }
}
