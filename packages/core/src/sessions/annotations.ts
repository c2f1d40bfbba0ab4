/**
 * The annotations of a session: notes that people leave at places in files. They have a channel of their own, which is
 * opened, stored and removed with the session. The session lists how many there are.
 */
import {
  type Annotation,
  type AnnotationEntry,
  type AnnotationsAction,
  type AnnotationsActionMap,
  type AnnotationsActionType,
  type AnnotationsState,
  type AnnotationsSummary,
  annotationsChannel,
  annotationsReducer,
  type Message,
  type MessageAttachment,
  type StateAction,
} from '@atrium/protocol/ahp-1';
import { Channel } from '../channels/channel.js';
import type { ActionSender, ChannelSnapshot, OpenChannel } from '../channels/open-channel.js';
import type { Writer } from '../channels/writer.js';
import type { EntryOrigin } from '../log/log.js';
import { shorten } from '../util/text.js';
import {
  ANNOTATION_ENTRIES_MAX,
  ANNOTATION_ENTRY_MAX_CHARACTERS,
  ANNOTATION_ID_MAX_CHARACTERS,
  ANNOTATION_MAX_CHARACTERS,
  ANNOTATIONS_MAX,
  ANNOTATIONS_MAX_CHARACTERS,
  ANNOTATIONS_TEXT_MAX_CHARACTERS,
} from './limits.js';

export const NO_ANNOTATIONS: AnnotationsState = { annotations: [] };

/** The session of an annotations channel; undefined for other URIs. */
export function sessionOfAnnotations(uri: string): string | undefined {
  const session = uri.replace(/\/annotations$/, '');
  return annotationsChannel(session) === uri ? session : undefined;
}

export function annotationsSummary(session: string, { annotations }: AnnotationsState): AnnotationsSummary {
  const entryCount = annotations.reduce((sum, { entries }) => sum + entries.length, 0);
  return { resource: annotationsChannel(session), annotationCount: annotations.length, entryCount };
}

export interface AnnotationsOptions {
  readonly session: string;
  readonly writer: Writer;
  /** The stored state; undefined when nothing was ever written. */
  readonly stored: { readonly state: AnnotationsState; readonly lastTime: number } | undefined;
  /** True when a URI is a chat of the session. */
  isChat(uri: string): boolean;
  /** Called when the number of annotations changes, so that the session lists it in the same tick. */
  changed(): void;
  readonly isClosed: () => boolean;
  /** Opens the channel again after its session has left memory. */
  reopen(): Promise<OpenChannel | undefined>;
}

export class Annotations implements OpenChannel {
  readonly #options: AnnotationsOptions;
  readonly #channel: Channel<AnnotationsState>;
  #isUsed: boolean;

  constructor(options: AnnotationsOptions) {
    const { session, stored } = options;
    this.#options = options;
    this.#isUsed = stored !== undefined;
    const { state = NO_ANNOTATIONS, lastTime } = stored ?? {};
    this.#channel = new Channel(annotationsChannel(session), annotationsReducer, state, { lastTime });
  }

  get uri(): string {
    return this.#channel.uri;
  }

  get channel(): Channel {
    return this.#channel as unknown as Channel;
  }

  get isClosed(): boolean {
    return this.#options.isClosed();
  }

  get isSettled(): boolean {
    return this.#channel.isSettled;
  }

  get state(): AnnotationsState {
    return this.#channel.live;
  }

  get committed(): AnnotationsState {
    return this.#channel.committed;
  }

  /** The live summary, which clients see next. */
  get summary(): AnnotationsSummary {
    return annotationsSummary(this.#options.session, this.state);
  }

  get committedSummary(): AnnotationsSummary {
    return annotationsSummary(this.#options.session, this.#channel.committed);
  }

  takeSnapshot(): ChannelSnapshot | undefined {
    if (this.isClosed) return undefined;
    const { committed } = this.#channel;
    return { snapshot: { resource: this.uri, state: committed, fromSeq: this.#options.writer.shown } };
  }

  async dispatch(given: StateAction, origin: EntryOrigin, asker: ActionSender): Promise<void> {
    if (this.isClosed) return (await this.#options.reopen())?.dispatch(given, origin, asker);
    const { session, isChat } = this.#options;
    const reason = annotationsRefusal(given, { state: this.state, session, isChat });
    if (reason) return asker.reject(origin, reason);
    this.#write(given as AnnotationsAction, origin);
  }

  /** Writes an action of the host itself, as for an imported session. */
  write(action: AnnotationsAction): void {
    this.#write(action, undefined);
  }

  #write(action: AnnotationsAction, origin: EntryOrigin | undefined): void {
    this.#isUsed = true;
    const { before, after } = this.#options.writer.write({ channel: this.#channel, action, origin });
    if (before !== after) this.#options.changed();
  }

  /** Archives the state at the end of this tick. Most sessions have no annotations, and archive nothing. */
  storeArchive(): void {
    if (!this.#isUsed) return;
    const { uri } = this;
    this.#options.writer.storeArchive(uri, () => ({
      channel: uri,
      head: JSON.stringify(this.state),
      turns: { start: 0, items: [] },
    }));
  }
}

export interface AnnotationsFacts {
  readonly state: AnnotationsState;
  readonly session: string;
  isChat(uri: string): boolean;
}

/** Says why an action is refused; undefined when it is accepted. */
type Rule<Action> = (action: Action, facts: AnnotationsFacts) => string | undefined;
type Rules = { readonly [Type in AnnotationsActionType]: Rule<AnnotationsActionMap[Type]> };

const rules: Rules = {
  'annotations/set': ({ annotation }, facts) =>
    problemWith(annotation, facts) ??
    (known(annotation.id, facts) ? undefined : tooMany(facts)) ??
    tooMuch(facts, annotation),

  'annotations/updated': ({ annotationId, ...changes }, facts) => {
    const before = known(annotationId, facts);
    if (!before) return missing(annotationId);
    const { type: _type, turnId: _turnId, ...members } = changes;
    return problemWith({ ...before, ...members }, facts);
  },

  'annotations/removed': ({ annotationId }, facts) => (known(annotationId, facts) ? undefined : missing(annotationId)),

  'annotations/entrySet': ({ annotationId, entry }, facts) => {
    const annotation = known(annotationId, facts);
    if (!annotation) return missing(annotationId);
    const others = annotation.entries.filter(({ id }) => id !== entry.id);
    return problemWith({ ...annotation, entries: [...others, entry] }, facts) ?? tooMuch(facts, entry);
  },

  'annotations/entryRemoved': ({ annotationId, entryId }, facts) => {
    const annotation = known(annotationId, facts);
    if (!annotation) return missing(annotationId);
    if (!annotation.entries.some(({ id }) => id === entryId))
      return `annotation ${annotationId} has no note ${entryId}`;
    return annotation.entries.length > 1 ? undefined : `it is the only note: remove annotation ${annotationId} instead`;
  },
};

export function annotationsRefusal(action: StateAction, facts: AnnotationsFacts): string | undefined {
  const rule = rules[action.type as AnnotationsActionType] as Rule<StateAction> | undefined;
  return rule ? rule(action, facts) : `${action.type} is not an action of annotations`;
}

function known(id: string, { state }: AnnotationsFacts): Annotation | undefined {
  return state.annotations.find((annotation) => annotation.id === id);
}

function missing(id: string): string {
  return `there is no annotation ${shorten(id, 80)}`;
}

function problemWith(annotation: Annotation, { session, isChat }: AnnotationsFacts): string | undefined {
  const { id, origin, entries, ...rest } = annotation;
  if (isBadId(id)) return `an annotation needs an id of at most ${ANNOTATION_ID_MAX_CHARACTERS} characters`;
  if (origin.session !== session) return `its origin must be this session, ${session}`;
  if (origin.chat !== undefined && !isChat(origin.chat))
    return `${shorten(origin.chat, 200)} is not a chat of this session`;
  if (entries.length === 0) return 'an annotation has at least one note';
  if (entries.length > ANNOTATION_ENTRIES_MAX) return `an annotation may have at most ${ANNOTATION_ENTRIES_MAX} notes`;
  if (new Set(entries.map((entry) => entry.id)).size < entries.length) return 'its notes must have different ids';
  if (JSON.stringify([origin, rest]).length > ANNOTATION_MAX_CHARACTERS)
    return `an annotation may have at most ${ANNOTATION_MAX_CHARACTERS} characters as JSON, without its notes`;
  return entries.map(entryProblem).find((reason) => reason !== undefined);
}

function entryProblem(entry: AnnotationEntry): string | undefined {
  if (isBadId(entry.id)) return `a note needs an id of at most ${ANNOTATION_ID_MAX_CHARACTERS} characters`;
  const isTooLong = JSON.stringify(entry).length > ANNOTATION_ENTRY_MAX_CHARACTERS;
  return isTooLong ? `a note may have at most ${ANNOTATION_ENTRY_MAX_CHARACTERS} characters as JSON` : undefined;
}

function isBadId(id: string): boolean {
  return id === '' || id.length > ANNOTATION_ID_MAX_CHARACTERS;
}

function tooMany({ state }: AnnotationsFacts): string | undefined {
  return state.annotations.length < ANNOTATIONS_MAX
    ? undefined
    : `a session may have at most ${ANNOTATIONS_MAX} annotations`;
}

/**
 * Refuses annotations that together grow too large, because every snapshot contains all of them. It also counts the
 * text being replaced, because sessions rarely come near the limit.
 */
function tooMuch({ state }: AnnotationsFacts, added: object): string | undefined {
  const size = JSON.stringify(state).length + JSON.stringify(added).length;
  return size > ANNOTATIONS_MAX_CHARACTERS ? 'the annotations of this session are too large: remove some' : undefined;
}

/** Replaces attached annotations by text, so that a model can read them. */
export function withAnnotationTexts(message: Message, { uri, state }: Pick<Annotations, 'uri' | 'state'>): Message {
  const { attachments } = message;
  if (!attachments?.some(({ type }) => type === 'annotations')) return message;
  return { ...message, attachments: attachments.map((attachment) => readable(attachment, uri, state)) };
}

function readable(attachment: MessageAttachment, uri: string, state: AnnotationsState): MessageAttachment {
  if (attachment.type !== 'annotations') return attachment;
  const { resource, annotationIds, label } = attachment;
  if (resource !== uri)
    return { type: 'simple', label, modelRepresentation: `${label} (annotations of another session, not shown here)` };
  const wanted = annotationIds ?? state.annotations.map(({ id }) => id);
  const texts = wanted.map((id) => textOf(state.annotations.find((annotation) => annotation.id === id)));
  const text = texts.length > 0 ? texts.join('\n') : 'There are no annotations.';
  return { type: 'simple', label, modelRepresentation: cut(`${label}\n${text}`) };
}

function cut(text: string): string {
  const max = ANNOTATIONS_TEXT_MAX_CHARACTERS;
  return text.length <= max ? text : `${text.slice(0, max)}\n[Cut: there are more annotations.]`;
}

function textOf(annotation: Annotation | undefined): string {
  if (!annotation) return 'An annotation that was removed meanwhile.';
  const { resource, range, resolved, entries } = annotation;
  const place = range ? `${resource}, ${placeText(range)}` : resource;
  const notes = entries.map(
    ({ text }) => `- ${(typeof text === 'string' ? text : text.markdown).replaceAll('\n', '\n  ')}`,
  );
  return [`On ${place}${resolved ? ' (resolved)' : ''}:`, ...notes].join('\n');
}

/** A place for people and models, who count from 1; ranges count from 0. */
function placeText({ start, end }: NonNullable<Annotation['range']>): string {
  const from = `line ${start.line + 1}, column ${start.character + 1}`;
  return `${from} to line ${end.line + 1}, column ${end.character + 1}`;
}
