/**
 * What each client sent under its own numbers, and how the host answered. The same action under the same number is a
 * resend: only its sender gets the answer again, and it is applied once. Another action under a used number is new,
 * because published clients count from 1 on every connection. See docs/decisions, "a resend is the same action".
 */
import { SELECTION_CHANGED } from '@atrium/protocol/ahp-1';
import type { PendingAnswer, Writer } from '../channels/writer.js';
import { answersPrefix, epochKey, shortHash } from '../log/client-records.js';
import {
  type AppendFailure,
  type ClientFacts,
  type EntryOrigin,
  jsonText,
  type Log,
  type NumberedValue,
} from '../log/log.js';
import { NumberSet } from '../util/number-set.js';
import type { OriginalAction } from './dialects/dialects.js';
import type { Identity } from './handshake.js';
import { SCATTERED_NUMBERS_MAX, SENT_ACTIONS_KEPT_MAX } from './limits.js';

/** The answer to an action: its number in the sequence, and the reason if it was rejected. */
export interface Answer {
  /** Undefined until the answer is stored. */
  serverSeq: number | undefined;
  readonly reason?: string | undefined;
}

export type Sent =
  | { readonly kind: 'new'; readonly origin: EntryOrigin }
  /** Without an answer, the action is not decided yet; its answer will follow. */
  | { readonly kind: 'resend'; readonly origin: EntryOrigin; readonly answer: Answer | undefined };

export interface Sending {
  readonly clientSeq: number;
  /** The type in our model's terms. */
  readonly type: string;
  readonly original: OriginalAction;
}

export interface Begun {
  readonly epoch: number;
  /** False while nothing can be stored; `noteEpoch` stores the epoch later. */
  readonly isStored: boolean;
}

/** One number of a client, with the newest action that it sent under it. */
interface Slot {
  readonly epoch: number;
  readonly digest: string;
  readonly answer?: Answer | undefined;
  /** The action is deferred to the end of a turn. Slots are stored in this form, so the member keeps its name. */
  readonly isHeld?: boolean;
  /** The connection that it came on; undefined when that was before the host started. */
  readonly by?: Identity | undefined;
  /** The slot that the log has under this number until this one is stored. */
  readonly previous?: Slot | undefined;
  /** Whether the client was by then known to count from 1 on every connection; stored for use after a restart. */
  readonly countsAnew?: boolean | undefined;
}

/** The numbers of one client since its last `initialize`. */
interface Numbers {
  epoch: number;
  /** Numbers used in this epoch: the log holds each (client, epoch, number) once. */
  used: NumberSet;
  /** The client reused a number for another action, as published clients do on every connection. */
  countsAnew: boolean;
  readonly slots: Map<number, Slot>;
}

/**
 * Actions that set a value, or type something, and are often meant twice. A client that counts from 1 on every
 * connection, and has seen the first answer, no longer waits for that answer: the same action is a new one.
 */
const REPEATABLE: ReadonlySet<string> = new Set([
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

/** Effects of these actions end with their connection, so on a new connection they always count as new. */
const ENDS_WITH_CONNECTION: ReadonlySet<string> = new Set([
  'session/activeClientSet',
  'session/activeClientRemoved',
  'terminal/claimed',
]);

const keyOf = ({ clientId, sent, epoch, clientSeq }: EntryOrigin) =>
  `${answersPrefix(clientId)}${sent?.start ?? epoch}:${clientSeq}`;

const nameOf = ({ clientId, epoch, clientSeq }: EntryOrigin) => `${epoch} ${clientSeq} ${clientId}`;

export class ReceivedActions {
  /** Numbers by client, and by the epoch that began with its `initialize`. */
  readonly #numbers = new Map<string, Map<number, Promise<Numbers>>>();
  readonly #loaded = new WeakMap<Promise<Numbers>, Numbers>();
  /** Actions that are being decided, by name. */
  readonly #deciding = new Map<string, Promise<void>>();
  /** The greatest epoch given out to each client. */
  readonly #epochs = new Map<string, number>();

  constructor(
    private readonly log: Log,
    private readonly writer: Writer,
  ) {}

  /** Starts a client over, in an epoch above all its earlier ones. What it sent before no longer counts. */
  async begin(clientId: string, { above, known }: ClientFacts): Promise<Begun> {
    const reserved = this.#raiseEpoch(clientId, above);
    const stored = await this.writer.beginClient(clientId, { above: reserved - 1, known }).catch(unlessLost);
    const epoch = stored?.epoch ?? (await this.#unstoredEpoch(clientId, reserved));
    this.#epochs.set(clientId, Math.max(epoch, this.#epochs.get(clientId) ?? 0));
    // Free the memory here, too: a client that starts over again and again is never gone long enough to be forgotten.
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
    if (epoch !== undefined) this.writer.record({ key: epochKey(clientId), value: jsonText(epoch) });
  }

  /** Decides whether an action is new. If so, its number belongs to it from now on. */
  async take(identity: Identity, sending: Sending): Promise<Sent> {
    const { clientId, start } = identity;
    const { clientSeq, original } = sending;
    const digest = digestOf(original);
    const numbers = await this.#of(clientId, start);
    const slot = numbers.slots.get(clientSeq);
    const { countsAnew } = numbers;
    if (slot?.digest === digest && !isRepeatedOnPurpose(slot, sending.type, { identity, countsAnew })) {
      const origin = { clientId, epoch: slot.epoch, clientSeq, sent: { start, digest } };
      return { kind: 'resend', origin, answer: slot.answer };
    }
    // Only a reused number proves that the client counts anew. A new epoch alone does not: repeated claims and gaps
    // between the numbers begin one, too.
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

  /** Marks an action as deferred to the end of a turn. The mark is stored with the action. */
  deferred(origin: EntryOrigin): void {
    const numbers = this.#present(origin);
    const slot = numbers?.slots.get(origin.clientSeq);
    if (slot?.epoch === origin.epoch) numbers?.slots.set(origin.clientSeq, { ...slot, isHeld: true });
    this.#store(origin, undefined);
  }

  /** Records that an action was accepted or rejected. The answer is stored with the action. */
  answered(origin: EntryOrigin, { entry, reason }: PendingAnswer): void {
    const { epoch, clientSeq, sent } = origin;
    const numbers = this.#present(origin);
    const slot = numbers?.slots.get(clientSeq);
    // The client has reused the number while the deferred action waited for the end of a turn.
    if (!sent || (slot && slot.epoch > epoch)) return;
    this.#store(origin, { entry, reason });
    if (!numbers) return;
    if (epoch === numbers.epoch) numbers.used.add(clientSeq);
    numbers.slots.delete(clientSeq);
    const answer = { serverSeq: undefined, reason };
    numbers.slots.set(clientSeq, { epoch, digest: sent.digest, answer, by: slot?.by, previous: slot?.previous });
    this.#dropOldest(origin, numbers);
  }

  /** Fills in the number of an answer that is now stored. */
  stored(origin: EntryOrigin, serverSeq: number): void {
    const slot = this.#present(origin)?.slots.get(origin.clientSeq);
    if (slot?.answer && slot.epoch === origin.epoch) slot.answer.serverSeq = serverSeq;
  }

  /**
   * Frees the number of an action that came to nothing, so that the client may send it again. A deferred action keeps
   * waiting.
   */
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

  /**
   * Tracks the decision about a new action. If it ends without an answer and is not deferred, the client may send the
   * action again.
   */
  async deciding(origin: EntryOrigin, decision: Promise<void>): Promise<void> {
    const name = nameOf(origin);
    const done = decision.finally(() => {
      this.#deciding.delete(name);
      this.#done(origin);
    });
    this.#deciding.set(name, done);
    await done;
  }

  /** Waits for the decision about an action; false when none is under way. */
  async decided(origin: EntryOrigin): Promise<boolean> {
    const deciding = this.#deciding.get(nameOf(origin));
    await deciding?.catch(() => {});
    return deciding !== undefined;
  }

  #done(origin: EntryOrigin): void {
    const slot = this.#present(origin)?.slots.get(origin.clientSeq);
    if (slot && slot.epoch === origin.epoch && !slot.answer && !slot.isHeld) this.release(origin);
  }

  /** Which of these numbers belong to actions that were accepted and stored. */
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

  /** Frees memory for a client that has been gone for long; the log has what it sent if it returns. */
  forget(clientId: string): void {
    this.#numbers.delete(clientId);
    this.#epochs.delete(clientId);
  }

  /** Deletes all records of a client that has been gone so long that it has to start over. */
  async purge(clientId: string): Promise<void> {
    this.forget(clientId);
    const records = await this.log.records(answersPrefix(clientId));
    for (const { key } of [{ key: epochKey(clientId) }, ...records]) this.writer.record({ key, value: null });
  }

  /** Moves a client to the next epoch, because it reused a number: the log holds each number of an epoch once. */
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
    const value = answer ? answeredText(slot, answer) : jsonText({ ...slot, isHeld: true });
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

/**
 * Swallows a failure that leaves the log readable, such as a full disk. Rethrows it when the log is lost or out of
 * reach: then it cannot even be read.
 */
function unlessLost(failure: AppendFailure): undefined {
  if (failure.kind !== 'refused') throw failure;
}

/** A slot as JSON, in two parts around the number of the answer, which the log fills in. */
function answeredText(slot: Slot, { entry, reason }: PendingAnswer): NumberedValue {
  const before = `${JSON.stringify(slot).slice(0, -1)},"answer":{"serverSeq":`;
  return { before, entry, after: reason === undefined ? '}}' : `,"reason":${JSON.stringify(reason)}}}` };
}

/** True when the same action under the same number counts as new, and not as a resend. */
function isRepeatedOnPurpose({ answer, by }: Slot, type: string, { identity, countsAnew }: Sender): boolean {
  if (by === identity || !answer) return false;
  if (ENDS_WITH_CONNECTION.has(type)) return true;
  const { reason, serverSeq = Number.POSITIVE_INFINITY } = answer;
  const wasSeen = reason === undefined && serverSeq <= identity.lastSeenServerSeq;
  return countsAnew && wasSeen && REPEATABLE.has(type);
}

interface Sender {
  readonly identity: Identity;
  readonly countsAnew: boolean;
}

/** Equal for equal channels and actions, whatever the order of their members. */
function digestOf({ channel, action }: OriginalAction): string {
  return shortHash(canonical([channel, action]));
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) => {
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member;
    return Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
