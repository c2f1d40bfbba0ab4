/** What each action that a 0.3.0 client may dispatch is in 1.0, and on which channel. */
import type * as Ahp1 from '../../ahp-1/index.js';
import { PRIVATE, SELECTION_CHANGED, shownClient } from '../../ahp-1/private-members.js';
import type * as Ahp03 from '../../index.js';
import type { CallContext } from '../dialect.js';
import { activeClientUp, claimUp, enablementUp, messageUp } from './upcast.js';

/** An action on an internal channel. Before it is applied, the host stamps times into it and checks it. */
export interface UpAction {
  readonly channel: string;
  readonly action: { readonly type: string };
}

/** Why the action is refused. */
export interface Refused {
  readonly refused: string;
}

/** The 0.3.0 channel of an action, and its sender. */
export interface UpContext extends Pick<CallContext, 'clientId' | 'view'> {
  readonly channel: string;
}

type Translated = { readonly type: string } | Refused;
type Translator<Action> = (action: Action, context: UpContext) => Translated;

/** The action unchanged: 1.0 has the same. */
const same = (action: { readonly type: string }): Translated => action;

type Actions<Prefix extends string> = {
  readonly [Type in Ahp03.ActionType as Type extends `${Prefix}${string}` ? Type : never]?: Translator<
    Ahp03.ActionMap[Type]
  >;
};

/** Actions of the conversation go to the default chat. The host stamps the start and the duration of turns. */
const chatTranslators: Actions<'session/'> = {
  'session/turnStarted': ({ type, userMessage, ...rest }) => ({
    ...rest,
    type: 'chat/turnStarted',
    message: messageUp(userMessage),
  }),
  'session/turnCancelled': ({ type, ...rest }) => ({ ...rest, type: 'chat/turnCancelled' }),
  'session/truncated': ({ type, ...rest }) => ({ ...rest, type: 'chat/truncated' }),
  'session/toolCallConfirmed': toolCallConfirmed,
  'session/toolCallComplete': ({ type, ...rest }) => ({ ...rest, type: 'chat/toolCallComplete' }),
  'session/toolCallResultConfirmed': ({ type, ...rest }) => ({ ...rest, type: 'chat/toolCallResultConfirmed' }),
  'session/toolCallContentChanged': ({ type, ...rest }) => ({ ...rest, type: 'chat/toolCallContentChanged' }),
  'session/pendingMessageSet': ({ type, userMessage, ...rest }) => ({
    ...rest,
    type: 'chat/pendingMessageSet',
    message: messageUp(userMessage),
  }),
  'session/pendingMessageRemoved': ({ type, ...rest }) => ({ ...rest, type: 'chat/pendingMessageRemoved' }),
  'session/queuedMessagesReordered': ({ type, ...rest }) => ({ ...rest, type: 'chat/queuedMessagesReordered' }),
  'session/inputAnswerChanged': ({ type, ...rest }) => ({ ...rest, type: 'chat/inputAnswerChanged' }),
  'session/inputCompleted': ({ type, ...rest }) => ({ ...rest, type: 'chat/inputCompleted' }),
};

function toolCallConfirmed({ type, ...rest }: Ahp03.SessionToolCallConfirmedAction): Translated {
  if (rest.approved || !rest.userSuggestion) return { ...rest, type: 'chat/toolCallConfirmed' };
  return { ...rest, type: 'chat/toolCallConfirmed', userSuggestion: messageUp(rest.userSuggestion) } as Translated;
}

const sessionTranslators: Actions<'session/'> = {
  'session/titleChanged': same,
  'session/isReadChanged': same,
  'session/isArchivedChanged': same,
  'session/configChanged': same,
  'session/modelChanged': ({ model }) => ({ type: SELECTION_CHANGED, model }) as Translated,
  'session/agentChanged': ({ agent }) => ({ type: SELECTION_CHANGED, agent: agent ?? null }) as Translated,
  'session/activeClientChanged': activeClientChanged,
  'session/activeClientToolsChanged': activeClientToolsChanged,
  'session/customizationToggled': customizationToggled,
};

/** The private member asks for an answer, even when older wires continue to show another client. */
const ASKS_FOR_ANSWER = { [PRIVATE]: {} };

/** The leaving client is the sender; the host lets no client speak for another. */
function activeClientChanged(
  { activeClient }: Ahp03.SessionActiveClientChangedAction,
  { clientId, channel, view }: UpContext,
): Translated {
  if (activeClient) {
    const set = { type: 'session/activeClientSet', activeClient: activeClientUp(activeClient), ...ASKS_FOR_ANSWER };
    return set as Translated;
  }
  const session = view.sessionOf(channel);
  const leaving = activeClientOf(session, clientId) ?? (session && shownClient(session));
  const removed = { type: 'session/activeClientRemoved', clientId: leaving?.clientId ?? clientId ?? '' };
  return { ...removed, ...ASKS_FOR_ANSWER } as Translated;
}

function activeClientToolsChanged(
  { tools }: Ahp03.SessionActiveClientToolsChangedAction,
  { clientId, channel, view }: UpContext,
): Translated {
  const own = activeClientOf(view.sessionOf(channel), clientId);
  if (!own) return { refused: 'only the active client can change its tools' };
  const set = { type: 'session/activeClientSet', activeClient: { ...own, tools }, [PRIVATE]: { onlyTools: true } };
  return set as Translated;
}

function activeClientOf(
  session: Ahp1.SessionState | undefined,
  clientId: string | undefined,
): Ahp1.SessionActiveClient | undefined {
  return session?.activeClients.find((client) => client.clientId === clientId);
}

/**
 * The decision for this session goes first; those of wider scopes stay. 0.3.0 switches only containers and MCP servers.
 */
function customizationToggled(
  { type, id, enabled }: Ahp03.SessionCustomizationToggledAction,
  { channel, view }: UpContext,
): Translated {
  const { customizations = [] } = view.sessionOf(channel) ?? {};
  const children = customizations.flatMap((candidate) => ('children' in candidate && candidate.children) || []);
  const child = children.find((candidate) => candidate.id === id);
  const entry = customizations.find((candidate) => candidate.id === id) ?? child;
  if (entry && entry === child && child.type !== 'mcpServer') return { refused: `there is no customization ${id}` };
  const decided = (entry && 'enablement' in entry && entry.enablement) || [];
  const others = decided.filter(({ kind }) => kind !== 'session');
  return { type, id, enablement: [enablementUp(enabled), ...others] } as Translated;
}

const otherTranslators: Actions<'root/' | 'terminal/'> = {
  'root/configChanged': same,
  'terminal/input': same,
  'terminal/resized': same,
  'terminal/titleChanged': same,
  'terminal/cleared': same,
  'terminal/claimed': ({ type, claim }, { view }) =>
    ({ type, claim: claimUp(claim, (session) => view.defaultChatOf(session) ?? '') }) as Translated,
};

const onChat: ReadonlyMap<string, unknown> = new Map(Object.entries(chatTranslators));
const onOwnChannel: ReadonlyMap<string, unknown> = new Map(
  Object.entries({ ...sessionTranslators, ...otherTranslators }),
);

/** Translates an action, which must be valid in 0.3.0 and one that clients may dispatch. */
export function actionUp(action: { readonly type: string }, context: UpContext): UpAction | Refused {
  const isChat = onChat.has(action.type);
  const translate = (onChat.get(action.type) ?? onOwnChannel.get(action.type)) as Translator<object> | undefined;
  if (!translate) return { refused: `clients cannot dispatch ${action.type}` };
  const translated = translate(action, context);
  if ('refused' in translated) return translated;
  const { channel, view } = context;
  return { channel: isChat ? (view.defaultChatOf(channel) ?? channel) : channel, action: translated };
}
