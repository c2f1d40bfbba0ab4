/** The kinds of channels: the state behind each, its actions, and the kind that a URI tells. */
import type * as Ahp1 from '@atrium/protocol/ahp-1';
import { type ChannelKind, channelKind } from '@atrium/protocol/ahp-1';

interface ChannelTypes {
  root: { state: Ahp1.RootState; action: Ahp1.RootAction };
  session: { state: Ahp1.SessionState; action: Ahp1.SessionAction };
  chat: { state: Ahp1.ChatState; action: Ahp1.ChatAction };
  terminal: { state: Ahp1.TerminalState; action: Ahp1.TerminalAction };
  changeset: { state: Ahp1.ChangesetState; action: Ahp1.ChangesetAction };
  annotations: { state: Ahp1.AnnotationsState; action: Ahp1.AnnotationsAction };
  automation: { state: Ahp1.AutomationState; action: Ahp1.AutomationAction };
  automationRun: { state: Ahp1.AutomationRunState; action: Ahp1.AutomationRunAction };
  canvas: { state: Ahp1.CanvasState; action: Ahp1.CanvasAction };
  resourceWatch: { state: Ahp1.ResourceWatchState; action: Ahp1.ResourceWatchAction };
  otlp: { state: undefined; action: never };
  mcp: { state: undefined; action: never };
}

export type StateOf<K extends ChannelKind> = ChannelTypes[K]['state'];
export type ActionOf<K extends ChannelKind> = ChannelTypes[K]['action'];
/** An action as a program may dispatch it: the client fills in times and the origin of messages. */
export type DispatchOf<K extends ChannelKind> = Unstamped<ActionOf<K>>;
/** Likewise for a channel of any kind. */
export type DispatchedAction = Unstamped<Ahp1.StateAction>;

/** A message of this client. It is from the user: nothing else may come from clients. */
export type UserMessage = Omit<Ahp1.Message, 'origin'> & { origin?: Ahp1.MessageOrigin };

type Unstamped<Action> = Action extends Ahp1.ChatTurnStartedAction
  ? Omit<Action, 'message' | 'startedAt'> & { message: UserMessage; startedAt?: Ahp1.Timestamp }
  : Action extends Ahp1.ChatTurnCancelledAction
    ? Omit<Action, 'duration'> & { duration?: number }
    : Action extends Ahp1.ChatPendingMessageSetAction
      ? Omit<Action, 'message'> & { message: UserMessage }
      : Action extends Ahp1.ChatDraftChangedAction
        ? Omit<Action, 'draft'> & { draft?: UserMessage | undefined }
        : Action;

export type StatefulKind = Exclude<ChannelKind, 'otlp' | 'mcp'>;
/** The state of some channel. */
export type ChannelState = StateOf<StatefulKind>;

export type SessionUri = `ahp-session:/${string}`;
export type ChatUri = `ahp-chat:/${string}`;

/** The kind of a channel by the type of its URI. A plain `string` counts as a session. */
export type KindOf<U extends string> = U extends `${string}/annotations`
  ? 'annotations'
  : U extends `${infer Scheme}:${string}`
    ? Scheme extends keyof KindByScheme
      ? KindByScheme[Scheme]
      : 'session'
    : 'session';

interface KindByScheme {
  'ahp-root': 'root';
  'ahp-chat': 'chat';
  'ahp-terminal': 'terminal';
  'ahp-changeset': 'changeset';
  'ahp-automations': 'automation';
  'ahp-automation-run': 'automationRun';
  'ahp-canvas': 'canvas';
  'ahp-resource-watch': 'resourceWatch';
  'ahp-otlp': 'otlp';
  mcp: 'mcp';
}

export function isStateful(kind: ChannelKind): kind is StatefulKind {
  return kind !== 'otlp' && kind !== 'mcp';
}

/**
 * The kind of a channel that a program asks for. A host may give its terminals and changesets any scheme, so the program
 * decides about schemes that the protocol does not define. An unknown `ahp-` scheme belongs to a newer protocol.
 */
export function kindFor(uri: string, asked: ChannelKind | undefined): ChannelKind {
  const kind = channelKind(uri);
  const isOurs = uri.startsWith('ahp-');
  if (isOurs && kind === 'session' && !uri.startsWith('ahp-session:'))
    throw new TypeError(`${uri}: this client does not know channels of that kind`);
  if (asked === undefined || asked === kind) return kind;
  if (isOurs || kind !== 'session') throw new TypeError(`${uri} is a ${kind} channel, not a ${asked} one`);
  return asked;
}
