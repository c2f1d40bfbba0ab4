/** The sessions that are open to providers: which there are, which one people use, and what a provider is told. */
import type { ProviderSessionEntry } from '@atrium/protocol/provider';
import { type Access, isOpenTo, listFor } from './access.js';
import type { Room } from './room.js';

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
