/**
 * Goes back to a message of a chat: cuts the conversation there, puts files back, or both, and can undo that until the
 * next turn. The turns that are cut off are kept as a fork. One commit cuts the conversation and records what must
 * happen to files; then the files change, and if the host dies in between, it finishes them at its next start. See
 * `docs/decisions/0086-a-rewind-is-a-cut-with-a-fork.md`.
 */
import type { Writer } from '@atrium/core/channels/writer.js';
import { RequestError } from '@atrium/core/contracts/request-error.js';
import { UNWATCHED, type Work } from '@atrium/core/contracts/work.js';
import type { Log } from '@atrium/core/log/log.js';
import type { Chat } from '@atrium/core/sessions/chat.js';
import { parsedTurns } from '@atrium/core/sessions/history.js';
import { DRAFT_MAX_CHARACTERS } from '@atrium/core/sessions/limits.js';
import { modeOfMessage } from '@atrium/core/sessions/noted-mode.js';
import type { Service, TurnStep } from '@atrium/core/sessions/service.js';
import type { Session } from '@atrium/core/sessions/session.js';
import type { SessionObserver, SessionStep } from '@atrium/core/sessions/session-observer.js';
import type { Sessions } from '@atrium/core/sessions/sessions.js';
import type { Logger } from '@atrium/core/util/logger.js';
import { count, errorText, shorten } from '@atrium/core/util/text.js';
import {
  ErrorCode,
  type KeptFile,
  MODE_PROPERTY,
  modeChange,
  modeIn,
  PERMISSION_MODES,
  planLists,
  REWIND_KINDS,
  REWIND_METHOD,
  REWIND_PREVIEW_METHOD,
  type RewindKind,
  type RewindPreview,
  type RewindResult,
  type Rewound,
  type Turn,
  UNDO_REWIND_METHOD,
  withPlanLists,
  withRewound,
} from '@atrium/protocol/ahp-1';
import type { RewindFiles, RewindFilesPlan, RewoundFiles } from '../changes/rewind-files.js';
import { MESSAGE_SHOWN_MAX_CHARACTERS, RESTORE_MAX_BYTES } from './limits.js';
import { checkIdle, type Place, placeOf } from './place.js';
import { type RewindRecord, RewindRecords } from './rewind-records.js';

export interface RewindsOptions {
  readonly log: Log;
  readonly writer: Writer;
  readonly logger: Logger;
  readonly sessions: Pick<Sessions, 'open' | 'sessionUriOf' | 'createChat' | 'disposeChat'>;
  /** Puts back the files of a loaded session; undefined if changes are not recorded. */
  filesOf(session: Session): RewindFiles | undefined;
  /** Files of a session were changed. */
  changedIn(session: Session): void;
}

const NO_FILES: RewindFilesPlan = { files: [], kept: [], more: 0, gaps: [], digest: 'none' };
const AFTER_CRASH = 'The host stopped in the middle of it and has finished it now.';

export class Rewinds implements Service {
  readonly #options: RewindsOptions;
  readonly #records: RewindRecords;
  /** The sessions with a rewind under way; their turns wait for it. */
  readonly #working = new Map<string, Promise<unknown>>();
  readonly lanes = {
    [REWIND_METHOD]: 'aside',
    [REWIND_PREVIEW_METHOD]: 'aside',
    [UNDO_REWIND_METHOD]: 'aside',
  } as const;

  constructor(options: RewindsOptions) {
    this.#options = options;
    this.#records = new RewindRecords(options.log, options.writer);
  }

  readonly extensionRequests: NonNullable<Service['extensionRequests']> = {
    [REWIND_PREVIEW_METHOD]: async (_caller, params) => this.#preview(await this.#place(params)),
    [REWIND_METHOD]: async (_caller, params, work) => {
      const [what, plan] = [kindIn(params.what), params.plan === undefined ? undefined : String(params.plan)];
      const session = await this.#session(params.channel);
      return this.#alone(session, async () => this.#rewind(await this.#place(params), { what, plan, work }));
    },
    [UNDO_REWIND_METHOD]: async (_caller, params, work) => {
      const session = await this.#session(params.channel);
      return this.#alone(session, () => this.#undo(session, work));
    },
  };

  async start(): Promise<void> {
    await this.#records.load();
    // Turns of these sessions wait until `ready` has finished the interrupted rewinds.
    for (const { session } of this.#records.unfinished) this.#working.set(session, new Promise(() => {}));
  }

  ready(): void {
    void this.#dropLooseForks();
    for (const record of this.#records.unfinished) {
      const finished = this.#recover(record).catch((error) => {
        const { logger } = this.#options;
        logger.log('error', 'a rewind could not be finished', { session: record.session, error: String(error) });
      });
      this.#hold(record.session, finished);
    }
  }

  async #dropLooseForks(): Promise<void> {
    for (const { session, fork } of await this.#records.looseForks()) await this.#dropFork(session, fork);
  }

  beforeStep({ session }: TurnStep): Promise<void> | undefined {
    return this.#working.get(session.uri)?.then(
      () => {},
      () => {},
    );
  }

  readonly attach = (session: Session): SessionObserver => {
    const isWorking = () => this.#working.has(session.uri);
    return {
      get keepsAwake() {
        return isWorking();
      },
      observe: (step) => this.#observe(session, step),
      close: async () => {},
    };
  };

  async forgotten(session: string): Promise<void> {
    this.#records.forget(session);
  }

  async close(): Promise<void> {
    const { unfinished } = this.#records;
    const open = [...this.#working].filter(([session]) => !unfinished.some((record) => record.session === session));
    await Promise.allSettled(open.map(([, work]) => work));
  }

  /** Once a person starts the next turn, a rewind can no longer be undone. A rewind under way is finished first. */
  #observe(session: Session, step: SessionStep): void {
    if (!step.chat || step.after.origin?.kind === 'tool') return;
    const fresh = step.after.activeTurn?.id;
    if (fresh === undefined || fresh === step.before.activeTurn?.id || this.#working.has(session.uri)) return;
    if (!this.#records.of(session.uri)) return;
    this.#records.forget(session.uri);
    this.#show(session, undefined);
  }

  async #session(channel: unknown): Promise<Session> {
    const { sessions } = this.#options;
    const uri = sessions.sessionUriOf(String(channel));
    const session = await sessions.open(uri);
    if (!session) throw new RequestError(ErrorCode.SessionNotFound, `/channel: there is no session ${uri}`);
    return session;
  }

  async #place({ channel, turnId }: Readonly<Record<string, unknown>>): Promise<Place> {
    const session = await this.#session(channel);
    const chat = channel === session.uri ? session.chat : session.chatAt(String(channel));
    if (!chat) throw new RequestError(ErrorCode.NotFound, `/channel: there is no chat ${channel}`);
    return placeOf(session, chat, String(turnId));
  }

  #alone<T>(session: Session, work: () => Promise<T>): Promise<T> {
    if (this.#working.has(session.uri))
      throw new RequestError(ErrorCode.Conflict, 'another rewind is under way in this session: wait a moment');
    return this.#hold(session.uri, work());
  }

  #hold<T>(session: string, work: Promise<T>): Promise<T> {
    const held = work.finally(() => {
      if (this.#working.get(session) === held) this.#working.delete(session);
    });
    this.#working.set(session, held);
    held.catch(() => {});
    return held;
  }

  async #preview(place: Place): Promise<RewindPreview> {
    const { session, chat, message, turnIds, effects } = place;
    const files = this.#options.filesOf(session);
    const plan = (await files?.plan(turnIds)) ?? NO_FILES;
    const working = (chat.state.backgroundWork ?? []).map(
      (work) => `still running: ${'command' in work ? work.command : work.kind}`,
    );
    const unknown = files ? [] : ['files: this host does not record what agents change'];
    return {
      ...{ chat: chat.uri, turnId: turnIds[0] ?? '', turns: turnIds.length },
      message: shorten(message.text.replace(/\s+/g, ' ').trim(), MESSAGE_SHOWN_MAX_CHARACTERS),
      ...{ files: plan.files, kept: plan.kept },
      ...(plan.more > 0 && { moreFiles: plan.more }),
      notUndone: [...effects, ...working, ...plan.gaps, ...unknown],
      plan: plan.digest,
    };
  }

  async #rewind(place: Place, { what, plan, work }: RewindRequest): Promise<RewindResult> {
    const { session, chat, turnIds, message } = place;
    const files = what === 'conversation' ? undefined : this.#options.filesOf(session);
    const run = async (): Promise<RewindResult> => {
      if (files && plan !== undefined && (await files.plan(turnIds)).digest !== plan)
        throw new RequestError(ErrorCode.Conflict, 'files have changed since you looked: look again');
      const fork = what === 'files' ? undefined : await this.#keepTurns(place);
      if (fork !== undefined) await chat.reach(place.lastLeft);
      try {
        // Nothing is awaited from here to the commit.
        work.signal.throwIfAborted();
        checkIdle(session);
        checkLength(chat, place.index + turnIds.length);
      } catch (error) {
        if (fork !== undefined) await this.#dropFork(session.uri, fork);
        throw error;
      }
      const record = this.#begin(place, what, fork);
      await this.#options.writer.settled();
      const { done, kept } = await this.#finish(session, record, { work });
      const told = this.#records.of(session.uri)?.message ?? doneText(record, { done, kept });
      return { message: told, text: message.text, ...(fork !== undefined && { fork }), files: done, kept };
    };
    return files ? files.quietly(run) : run();
  }

  /** Copies the whole conversation, as it is now, into another chat. */
  async #keepTurns({ session, chat, turnIds }: Place): Promise<string> {
    const fork = `ahp-chat:/${crypto.randomUUID()}`;
    this.#records.setLooseFork(session.uri, fork);
    await this.#options.writer.settled();
    const source = { kind: 'fork' as const, chat: chat.uri, turnId: turnIds.at(-1) ?? '' };
    try {
      await this.#options.sessions.createChat({ channel: session.uri, chat: fork, source });
    } catch (error) {
      this.#records.setLooseFork(session.uri, undefined);
      throw error;
    }
    return fork;
  }

  /** Removes the fork of a rewind that did not happen. */
  async #dropFork(session: string, fork: string): Promise<void> {
    await this.#options.sessions.disposeChat(fork).catch(() => {});
    this.#records.setLooseFork(session, undefined);
  }

  /** Cuts the conversation and records what must happen to files, in one tick. */
  #begin(place: Place, what: RewindKind, fork: string | undefined): RewindRecord {
    const { session, chat, index, message, turnIds, lastLeft } = place;
    const isDraft =
      fork !== undefined &&
      !chat.state.draft &&
      message.origin.kind === 'user' &&
      JSON.stringify(message).length <= DRAFT_MAX_CHARACTERS;
    const plans = planLists(session.state._meta);
    const record: RewindRecord = {
      ...{ id: crypto.randomUUID(), session: session.uri, chat: chat.uri, what, phase: 'files', turnIds },
      left: fork === undefined ? index + turnIds.length : index,
      message: `Going back to “${shorten(message.text.replace(/\s+/g, ' ').trim(), MESSAGE_SHOWN_MAX_CHARACTERS)}”.`,
      ...(fork !== undefined && { fork, plans }),
      ...(isDraft && { draft: message }),
    };
    if (fork !== undefined) {
      restoreMode(session, chat, turnIds[0]);
      chat.cutBehind(lastLeft);
      this.#records.setLooseFork(session.uri, undefined);
    }
    if (isDraft) chat.write({ type: 'chat/draftChanged', draft: message });
    this.#records.set(record);
    this.#show(session, shownOf(record, 'working'));
    return record;
  }

  async #finish(session: Session, record: RewindRecord, { work, note }: Finishing): Promise<RewoundFiles> {
    const files = record.what === 'conversation' ? undefined : this.#options.filesOf(session);
    let outcome: RewoundFiles = { done: 0, kept: [] };
    let failure: string | undefined;
    try {
      outcome = (await files?.putBack(record.turnIds, viewOf(record), work)) ?? outcome;
    } catch (error) {
      failure = `Not all files could be put back: ${errorText(error)}.`;
    }
    const message = [doneText(record, outcome), failure, note].filter((text) => text !== undefined).join(' ');
    // The next start tries failed files again; until then, what was done can be undone.
    const next: RewindRecord = { ...record, phase: failure === undefined ? 'done' : 'files', message };
    const isOver = session.chats.some(({ state }) => state.activeTurn);
    if (isOver && failure === undefined) this.#records.forget(session.uri);
    else this.#records.set(next);
    this.#show(session, isOver ? undefined : shownOf(next, 'done'));
    await this.#options.writer.settled();
    this.#options.changedIn(session);
    return outcome;
  }

  async #undo(session: Session, work: Work): Promise<{ readonly message: string }> {
    const record = this.#records.of(session.uri);
    if (!record)
      throw new RequestError(
        ErrorCode.Conflict,
        'there is nothing to undo: a rewind can be undone until the next turn',
      );
    checkIdle(session);
    const chat = session.chatAt(record.chat);
    const files = record.what === 'conversation' ? undefined : this.#options.filesOf(session);
    const run = async () => {
      const turns = record.fork === undefined ? [] : await this.#cutTurns(record, record.fork);
      work.signal.throwIfAborted();
      checkIdle(session);
      if (record.fork !== undefined) {
        if (!chat) throw new RequestError(ErrorCode.Conflict, 'the chat is gone that the turns were cut from');
        checkLength(chat, record.left);
        this.#bringBack(session, chat, { record, turns });
      }
      const undoing: RewindRecord = { ...record, phase: 'undoing', message: 'Undoing the way back.' };
      this.#records.set(undoing);
      this.#show(session, shownOf(undoing, 'working'));
      await this.#options.writer.settled();
      return this.#finishUndo(session, undoing, { work });
    };
    return { message: await (files ? files.quietly(run) : run()) };
  }

  #bringBack(
    session: Session,
    chat: Chat,
    { record, turns }: { readonly record: RewindRecord; readonly turns: readonly Turn[] },
  ): void {
    chat.append(turns);
    if (record.draft && JSON.stringify(chat.state.draft) === JSON.stringify(record.draft))
      chat.write({ type: 'chat/draftChanged' });
    if (record.plans)
      session.write({ type: 'session/metaChanged', _meta: withPlanLists(session.state._meta, record.plans) });
  }

  /** The turns that were cut off, read from their fork. */
  async #cutTurns({ left, turnIds }: RewindRecord, fork: string): Promise<Turn[]> {
    const stored: string[] = [];
    let bytes = 0;
    const end = left + turnIds.length;
    for (let start = left; start < end; ) {
      const page = await this.#options.log.archivedTurns(fork, { start, end, maxBytes: RESTORE_MAX_BYTES / 16 });
      if (page.some(({ id }, index) => id !== turnIds[start - left + index]) || page.length === 0)
        throw new RequestError(ErrorCode.Conflict, 'the turns that were cut off are no longer stored');
      for (const { json } of page) bytes += stored.push(json) && json.length;
      if (bytes > RESTORE_MAX_BYTES)
        throw new RequestError(ErrorCode.Conflict, `too much was cut off to be put back at once: go on in ${fork}`);
      start += page.length;
    }
    return parsedTurns(stored);
  }

  async #finishUndo(session: Session, record: RewindRecord, { work, note }: Finishing): Promise<string> {
    const files = record.what === 'conversation' ? undefined : this.#options.filesOf(session);
    const outcome = (await files?.undo(viewOf(record), work)) ?? { done: 0, kept: [] };
    const message = undoneText(record, outcome);
    const told = note === undefined ? undefined : { ...record, message: `${message} ${note}` };
    this.#records.forget(session.uri);
    this.#show(session, told && shownOf(told, 'undone'));
    await this.#options.writer.settled();
    this.#options.changedIn(session);
    if (record.fork !== undefined) await this.#options.sessions.disposeChat(record.fork).catch(() => {});
    return message;
  }

  /** Finishes a rewind, or its undo, that the host interrupted by stopping, and says so. */
  async #recover(record: RewindRecord): Promise<void> {
    const session = await this.#options.sessions.open(record.session);
    if (!session) return this.#records.forget(record.session);
    const finish = async () => {
      if (record.phase === 'undoing') await this.#finishUndo(session, record, { work: UNWATCHED, note: AFTER_CRASH });
      else await this.#finish(session, record, { work: UNWATCHED, note: AFTER_CRASH });
    };
    const files = this.#options.filesOf(session);
    await (files ? files.quietly(finish) : finish());
  }

  #show(session: Session, rewound: Rewound | undefined): void {
    session.write({ type: 'session/metaChanged', _meta: withRewound(session.state._meta, rewound) });
  }
}

interface RewindRequest {
  readonly what: RewindKind;
  /** The digest of the preview that a person agreed to. */
  readonly plan: string | undefined;
  readonly work: Work;
}

/** If a person stops it while files change, the rest stays as it is, and what was done can be undone. */
interface Finishing {
  readonly work: Work;
  readonly note?: string;
}

function kindIn(what: unknown): RewindKind {
  const kind = REWIND_KINDS.find((each) => each === (what ?? 'both'));
  if (kind) return kind;
  throw new RequestError(ErrorCode.InvalidParams, `/what must be one of ${REWIND_KINDS.join(', ')}`);
}

function checkLength(chat: Chat, expected: number): void {
  if (chat.turnCount() === expected) return;
  throw new RequestError(ErrorCode.Conflict, 'the conversation has changed meanwhile: look again');
}

/** The name under which files are put back, and under which that is undone. */
function viewOf({ id }: RewindRecord): string {
  return `rewind:${id}`;
}

function shownOf({ id, chat, what, message, fork }: RewindRecord, state: Rewound['state']): Rewound {
  return { id, chat, what, state, message, ...(fork !== undefined && { fork }) };
}

function doneText({ what, turnIds, fork }: RewindRecord, { done, kept }: RewoundFiles): string {
  const cut = fork === undefined ? [] : [`Took back ${count(turnIds.length, 'turn')}, kept in a fork.`];
  const put = what === 'conversation' ? [] : [`Put back ${count(done, 'file')}.`];
  return [...cut, ...put, ...keptText(kept)].join(' ');
}

function undoneText({ what, turnIds, fork }: RewindRecord, { done, kept }: RewoundFiles): string {
  const back =
    fork === undefined ? [] : [`${count(turnIds.length, 'turn')} ${turnIds.length === 1 ? 'is' : 'are'} back.`];
  const put = what === 'conversation' ? [] : [`${count(done, 'file')} ${done === 1 ? 'is' : 'are'} as before.`];
  return ['Undone.', ...back, ...put, ...keptText(kept)].join(' ');
}

const KEPT_NAMED_MAX = 5;

function keptText(kept: readonly KeptFile[]): string[] {
  if (kept.length === 0) return [];
  const named = kept.slice(0, KEPT_NAMED_MAX).map(({ uri, why }) => `${decodeName(uri)} (${why})`);
  const more = kept.length - named.length;
  return [`Left alone: ${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}.`];
}

function decodeName(uri: string): string {
  const name = uri.slice(uri.lastIndexOf('/') + 1);
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** A message that is sent again must not run with less asking than before: a plan that was accepted is cut off with it. */
function restoreMode(session: Session, chat: Chat, turnId: string | undefined): void {
  const values = session.state.config?.values;
  const { turns } = chat.state;
  const index = turns.findIndex(({ id }) => id === turnId);
  // `autoApprove` is a choice of its own, which turns do not note.
  if (index < 0 || values?.autoApprove === true || values?.[MODE_PROPERTY] === undefined) return;
  const then = modeOfMessage(turns.slice(0, index + 1));
  if (PERMISSION_MODES.indexOf(then) >= PERMISSION_MODES.indexOf(modeIn(values))) return;
  session.write({ type: 'session/configChanged', config: modeChange(then, values) });
}
