/**
 * The parts of a running turn. A state shows them as a plain array, and most turns have few. A turn with thousands
 * would copy that array with every piece of text, so beyond one chunk the parts are kept in chunks, and a change copies
 * only one of them. The array is then made when `responseParts` is read, once per state. Parts are found by id without
 * reading the others, and so are open parts. Knows no channel.
 */
import { withMembers } from './reducing.js';

/** How many parts are copied at once; turns with no more have a plain array. */
export const PARTS_PER_CHUNK = 128;

interface AnyTurn {
  readonly responseParts: readonly unknown[];
}

type PartOf<T extends AnyTurn> = T['responseParts'][number];

/** What all versions of a part have in common, as far as this file reads it. */
interface AnyPart {
  readonly kind: string;
  readonly id?: string;
  readonly toolCall?: { readonly toolCallId: string; readonly status: string };
  readonly response?: unknown;
}

/** The id that actions use for a part; some parts have none. */
function idOf(part: unknown): string | undefined {
  const { kind, id, toolCall } = part as AnyPart;
  return kind === 'toolCall' ? toolCall?.toolCallId : id;
}

/** True for a call that has not ended, or a question without an answer. */
function isOpen(part: unknown): boolean {
  const { kind, toolCall, response } = part as AnyPart;
  if (kind === 'inputRequest') return !response;
  return kind === 'toolCall' && toolCall?.status !== 'completed' && toolCall?.status !== 'cancelled';
}

interface Chunk<Part> {
  readonly parts: readonly Part[];
  readonly open: number;
}

/** The index of each id. Lists that grew from one another share it, and each reads it only up to its own length. */
class Places {
  readonly #places = new Map<string, number | number[]>();
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(id: string | undefined): void {
    const place = this.#length++;
    if (id === undefined) return;
    const known = this.#places.get(id);
    if (known === undefined) this.#places.set(id, place);
    else this.#places.set(id, typeof known === 'number' ? [known, place] : [...known, place]);
  }

  of(id: string): readonly number[] {
    const known = this.#places.get(id);
    return typeof known === 'number' ? [known] : (known ?? []);
  }
}

/** Reads parts, however they are kept. */
interface Parts<Part> {
  readonly array: readonly Part[];
  /** The indexes of the parts with this id, in order. */
  placesOf(id: string): readonly number[];
  at(place: number): Part | undefined;
  /** The indexes of open parts. */
  openPlaces(): readonly number[];
}

/** An immutable list. */
class PartList<Part> implements Parts<Part> {
  readonly #chunks: readonly Chunk<Part>[];
  readonly #places: Places;
  readonly length: number;
  #array: readonly Part[] | undefined;

  constructor(chunks: readonly Chunk<Part>[], length: number, places: Places) {
    this.#chunks = chunks;
    this.length = length;
    this.#places = places;
  }

  static of<Part>(parts: readonly Part[]): PartList<Part> {
    const chunks: Chunk<Part>[] = [];
    for (let start = 0; start < parts.length; start += PARTS_PER_CHUNK) {
      chunks.push(chunkOf(parts.slice(start, start + PARTS_PER_CHUNK)));
    }
    return new PartList(chunks, parts.length, placesIn(parts));
  }

  get array(): readonly Part[] {
    this.#array ??= this.#chunks.flatMap(({ parts }) => parts);
    return this.#array;
  }

  at(place: number): Part | undefined {
    return this.#chunks[Math.floor(place / PARTS_PER_CHUNK)]?.parts[place % PARTS_PER_CHUNK];
  }

  placesOf(id: string): readonly number[] {
    const places = this.#places.of(id);
    return places.some((place) => place >= this.length) ? places.filter((place) => place < this.length) : places;
  }

  openPlaces(): readonly number[] {
    return this.#chunks.flatMap(({ parts, open }, index) => (open > 0 ? openIn(parts, index * PARTS_PER_CHUNK) : []));
  }

  with(part: Part): PartList<Part> {
    // Another list has already grown from this one, and its ids are not those of this list.
    const places = this.#places.length === this.length ? this.#places : placesIn(this.array);
    places.add(idOf(part));
    const open = Number(isOpen(part));
    const last = this.#chunks.at(-1);
    if (!last || last.parts.length === PARTS_PER_CHUNK)
      return new PartList([...this.#chunks, { parts: [part], open }], this.length + 1, places);
    const grown = { parts: [...last.parts, part], open: last.open + open };
    return new PartList(this.#chunks.with(-1, grown), this.length + 1, places);
  }

  /** Replaces the part at an index by another one with the same id. */
  withAt(place: number, part: Part): PartList<Part> {
    const index = Math.floor(place / PARTS_PER_CHUNK);
    const chunk = this.#chunks[index] as Chunk<Part>;
    const open = chunk.open - Number(isOpen(this.at(place))) + Number(isOpen(part));
    const parts = chunk.parts.with(place % PARTS_PER_CHUNK, part);
    return new PartList(this.#chunks.with(index, { parts, open }), this.length, this.#places);
  }
}

function chunkOf<Part>(parts: readonly Part[]): Chunk<Part> {
  return { parts, open: parts.filter(isOpen).length };
}

function placesIn(parts: readonly unknown[]): Places {
  const places = new Places();
  for (const part of parts) places.add(idOf(part));
  return places;
}

function openIn(parts: readonly unknown[], start: number): number[] {
  const open: number[] = [];
  for (let index = 0; index < parts.length; index++) if (isOpen(parts[index])) open.push(start + index);
  return open;
}

/** A short array. */
class ShortParts<Part> implements Parts<Part> {
  constructor(readonly array: readonly Part[]) {}

  placesOf(id: string): readonly number[] {
    const places: number[] = [];
    for (let index = 0; index < this.array.length; index++) if (idOf(this.array[index]) === id) places.push(index);
    return places;
  }

  at(place: number): Part | undefined {
    return this.array[place];
  }

  openPlaces(): readonly number[] {
    return openIn(this.array, 0);
  }
}

/** The parts of another version, each translated when it is read. Parts without a translation are left out. */
class TranslatedParts<From, Part> implements Parts<Part> {
  #array: readonly Part[] | undefined;

  constructor(
    private readonly source: Parts<From>,
    private readonly translate: (part: From) => Part | undefined,
  ) {}

  get array(): readonly Part[] {
    this.#array ??= translated(this.source.array, this.translate);
    return this.#array;
  }

  placesOf(id: string): readonly number[] {
    return this.source.placesOf(id);
  }

  at(place: number): Part | undefined {
    const part = this.source.at(place);
    return part && this.translate(part);
  }

  openPlaces(): readonly number[] {
    return this.source.openPlaces();
  }
}

function translated<From, Part>(parts: readonly From[], translate: (part: From) => Part | undefined): Part[] {
  const shown: Part[] = [];
  for (const part of parts) {
    const made = translate(part);
    if (made) shown.push(made);
  }
  return shown;
}

// Turns with a list. The list is not an ordinary member, so that neither JSON nor a copy of the members includes it.

const PARTS = Symbol('parts');

interface Held<Part> {
  readonly [PARTS]?: Parts<Part>;
}

const SHOWN: PropertyDescriptor = {
  enumerable: true,
  get(this: Held<unknown>) {
    return this[PARTS]?.array;
  },
};

/** Lists for long arrays that came from elsewhere, so that each list is made once. */
const lists = new WeakMap<readonly unknown[], PartList<unknown>>();

function heldBy<T extends AnyTurn>(turn: T): Parts<PartOf<T>> | undefined {
  return (turn as Held<PartOf<T>>)[PARTS];
}

/** The parts in a form that can be changed: a list, or a short array. */
function ownParts<T extends AnyTurn>(turn: T): PartList<PartOf<T>> | ShortParts<PartOf<T>> {
  const held = heldBy(turn);
  if (held instanceof PartList) return held;
  const responseParts = turn.responseParts as readonly PartOf<T>[];
  if (responseParts.length <= PARTS_PER_CHUNK) return new ShortParts(responseParts);
  const list = (lists.get(responseParts) as PartList<PartOf<T>> | undefined) ?? PartList.of(responseParts);
  lists.set(responseParts, list);
  return list;
}

/** All members of a turn except its parts, without making the array. */
export function turnMembers<T extends object>(turn: T): Omit<T, 'responseParts'> {
  const members: Record<string, unknown> = {};
  for (const key of Object.keys(turn)) if (key !== 'responseParts') members[key] = turn[key as keyof T];
  return members as Omit<T, 'responseParts'>;
}

/** A copy of a turn with other parts. */
function withParts<T extends object>(turn: object, parts: Parts<unknown>): T {
  const copy = turnMembers(turn);
  Object.defineProperty(copy, PARTS, { value: parts });
  return Object.defineProperty(copy, 'responseParts', SHOWN) as T;
}

/** A copy of a turn with some members set, or the very same turn when they are set to these values already. */
export function withTurnMembers<T extends AnyTurn>(turn: T, members: Partial<Omit<T, 'responseParts'>>): T {
  const parts = heldBy(turn);
  return parts ? Object.assign(withParts<T>(turn, parts), members) : withMembers(turn, members as Partial<T>);
}

/** The turn with one more part. */
export function withPart<T extends AnyTurn>(turn: T, part: PartOf<T>): T {
  const parts = ownParts(turn);
  if (parts instanceof PartList) return withParts(turn, parts.with(part));
  if (parts.array.length < PARTS_PER_CHUNK) return { ...turn, responseParts: [...parts.array, part] };
  return withParts(turn, PartList.of([...parts.array, part]));
}

type Change<Part> = (part: Part) => Part;

/** Changes the first part with this id. A change keeps the id; if it changes nothing, it returns the same part. */
export function withFirstPart<T extends AnyTurn>(turn: T, id: string, change: Change<PartOf<T>>): T {
  return changedAt(turn, ownParts(turn).placesOf(id).slice(0, 1), change);
}

/** Changes all parts with this id. */
export function withPartsOf<T extends AnyTurn>(turn: T, id: string, change: Change<PartOf<T>>): T {
  return changedAt(turn, ownParts(turn).placesOf(id), change);
}

/** Changes all open parts. */
export function withOpenParts<T extends AnyTurn>(turn: T, change: Change<PartOf<T>>): T {
  return changedAt(turn, ownParts(turn).openPlaces(), change);
}

function changedAt<T extends AnyTurn>(turn: T, places: Iterable<number>, change: Change<PartOf<T>>): T {
  let changed = turn;
  for (const place of places) {
    const parts = ownParts(changed);
    const before = parts.at(place) as PartOf<T>;
    const part = change(before);
    if (part === before) continue;
    if (parts instanceof PartList) changed = withParts(changed, parts.withAt(place, part));
    else changed = { ...changed, responseParts: parts.array.with(place, part) };
  }
  return changed;
}

/** The first part with this id; a call has the id of the call. */
export function findPart<T extends AnyTurn>(turn: T, id: string): PartOf<T> | undefined {
  const parts = heldBy(turn) ?? ownParts(turn);
  const [place] = parts.placesOf(id);
  return place === undefined ? undefined : parts.at(place);
}

type CallOf<Part> = Extract<Part, { kind: 'toolCall' }> extends { toolCall: infer Call } ? Call : never;

/** The first call with this id. */
export function findCall<T extends AnyTurn>(turn: T, toolCallId: string): CallOf<PartOf<T>> | undefined {
  const parts = heldBy(turn) ?? ownParts(turn);
  for (const place of parts.placesOf(toolCallId)) {
    const { kind, toolCall } = parts.at(place) as AnyPart;
    if (kind === 'toolCall') return toolCall as CallOf<PartOf<T>>;
  }
  return undefined;
}

/** Open parts: calls that run or wait, and questions without an answer. */
export function* openParts<T extends AnyTurn>(turn: T): Generator<PartOf<T>> {
  const parts = heldBy(turn) ?? ownParts(turn);
  for (const place of parts.openPlaces()) {
    const part = parts.at(place);
    if (part) yield part;
  }
}

/** A turn as another version shows it: other members, and parts that are translated when they are read. */
export function translatedTurn<T extends AnyTurn, From extends AnyTurn>(
  turn: From,
  members: Omit<T, 'responseParts'>,
  translate: (part: PartOf<From>) => PartOf<T> | undefined,
): T {
  const parts = heldBy(turn);
  if (parts) return withParts(members, new TranslatedParts(parts, translate));
  return { ...members, responseParts: translated(turn.responseParts as PartOf<From>[], translate) } as unknown as T;
}
