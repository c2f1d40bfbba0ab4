/**
 * An edition is what all clients with the same access are sent. Frames are encoded once for each dialect and edition.
 * The main edition leaves nothing out, and nearly all clients have it; each other one exists as long as a connected
 * client has it.
 */
import type { ActionEnvelope, StateAction } from '@atrium/protocol/ahp-1';
import type { Access } from '../contracts/access.js';
import { type AccessControl, isLimited } from './access-control.js';
import type { Connection } from './connection.js';
import { type ChannelMemory, DIALECTS, type Dialect, type DialectView, type StepGroup } from './dialects/dialects.js';
import type { TextGroup, TextStep } from './encoding.js';
import { Projection, type ProjectionFacts, projectionKey } from './projection.js';
import { TranslatedReplay } from './replay.js';

/** Dialects that remember state about a group. */
const REMEMBERING = DIALECTS.filter(({ traits }) => traits.needsStates);

export class Edition {
  /** What older dialects remember about each group that their clients watch, or watched when the running turn began. */
  readonly memories = new Map<string, ChannelMemory>();
  /** The dialects that need states to translate, each with its messages of the newest ticks. */
  readonly translated = REMEMBERING.map((dialect) => ({ dialect, replay: new TranslatedReplay() }));
  readonly connections = new Set<Connection>();
  /** What dialects may look up while they translate. */
  readonly view: DialectView;

  constructor(
    view: DialectView,
    /** Absent when nothing is left out. */
    readonly projection?: Projection,
  ) {
    this.view = { ...view, memoryOf: (group) => this.memories.get(group) };
  }

  replayOf(spoken: Dialect): TranslatedReplay | undefined {
    return this.translated.find(({ dialect }) => dialect.traits.version === spoken.traits.version)?.replay;
  }

  /** Forgets a channel that left memory, with what dialects remember of it. */
  forget(uri: string): void {
    this.memories.delete(uri);
    for (const { replay } of this.translated) replay.forget(uri);
  }

  /** An action as clients of this edition see it; undefined when nothing of it is left. */
  action(channel: string, action: StateAction, after?: unknown): StateAction | undefined {
    return this.projection ? this.projection.action(channel, action, after) : action;
  }

  envelope(envelope: ActionEnvelope, after?: unknown): ActionEnvelope | undefined {
    const action = this.action(envelope.channel, envelope.action, after);
    return action && (action === envelope.action ? envelope : { ...envelope, action });
  }

  snapshot<Snapshot>(snapshot: Snapshot): Snapshot {
    const { resource, state } = (snapshot ?? {}) as { resource?: string; state?: unknown };
    if (!this.projection || resource === undefined || state === undefined) return snapshot;
    return { ...snapshot, state: this.projection.state(resource, state) };
  }

  /** A group as this edition shows it: its steps, and the states around them, without what is left out. */
  group(group: TextGroup): TextGroup {
    const { projection } = this;
    if (!projection) return group;
    const steps = group.steps.flatMap((step): TextStep[] => {
      const envelope = this.envelope(step.envelope, step.after);
      if (!envelope) return [];
      const { channel } = envelope;
      const states = { before: projection.state(channel, step.before), after: projection.state(channel, step.after) };
      const text = envelope === step.envelope ? { text: step.text } : {};
      return [{ envelope, ...states, ...text }];
    });
    const stateBefore: StepGroup['stateBefore'] = (uri) => projection.state(uri, group.stateBefore(uri));
    return { channel: group.channel, steps, atHand: { steps }, stateBefore };
  }
}

export class Editions {
  readonly main: Edition;
  readonly #others = new Map<string, Edition>();

  constructor(
    private readonly view: DialectView,
    private readonly control: AccessControl,
    private readonly facts: ProjectionFacts,
  ) {
    this.main = new Edition(view);
  }

  /** The edition for a connection. */
  join(connection: Connection): Edition {
    const { access } = connection;
    if (!isLimited(access)) return this.main;
    const key = projectionKey(access);
    const edition = this.#others.get(key) ?? this.#made(access);
    this.#others.set(key, edition);
    edition.connections.add(connection);
    return edition;
  }

  remove(connection: Connection, edition: Edition): void {
    edition.connections.delete(connection);
    const key = edition.projection?.key;
    if (key !== undefined && edition.connections.size === 0) this.#others.delete(key);
  }

  /** All editions but the main one. */
  others(): Iterable<Edition> {
    return this.#others.values();
  }

  forget(uri: string): void {
    this.main.forget(uri);
    for (const edition of this.#others.values()) edition.forget(uri);
  }

  #made(access: Access): Edition {
    const projection = new Projection(access, this.facts);
    const sees = (session: string | undefined) => session !== undefined && this.control.sees(access, session);
    const { view } = this;
    const seesChat = (chat: string) => sees(view.sessionUriOf(chat));
    const projected = <State>(uri: string, state: State) => projection.state(uri, state) as State;
    return new Edition(
      {
        ...view,
        providerOf: (session) => (sees(session) ? view.providerOf(session) : undefined),
        namesakeOf: (rest) => {
          const session = view.namesakeOf?.(rest);
          return sees(session) ? session : undefined;
        },
        sessionUriOf: (chat) => (seesChat(chat) ? view.sessionUriOf(chat) : undefined),
        defaultChatOf: (session) => (sees(session) ? view.defaultChatOf(session) : undefined),
        summaryOf: (session) => {
          const summary = sees(session) ? view.summaryOf(session) : undefined;
          return summary && projection.summary(summary);
        },
        sessionOf: (session) => (sees(session) ? projected(session, view.sessionOf(session)) : undefined),
        chatOf: (chat) => (seesChat(chat) ? projected(chat, view.chatOf(chat)) : undefined),
      },
      projection,
    );
  }
}
