/**
 * A host over the 1.0 model, as small as possible: it takes actions of 0.3.0 and writes what a host writes for them in
 * 1.0, with everything that follows (read flags, what waits for a person, summaries of chats). Beside the states it
 * keeps a mirror: what a client of 0.3.0 has that got the first state and follows by translated actions.
 */
import { chatReducer } from '../../src/ahp-1/chat/reducer.js';
import type * as Ahp1 from '../../src/ahp-1/index.js';
import {
  isMcpServerAction,
  isStanding,
  PRIVATE,
  type SelectionChangedAction,
  selectionAction,
  standingEntry,
  standingRequestId,
  withPendingMark,
  withPrimaryDirectory,
  withServerEntry,
  withShownClient,
} from '../../src/ahp-1/private-members.js';
import { sessionReducer as modelReducer } from '../../src/ahp-1/session/reducer.js';
import { selectionOf, withSelection } from '../../src/ahp-1/session/selection.js';
import type { ModelStep, ModelView, StepGroup } from '../../src/dialects/dialect.js';
import { actionDown, isUntranslatable } from '../../src/dialects/model-0.3/actions-down.js';
import { actionUp } from '../../src/dialects/model-0.3/actions-up.js';
import { sessionDown } from '../../src/dialects/model-0.3/states.js';
import {
  changesetEntryUp,
  contributorUp,
  customizationUp,
  inputNeededOf,
  partUp,
  sessionUp,
  timeUp,
} from '../../src/dialects/model-0.3/upcast.js';
import type * as Ahp03 from '../../src/index.js';
import { sessionReducer as olderReducer } from '../../src/session/reducer.js';
import { SessionStatus } from '../../src/session/status.js';
import { deepFreeze } from './fixtures.js';

export const CHAT = 'ahp-chat://default/one';

export interface ModelHostOptions {
  /** Whether a question that is asked while a turn runs stands outside of it. */
  readonly standsOutside?: () => boolean;
  /** The host forgets questions outside of turns when a turn ends, as the reducers of 0.3.0 do. */
  readonly forgets?: boolean;
}

export class ModelHost {
  readonly resource: string;
  session: Ahp1.SessionState;
  chat: Ahp1.ChatState;
  readonly summary: Ahp1.SessionSummary;
  mirror: Ahp03.SessionState;
  readonly written: ModelStep[] = [];
  /** Why a client of 0.3.0 had to take a snapshot. */
  closed: string | undefined;
  /** A standing question was answered after a failed turn: 0.3.0 forgets the failure then, and 1.0 does not. */
  failureForgotten = false;
  now = 0;
  /** Whose action is written next. */
  #origin: Ahp1.ActionOrigin | undefined;

  constructor(
    initial: Ahp03.SessionState,
    private readonly options: ModelHostOptions = {},
  ) {
    this.resource = initial.summary.resource;
    const { session, chat, summary } = sessionUp(initial, CHAT);
    this.session = deepFreeze(session);
    this.chat = deepFreeze(chat);
    this.summary = summary;
    this.mirror = this.shown;
  }

  /** What a snapshot shows to a client of 0.3.0. */
  get shown(): Ahp03.SessionState {
    const { createdAt } = this.summary;
    return sessionDown(this.session, this.chat, { resource: this.resource, createdAt });
  }

  get view(): ModelView {
    return {
      providerOf: (session) => (session === this.resource ? this.session.provider : undefined),
      sessionUriOf: (chat) =>
        this.session.chats.some(({ resource }) => resource === chat) ? this.resource : undefined,
      defaultChatOf: (session) => (session === this.resource ? this.session.defaultChat : undefined),
      summaryOf: (session) => (session === this.resource ? this.summary : undefined),
      sessionOf: (session) => (session === this.resource ? this.session : undefined),
      chatOf: (chat) => (chat === CHAT ? this.chat : undefined),
      memoryOf: () => undefined,
    };
  }

  /** Writes one action of 1.0. */
  write(action: { readonly type: string }): void {
    const onChat = action.type.startsWith('chat/');
    const before = onChat ? this.chat : this.session;
    if (onChat) this.chat = deepFreeze(chatReducer(this.chat, deepFreeze(action)));
    else this.session = deepFreeze(modelReducer(this.session, deepFreeze(action)));
    const serverSeq = this.written.length + 1;
    const envelope = { channel: onChat ? CHAT : this.resource, action: action as Ahp1.StateAction, serverSeq };
    const origin = this.#origin && { origin: this.#origin };
    this.#origin = undefined;
    this.written.push({ envelope: { ...envelope, ...origin }, before, after: onChat ? this.chat : this.session });
    const down = actionDown(action);
    if (down === undefined) return;
    if (isUntranslatable(down)) {
      this.closed = down.untranslatable;
      this.mirror = this.shown;
    } else this.mirror = olderReducer(this.mirror, deepFreeze(down), { now: this.now });
  }

  /** Writes an action of 1.0 and what follows from it. */
  take(action: { readonly type: string }): void {
    const { type } = action;
    if (type === 'session/activeClientSet' || type === 'session/activeClientRemoved') {
      const claim = action as Ahp1.SessionActiveClientSetAction;
      this.write(withShownClient(claim, this.session, modelReducer(this.session, claim)));
    } else if (type.startsWith('session/workingDirectory')) {
      const change = action as Ahp1.SessionWorkingDirectorySetAction;
      this.write(withPrimaryDirectory(change, this.session, modelReducer(this.session, change)));
    } else if (type === 'chat/toolCallReady') {
      const ready = this.withInput(action as Ahp1.ChatToolCallReadyAction);
      this.write(withPendingMark(ready, this.chat, chatReducer(this.chat, ready)));
    } else if (isMcpServerAction(action)) {
      this.write(withServerEntry(action, modelReducer(this.session, action)));
    } else this.write(action);
    if (type === 'chat/turnStarted' || type === 'chat/inputRequested') this.#unread();
    const isEnd = ['chat/turnComplete', 'chat/turnCancelled', 'chat/error', 'chat/truncated'].includes(type);
    if (type === 'chat/turnStarted' || isEnd) this.failureForgotten = false;
    if (isEnd) this.#askAgain();
    if (type.startsWith('chat/')) this.#followUp();
    if (type === 'session/customizationToggled') this.#publishContainer((action as { readonly id?: string }).id);
  }

  /** 0.3.0 switches top-level entries only: the container of a switched server is published anew. */
  #publishContainer(id: string | undefined): void {
    const customization = this.session.customizations?.find(
      (entry) => 'children' in entry && entry.children?.some((child) => child.id === id),
    );
    if (customization) this.write({ type: 'session/customizationUpdated', customization } as never);
  }

  /** 1.0 keeps the input of a running call that is asked about again; the host says so for older wires. */
  withInput(action: Ahp1.ChatToolCallReadyAction): Ahp1.ChatToolCallReadyAction {
    if (action.toolInput !== undefined) return action;
    const call = this.chat.activeTurn?.responseParts
      .flatMap((part) => (part.kind === 'toolCall' ? [part.toolCall] : []))
      .find(({ toolCallId }) => toolCallId === action.toolCallId);
    return call?.status === 'running' && call.toolInput !== undefined
      ? { ...action, toolInput: call.toolInput }
      : action;
  }

  #unread(): void {
    if (this.session.status & SessionStatus.IsRead)
      this.write({ type: 'session/isReadChanged', isRead: false } as never);
  }

  /** Wires of 0.3.0 forget all questions when a turn ends. */
  #askAgain(): void {
    for (const entry of (this.session.inputNeeded ?? []).filter(isStanding)) {
      if (!this.options.forgets) this.ask(entry.request);
      else this.write({ type: 'session/inputNeededRemoved', id: entry.id, [PRIVATE]: { shown: true } } as never);
    }
  }

  /** A question outside of turns. */
  ask(request: Ahp1.ChatInputRequest): void {
    const known = this.session.inputNeeded?.find(({ id }) => standingRequestId(id) === request.id);
    const answers = request.answers ?? (known && isStanding(known) ? known.request.answers : undefined);
    const entry = standingEntry(CHAT, answers ? { ...request, answers } : request);
    this.write({ type: 'session/inputNeededSet', request: entry } as never);
    this.#unread();
  }

  /** Mirrors the running turn into what waits, and the summary of the chat into its session. */
  #followUp(): void {
    const needed = inputNeededOf(this.chat);
    const listed = (this.session.inputNeeded ?? []).filter((entry) => !isStanding(entry) && entry.chat === CHAT);
    for (const { id } of listed) {
      if (!needed.some((entry) => entry.id === id)) this.write({ type: 'session/inputNeededRemoved', id } as never);
    }
    for (const entry of needed) {
      const known = listed.find(({ id }) => id === entry.id);
      if (JSON.stringify(known) !== JSON.stringify(entry)) {
        this.write({ type: 'session/inputNeededSet', request: entry } as never);
      }
    }
    const { status, modifiedAt } = this.chat;
    const entry = this.session.chats.find(({ resource }) => resource === CHAT);
    if (entry?.status === status && entry.modifiedAt === modifiedAt) return;
    this.write({ type: 'session/chatUpdated', chat: CHAT, changes: { status, modifiedAt } } as never);
  }

  /** What is written from now on until the returned function is called, as one tick. */
  tick(): () => StepGroup {
    const { session, chat } = this;
    const start = this.written.length;
    return () => ({
      channel: this.resource,
      steps: this.written.slice(start),
      stateBefore: (channel) => (channel === CHAT ? chat : session),
    });
  }

  /** Does what an action of 0.3.0 asks for, whoever sends it. */
  apply(action: Ahp03.SessionAction, now: number, origin?: Ahp1.ActionOrigin): void {
    this.now = now;
    this.#origin = origin;
    for (const step of this.#inModel(action)) this.take(step as { type: string });
  }

  #standing(requestId: string): Ahp1.SessionChatInputRequest | undefined {
    return this.session.inputNeeded?.filter(isStanding).find(({ request }) => request.id === requestId);
  }

  #inModel(action: Ahp03.SessionAction): readonly object[] {
    const { type, ...rest } = action;
    const renamed = { ...rest, type: type.replace('session/', 'chat/') };
    switch (action.type) {
      case 'session/turnStarted':
        return [{ ...this.#up(action), startedAt: timeUp(this.now) }];
      case 'session/turnComplete':
      case 'session/turnCancelled':
        return [{ ...renamed, duration: 5 }];
      case 'session/error':
        return [
          { type: 'chat/error', turnId: action.turnId, duration: 5, part: { kind: 'error', error: action.error } },
        ];
      case 'session/responsePart':
        return [{ ...renamed, part: partUp(action.part) }];
      case 'session/delta':
      case 'session/reasoning':
      case 'session/usage':
      case 'session/toolCallDelta':
      case 'session/toolCallReady':
        return [renamed];
      case 'session/toolCallStart': {
        const { toolClientId, ...start } = action;
        return [{ ...start, type: 'chat/toolCallStart', ...contributorUp(toolClientId) }];
      }
      case 'session/inputRequested': {
        const isKnown = this.#standing(action.request.id) !== undefined;
        if (this.chat.activeTurn && !isKnown && !this.options.standsOutside?.()) return [renamed];
        this.ask(action.request);
        return [];
      }
      case 'session/inputAnswerChanged':
        return [renamed, ...this.#draft(action)];
      case 'session/inputCompleted': {
        const standing = this.#standing(action.requestId);
        const isFailed = (this.chat.status & 31) === SessionStatus.Error;
        if (standing && isFailed) this.failureForgotten = true;
        const settled = { type: 'session/inputNeededRemoved', id: standing?.id, [PRIVATE]: { shown: true } };
        return standing ? [renamed, settled] : [renamed];
      }
      case 'session/modelChanged':
      case 'session/agentChanged':
        return [selectionAction(this.session, this.#up(action) as unknown as SelectionChangedAction)];
      case 'session/metaChanged': {
        const { _meta } = action;
        const meta = withSelection(_meta ?? undefined, selectionOf(this.session._meta));
        return [{ type, _meta: _meta || Object.keys(meta).length > 0 ? meta : undefined }];
      }
      case 'session/changesetsChanged':
        return [{ type, changesets: action.changesets?.map(changesetEntryUp) }];
      case 'session/customizationsChanged':
        return [{ type, customizations: action.customizations.map(customizationUp) }];
      case 'session/customizationUpdated':
        return [{ type, customization: customizationUp(action.customization) }];
      case 'session/ready':
      case 'session/creationFailed':
      case 'session/activityChanged':
      case 'session/serverToolsChanged':
      case 'session/customizationRemoved':
        return [action];
      default:
        return [this.#up(action)];
    }
  }

  /** A draft of an answer outside of turns: the entry holds it. */
  #draft({ requestId, questionId, answer }: Ahp03.SessionInputAnswerChangedAction): readonly object[] {
    const standing = this.#standing(requestId);
    if (!standing) return [];
    const { answers, ...request } = standing.request;
    const { [questionId]: _old, ...others } = answers ?? {};
    const next = answer ? { ...answers, [questionId]: answer } : others;
    const kept = Object.keys(next).length > 0 ? { ...request, answers: next } : request;
    const entry = { ...standing, request: kept };
    return [{ type: 'session/inputNeededSet', request: entry, [PRIVATE]: { shown: true } }];
  }

  /** What the codec makes of an action that a client dispatched. */
  #up(action: Ahp03.SessionAction): object {
    const clientId = this.session.activeClients.at(-1)?.clientId;
    const up = actionUp(action, { channel: this.resource, clientId, view: this.view });
    return 'refused' in up ? { type: 'x-atrium/refused' } : up.action;
  }
}
