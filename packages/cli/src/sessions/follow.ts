/** `atrium watch`: follows one session action by action, or the list of all sessions. */
import type { Client, Subscription } from '@atrium/client';
import {
  type ActionEnvelope,
  type ChatState,
  type ErrorResponsePart,
  type SessionSummary,
  type StateAction,
  steeringIn,
} from '@atrium/protocol/ahp-1';
import { connectionNotes } from '../connect/with-client.js';
import { ExitCode, QuietExit } from '../exit.js';
import { io, print, printJson, tell } from '../io.js';
import { printable } from '../text/printable.js';
import { chatName, kindWord } from './chats.js';
import { findSession, shortId } from './find-session.js';
import { activityOf, sessionRow } from './summary-text.js';
import { type AnyTurn, plain } from './turn-text.js';

export async function watchOne(client: Client, name: string, isJson: boolean): Promise<void> {
  const { resource } = findSession(await client.listSessions(), name);
  const session = await client.subscribe(resource, { kind: 'session' });
  const watch = new SessionWatch(client, session, isJson);
  await watch.begin();
  tell(`Watching ${shortId(resource)}. Ctrl+C ends it.`);
  tellAbsence(client);
  await Promise.race([watch.ended(), interrupted()]);
}

/**
 * Follows all chats of a session, later ones too. Lines of other chats than the first begin with the name of their
 * chat.
 */
class SessionWatch {
  readonly #client: Client;
  readonly #session: Subscription<'session'>;
  readonly #isJson: boolean;
  readonly #followed = new Set<string>();
  readonly #readings: Promise<void>[] = [];

  constructor(client: Client, session: Subscription<'session'>, isJson: boolean) {
    this.#client = client;
    this.#session = session;
    this.#isJson = isJson;
  }

  /** Resolves once nothing can be missed. */
  async begin(): Promise<void> {
    const actions = this.#session.actions();
    const { chats } = this.#session.state;
    await Promise.all(chats.map(({ resource }) => this.#followChat(resource, false)));
    this.#readings.push(this.#read(actions, new Lines(print)));
    this.#session.onChange(({ chats: now }) => {
      for (const { resource } of now) void this.#followChat(resource, true);
    });
  }

  /** Resolves when the session is gone. */
  async ended(): Promise<void> {
    for (let index = 0; index < this.#readings.length; index += 1) await this.#readings[index];
  }

  async #followChat(uri: string, isNew: boolean): Promise<void> {
    if (this.#followed.has(uri)) return;
    this.#followed.add(uri);
    const chat = await this.#client.subscribe(uri, { kind: 'chat', turns: { last: 1 } }).catch(() => undefined);
    if (!chat) return;
    const { state } = this.#session;
    const isFirst = uri === (state.defaultChat ?? state.chats[0]?.resource);
    const lead = isFirst ? '' : `[${chatName(state, chat.state)}] `;
    const lines = new Lines((line) => print(lead + line));
    if (isNew && !this.#isJson) for (const turn of turnsIn(chat.state)) lines.tell(turn);
    this.#readings.push(this.#read(chat.actions(), lines));
  }

  async #read(actions: AsyncIterable<ActionEnvelope>, lines: Lines): Promise<void> {
    for await (const envelope of actions) {
      if (envelope.rejectionReason !== undefined) continue;
      if (this.#isJson) printJson(envelope);
      else lines.add(envelope.action);
    }
    lines.end();
  }
}

function turnsIn({ turns, activeTurn }: ChatState): AnyTurn[] {
  return activeTurn ? [...turns, activeTurn] : [...turns];
}

/** Prints no line for a change that nobody would notice in the list. */
export async function watchAll(client: Client, isJson: boolean): Promise<void> {
  const list = await client.sessions();
  const known = new Map<string, SessionSummary>();
  let isFirst = true;
  tell('Watching all sessions. Ctrl+C ends it.');
  tellAbsence(client);
  const follow = async () => {
    for await (const items of list) {
      const found = changes(known, items);
      const news = isFirst ? found.map(([, summary]) => ['present', summary] as const) : found;
      isFirst = false;
      for (const [change, summary] of news) {
        if (isJson) printJson({ change, summary });
        else print([change.padEnd(7), ...sessionRow(summary, Date.now())].join('  '));
      }
    }
  };
  await Promise.race([follow(), interrupted()]);
}

/** Says that the host is gone, so that the person knows why nothing appears. */
function tellAbsence(client: Client): void {
  client.onStatus(connectionNotes(tell, { gone: 'Waiting for it.', refused: '' }));
}

type Change = 'added' | 'changed' | 'removed';

function changes(known: Map<string, SessionSummary>, items: readonly SessionSummary[]): [Change, SessionSummary][] {
  const present = new Set(items.map(({ resource }) => resource));
  const found: [Change, SessionSummary][] = [];
  for (const [uri, summary] of known) {
    if (present.has(uri)) continue;
    found.push(['removed', summary]);
    known.delete(uri);
  }
  for (const summary of items) {
    const before = known.get(summary.resource);
    known.set(summary.resource, summary);
    if (!before) found.push(['added', summary]);
    else if (before.title !== summary.title || activityOf(before) !== activityOf(summary))
      found.push(['changed', summary]);
  }
  return found;
}

function interrupted(): Promise<never> {
  return new Promise((_, reject) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      io().signals.once(signal, () => reject(new QuietExit(ExitCode.Interrupted)));
    }
  });
}

class Lines {
  readonly #print: (line: string) => void;
  #partial = '';
  /** The names of calls that have begun, by their ids. */
  readonly #names = new Map<string, string>();

  constructor(print: (line: string) => void) {
    this.#print = print;
  }

  /** Reports the part of a turn that happened before the subscription. */
  tell({ message, responseParts }: AnyTurn): void {
    this.#line(`> ${printable(message.text)}`);
    for (const part of responseParts) {
      if (part.kind === 'markdown') this.#text(part.content);
      if (part.kind === 'toolCall') this.#names.set(part.toolCall.toolCallId, printable(part.toolCall.displayName));
    }
  }

  add(action: StateAction): void {
    switch (action.type) {
      case 'chat/turnStarted':
        return this.#line(`> ${printable(action.message.text)}`);
      case 'chat/responsePart':
        if (action.part.kind === 'markdown') this.#text(action.part.content);
        if (steeringIn(action.part)) this.#line(`> ${printable(steeringIn(action.part)?.text ?? '')}`);
        else if (action.part.kind === 'systemNotification')
          this.#line(`note: ${printable(plain(action.part.content))}`);
        return;
      case 'chat/delta':
        return this.#text(action.content);
      case 'chat/toolCallStart':
        this.#names.set(action.toolCallId, printable(action.displayName));
        return;
      case 'chat/toolCallReady':
        return this.#line(
          `${action.confirmed ? 'runs' : 'asks'}: ${this.#name(action)}: ${printable(plain(action.invocationMessage))}`,
        );
      case 'chat/toolCallConfirmed':
        return this.#line(`${action.approved ? 'allowed' : 'denied'}: ${this.#name(action)}`);
      case 'chat/toolCallComplete':
        return this.#line(
          `${action.result.success ? 'done' : 'failed'}: ${this.#name(action)}: ${printable(plain(action.result.pastTenseMessage))}`,
        );
      case 'chat/inputRequested':
        return this.#line(`question: ${printable(action.request.message ?? '')}`);
      case 'chat/turnComplete':
        this.#names.clear();
        return this.#line('complete');
      case 'chat/turnCancelled':
        return this.#line('stopped');
      case 'chat/error':
        return this.#line(`error: ${printable(action.part.error.message)}${resumeWord(action.part)}`);
      case 'chat/turnResume':
        return this.#line('goes on');
      case 'session/chatAdded':
        return this.#line(
          `chat: ${printable(action.summary.title)} (${kindWord({ chat: action.summary, isDefault: false })})`,
        );
      case 'session/titleChanged':
        return this.#line(`title: ${printable(action.title)}`);
      default:
    }
  }

  end(): void {
    if (this.#partial !== '') this.#print(printable(this.#partial));
    this.#partial = '';
  }

  #name({ toolCallId }: { readonly toolCallId: string }): string {
    return this.#names.get(toolCallId) ?? 'a tool';
  }

  #text(text: string): void {
    const lines = (this.#partial + text).split('\n');
    this.#partial = lines.pop() ?? '';
    for (const line of lines) if (line.trim() !== '') this.#print(printable(line));
  }

  #line(line: string): void {
    this.end();
    this.#print(line);
  }
}

function resumeWord({ resumable }: ErrorResponsePart): string {
  return resumable ? ' (it can go on: /resume in a chat)' : '';
}
