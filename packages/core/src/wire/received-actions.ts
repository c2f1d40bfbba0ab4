/**
 * What each client sent under its own numbers, and how that was answered. A number with the same action again is a
 * resend: it is answered again, to the one who sent it, and applied once. A number with another action is a new action,
 * because published clients count from 1 on every connection. See docs/decisions, "a resend is the same action".
 */
import { SELECTION_CHANGED } from '@atrium/protocol/ahp-1';
import type { PendingAnswer, Writer } from '../channels/writer.js';
import { answersPrefix, epochKey, shortHash } from '../log/client-records.js';
import type { AppendFailure, ClientFacts, EntryOrigin, Log, NumberedValue } from '../log/log.js';
import { NumberSet } from '../util/number-set.js';
import type { OriginalAction } from './dialects/dialects.js';
import type { Identity } from './handshake.js';
import { SCATTERED_NUMBERS_MAX, SENT_ACTIONS_KEPT_MAX } from './limits.js';

/** How an action was answered: under which number of the sequence, and why not if it was turned down. */
export interface Answer {
  /** Undefined until it is stored. */
  serverSeq: number | undefined;
  readonly reason?: string | undefined;
}

export type Sent =
  | { readonly kind: 'new'; readonly origin: EntryOrigin }
  /** Without an answer it has not been decided yet: the answer will come by itself. */
  | { readonly kind: 'resend'; readonly origin: EntryOrigin; readonly answer: Answer | undefined };

export interface Sending {
  readonly clientSeq: number;
  /** The type in internal terms. */
  readonly type: string;
  readonly original: OriginalAction;
}

export interface Begun {
  readonly epoch: number;
  /** False when nothing can be stored: `noteEpoch` stores it later. */
  readonly isStored: boolean;
}

/** One number of a client, and the newest action that it sent under it. */
interface Slot {
  readonly epoch: number;
  readonly digest: string;
  readonly answer?: Answer | undefined;
  /** It is deferred to the end of a turn. Slots are stored as they are, so the name of this member stays. */
  readonly isHeld?: boolean;
  /** On which connection it came; undefined when this was before the host started. */
  readonly by?: Identity | undefined;
  /** What stands under the number in the log as long as this one is not stored. */
  readonly previous?: Slot | undefined;
  /** Stored with it, for after a restart: whether the client was known by then to count anew. */
  readonly countsAnew?: boolean | undefined;
}

/** The numbers of one client since it last began with `initialize`. */
interface Numbers {
  epoch: number;
  /** Used in this epoch: the log holds each (client, epoch, number) once. */
  used: NumberSet;
  /** The client used a number again for another action, as published clients do on every connection. */
  countsAnew: boolean;
  readonly slots: Map<number, Slot>;
}

/**
 * Setting a value, or typing, is often meant twice. A client that counts from 1 on every connection, and has seen the
 * first answer, does not wait for it any more and means it again.
 */
const MEANT_AGAIN: ReadonlySet<string> = new Set([
  'root/configChanged',
  'session/titleChanged',
  SELECTION_CHANGED,
  'session/configChanged',
  'session/isReadChanged',
  'session/isArchivedChanged',
  'session/customizationToggled',
  'session/mcpServerStartRequested',
  'session/mcpServerStopRequested',
  'chat/draftChanged',
  'chat/queuedMessagesReordered',
  'chat/inputAnswerChanged',
  'terminal/input',
  'terminal/resized',
  'terminal/titleChanged',
  'terminal/cleared',
]);

/** These end with the connection that they came on: on a new connection they are always meant anew. */
const ENDS_WITH_CONNECTION: ReadonlySet<string> = new Set([
  'session/activeClientSet',
  'session/activeClientRemoved',
  'terminal/claimed',
]);

const keyOf = ({ clientId, sent, epoch, clientSeq }: EntryOrigin) =>
  `${answersPrefix(clientId)}${sent?.start ?? epoch}:${clientSeq}`;

const nameOf = ({ clientId, epoch, clientSeq }: EntryOrigin) => `${epoch} ${clientSeq} ${clientId}`;

export class ReceivedActions {
  /** By client, and by the epoch in which it began with `initialize`. */
  readonly #numbers = new Map<string, Map<number, Promise<Numbers>>>();
  readonly #loaded = new WeakMap<Promise<Numbers>, Numbers>();
  /** What is being decided now, by its name. */
  readonly #deciding = new Map<string, Promise<void>>();
  /** The greatest epoch given out, by client. */
  readonly #epochs = new Map<string, number>();

  constructor(
    private readonly log: Log,
    private readonly writer: Writer,
  ) {}

  /** Begins a client anew, in an epoch above any it had. What it sent before no longer counts. */
  async begin(clientId: string, { above, known }: ClientFacts): Promise<Begun> {
    const reserved = this.#raiseEpoch(clientId, above);
    const stored = await this.writer.beginClient(clientId, { above: reserved - 1, known }).catch(unlessLost);
    const epoch = stored?.epoch ?? (await this.#unstoredEpoch(clientId, reserved));
    this.#epochs.set(clientId, Math.max(epoch, this.#epochs.get(clientId) ?? 0));
    // A client that begins again and again is never gone long enough to be forgotten.
    this.#numbers.delete(clientId);
    return { epoch, isStored: stored !== undefined };
  }

  async #unstoredEpoch(clientId: string, reserved: number): Promise<number> {
    const greatest = Number((await this.log.record(epochKey(clientId))) ?? 0);
    return reserved > greatest ? reserved : this.#raiseEpoch(clientId, greatest);
  }

  /** Stores the greatest epoch of a client. */
  noteEpoch(clientId: string): void {
    const epoch = this.#epochs.get(clientId);
    if (epoch !== undefined) this.writer.record({ key: epochKey(clientId), value: String(epoch) });
  }

  /** Says whether an action is new. Its number then stands for it from now on. */
  async take(identity: Identity, sending: Sending): Promise<Sent> {
    const { clientId, start } = identity;
    const { clientSeq, original } = sending;
    const digest = digestOf(original);
    const numbers = await this.#of(clientId, start);
    const slot = numbers.slots.get(clientSeq);
    const { countsAnew } = numbers;
    if (slot?.digest === digest && !isMeantAnew(slot, sending.type, { identity, countsAnew })) {
      const origin = { clientId, epoch: slot.epoch, clientSeq, sent: { start, digest } };
      return { kind: 'resend', origin, answer: slot.answer };
    }
    // A new round proves nothing: a claim that is made again, and gaps between the numbers, begin one too.
    if (slot && slot.digest !== digest) numbers.countsAnew = true;
    const isScattered = numbers.used.ranges.length > SCATTERED_NUMBERS_MAX;
    if (isScattered || numbers.used.has(clientSeq)) this.#nextRound(clientId, numbers);
    numbers.used.add(clientSeq);
    const { epoch } = numbers;
    const previous = slot && (this.#isStored(slot) ? { ...slot, previous: undefined } : slot.previous);
    numbers.slots.delete(clientSeq);
    numbers.slots.set(clientSeq, { epoch, digest, by: identity, previous });
    return { kind: 'new', origin: { clientId, epoch, clientSeq, sent: { start, digest } } };
  }

  /** An action is deferred to the end of a turn. This is stored with the action. */
  deferred(origin: EntryOrigin): void {
    const numbers = this.#present(origin);
    const slot = numbers?.slots.get(origin.clientSeq);
    if (slot?.epoch === origin.epoch) numbers?.slots.set(origin.clientSeq, { ...slot, isHeld: true });
    this.#store(origin, undefined);
  }

  /** An action was taken or turned down. The answer is stored with it. */
  answered(origin: EntryOrigin, { entry, reason }: PendingAnswer): void {
    const { epoch, clientSeq, sent } = origin;
    const numbers = this.#present(origin);
    const slot = numbers?.slots.get(clientSeq);
    // While this one waited for the end of a turn, the client used its number for another.
    if (!sent || (slot && slot.epoch > epoch)) return;
    this.#store(origin, { entry, reason });
    if (!numbers) return;
    if (epoch === numbers.epoch) numbers.used.add(clientSeq);
    numbers.slots.delete(clientSeq);
    const answer = { serverSeq: undefined, reason };
    numbers.slots.set(clientSeq, { epoch, digest: sent.digest, answer, by: slot?.by, previous: slot?.previous });
    this.#dropOldest(origin, numbers);
  }

  /** The answer to an action is stored, and has this number. */
  stored(origin: EntryOrigin, serverSeq: number): void {
    const slot = this.#present(origin)?.slots.get(origin.clientSeq);
    if (slot?.answer && slot.epoch === origin.epoch) slot.answer.serverSeq = serverSeq;
  }

  /** It came to nothing: the client may send it again. A deferred one still waits. */
  release(origin: EntryOrigin, isDeferred = false): void {
    const numbers = this.#present(origin);
    const slot = numbers?.slots.get(origin.clientSeq);
    if (!numbers || slot?.epoch !== origin.epoch) return;
    if (isDeferred) {
      numbers.slots.set(origin.clientSeq, { ...slot, answer: undefined, isHeld: true });
      return;
    }
    if (slot.previous) numbers.slots.set(origin.clientSeq, slot.previous);
    else numbers.slots.delete(origin.clientSeq);
    if (numbers.epoch === origin.epoch) numbers.used.delete(origin.clientSeq);
  }

  /** A new action is being decided. What is then neither taken, nor turned down, nor deferred, may be sent again. */
  async deciding(origin: EntryOrigin, decision: Promise<void>): Promise<void> {
    const name = nameOf(origin);
    const done = decision.finally(() => {
      this.#deciding.delete(name);
      this.#done(origin);
    });
    this.#deciding.set(name, done);
    await done;
  }

  /** Waits while an action is being decided; false when it is not. */
  async decided(origin: EntryOrigin): Promise<boolean> {
    const deciding = this.#deciding.get(nameOf(origin));
    await deciding?.catch(() => {});
    return deciding !== undefined;
  }

  #done(origin: EntryOrigin): void {
    const slot = this.#present(origin)?.slots.get(origin.clientSeq);
    if (slot && slot.epoch === origin.epoch && !slot.answer && !slot.isHeld) this.release(origin);
  }

  /** Which of these numbers stand for actions that were taken and stored. */
  async settled({ clientId, start }: Identity, clientSeqs: readonly number[]): Promise<number[]> {
    const { epoch, slots } = await this.#of(clientId, start);
    const from = clientSeqs.reduce((least, clientSeq) => Math.min(least, clientSeq));
    const stored = new Set(await this.log.clientSeqs(clientId, epoch, from));
    return clientSeqs.filter((clientSeq) => {
      const answer = slots.get(clientSeq)?.answer;
      if (!answer) return stored.has(clientSeq);
      return answer.reason === undefined && answer.serverSeq !== undefined;
    });
  }

  /** It has been gone for long: what it sent can be read again if it returns. */
  forget(clientId: string): void {
    this.#numbers.delete(clientId);
    this.#epochs.delete(clientId);
  }

  /** It has been gone for so long that it has to begin anew. */
  async purge(clientId: string): Promise<void> {
    this.forget(clientId);
    const records = await this.log.records(answersPrefix(clientId));
    for (const { key } of [{ key: epochKey(clientId) }, ...records]) this.writer.record({ key, value: null });
  }

  /** The log holds each number of an epoch once: a client that uses one again is given the next epoch. */
  #nextRound(clientId: string, numbers: Numbers): void {
    numbers.epoch = this.#raiseEpoch(clientId, numbers.epoch);
    this.noteEpoch(clientId);
    numbers.used = new NumberSet();
  }

  #raiseEpoch(clientId: string, above: number): number {
    const epoch = Math.max(above, this.#epochs.get(clientId) ?? 0) + 1;
    this.#epochs.set(clientId, epoch);
    return epoch;
  }

  #of(clientId: string, start: number): Promise<Numbers> {
    const lives = this.#numbers.get(clientId) ?? new Map<number, Promise<Numbers>>();
    const known = lives.get(start);
    if (known) return known;
    const loading = this.#load(clientId, start);
    this.#numbers.set(clientId, lives.set(start, loading));
    loading.then(
      (numbers) => this.#loaded.set(loading, numbers),
      () => lives.delete(start),
    );
    return loading;
  }

  async #load(clientId: string, start: number): Promise<Numbers> {
    const prefix = `${answersPrefix(clientId)}${start}:`;
    const greatest = Number((await this.log.record(epochKey(clientId))) ?? 0);
    this.#epochs.set(clientId, Math.max(greatest, this.#epochs.get(clientId) ?? 0));
    const stored = (await this.log.records(prefix)).map(
      ({ key, value }) => [Number(key.slice(prefix.length)), JSON.parse(value) as Slot] as const,
    );
    const seqOf = ({ answer }: Slot) => answer?.serverSeq ?? Number.POSITIVE_INFINITY;
    const slots = new Map(stored.sort(([, a], [, b]) => seqOf(a) - seqOf(b)));
    const epoch = [...slots.values()].reduce((most, slot) => Math.max(most, slot.epoch), start);
    const used = NumberSet.of(await this.log.clientSeqs(clientId, epoch, 0));
    for (const [clientSeq, slot] of slots) if (slot.epoch === epoch) used.add(clientSeq);
    const countsAnew = [...slots.values()].some((slot) => slot.countsAnew);
    return { epoch, used, slots, countsAnew };
  }

  #present({ clientId, epoch, sent }: EntryOrigin): Numbers | undefined {
    const loading = this.#numbers.get(clientId)?.get(sent?.start ?? epoch);
    return loading && this.#loaded.get(loading);
  }

  #isStored({ answer, isHeld = false }: Slot): boolean {
    return answer ? answer.serverSeq !== undefined : isHeld;
  }

  #store(origin: EntryOrigin, answer: PendingAnswer | undefined): void {
    const { epoch, sent } = origin;
    if (!sent) return;
    const countsAnew = this.#present(origin)?.countsAnew || undefined;
    const slot: Slot = { epoch, digest: sent.digest, countsAnew };
    const value = answer ? answeredText(slot, answer) : JSON.stringify({ ...slot, isHeld: true });
    this.writer.record({ key: keyOf(origin), value });
  }

  #dropOldest(origin: EntryOrigin, { slots }: Numbers): void {
    if (slots.size <= SENT_ACTIONS_KEPT_MAX) return;
    for (const [clientSeq, { answer }] of slots) {
      if (!answer) continue;
      slots.delete(clientSeq);
      return this.writer.record({ key: keyOf({ ...origin, clientSeq }), value: null });
    }
  }
}

/** Nothing can be stored for now, as on a full disk. A log that is lost, or out of reach, cannot even be read. */
function unlessLost(failure: AppendFailure): undefined {
  if (failure.kind !== 'refused') throw failure;
}

/** A slot as JSON. The log puts the number of the answer into it. */
function answeredText(slot: Slot, { entry, reason }: PendingAnswer): NumberedValue {
  const before = `${JSON.stringify(slot).slice(0, -1)},"answer":{"serverSeq":`;
  return { before, entry, after: reason === undefined ? '}}' : `,"reason":${JSON.stringify(reason)}}}` };
}

/** Whether the same action under the same number is no resend all the same. */
function isMeantAnew({ answer, by }: Slot, type: string, { identity, countsAnew }: Sender): boolean {
  if (by === identity || !answer) return false;
  if (ENDS_WITH_CONNECTION.has(type)) return true;
  const { reason, serverSeq = Number.POSITIVE_INFINITY } = answer;
  const wasSeen = reason === undefined && serverSeq <= identity.lastSeenServerSeq;
  return countsAnew && wasSeen && MEANT_AGAIN.has(type);
}

interface Sender {
  readonly identity: Identity;
  readonly countsAnew: boolean;
}

/** Equal for equal channels and actions, in whatever order their members stand. */
function digestOf({ channel, action }: OriginalAction): string {
  return shortHash(canonical([channel, action]));
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) => {
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member;
    return Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
