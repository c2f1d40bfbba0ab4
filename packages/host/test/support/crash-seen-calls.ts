/** What watchers saw of tool calls before a host was killed, to be held against what is there after its restart. */

import { plainText } from '@atrium/core/util/plain-text.js';
import {
  type ChatState,
  channelKind,
  defaultChatUri,
  sessionOfDefaultChat,
  type ToolCallState,
} from '@atrium/protocol/ahp-1';
import type { AnyEnvelope } from './fuzz-wire.js';

interface Seen {
  /** The session, for its default chat; any other chat by its own name. */
  readonly session: string;
  readonly turnId: string;
  readonly toolCallId: string;
  /** Texts that a client saw as its output. */
  readonly texts: Set<string>;
  /** A client saw that it was allowed to run. */
  isAllowed: boolean;
}

/** The members of the actions of a call that are looked at here. */
interface CallAction {
  readonly turnId: string;
  readonly toolCallId: string;
  readonly content?: readonly { readonly type: string; readonly text?: unknown }[];
  readonly approved?: boolean;
  readonly confirmed?: string;
}

export class SeenCalls {
  /** Calls that were found with everything that was seen of them; and how many of them the kill had interrupted. */
  checked = 0;
  interrupted = 0;
  readonly #seen = new Map<string, Seen>();

  /** A client was shown this. */
  envelope({ channel, action, rejectionReason }: AnyEnvelope): void {
    const [, type] = action.type.split('/');
    if (rejectionReason !== undefined || !type?.startsWith('toolCall')) return;
    // Versions without chats say it on the channel of the session.
    const session = sessionOfDefaultChat(channel) ?? channel;
    const call = action as unknown as CallAction;
    if (type === 'toolCallContentChanged') this.output(session, call, textOf(call.content ?? []));
    const isAllowed =
      (type === 'toolCallConfirmed' && call.approved) || (type === 'toolCallReady' && call.confirmed !== undefined);
    if (isAllowed) this.#of(session, call).isAllowed = true;
  }

  output(session: string, call: { readonly turnId: string; readonly toolCallId: string }, text: string): void {
    if (text !== '') this.#of(session, call).texts.add(text);
  }

  #of(session: string, { turnId, toolCallId }: { readonly turnId: string; readonly toolCallId: string }): Seen {
    const key = `${session} ${turnId} ${toolCallId}`;
    const known = this.#seen.get(key) ?? { session, turnId, toolCallId, texts: new Set(), isAllowed: false };
    this.#seen.set(key, known);
    return known;
  }

  /** After a restart nothing runs: every call that was seen is in a finished turn. Says what is wrong. */
  check(chats: ReadonlyMap<string, ChatState>): string[] {
    const wrong = [...this.#seen.values()].flatMap((seen) => {
      const uri = channelKind(seen.session) === 'chat' ? seen.session : defaultChatUri(seen.session);
      const chat = chats.get(uri);
      // A further chat may have been disposed of.
      return chat || uri !== seen.session ? this.#problemsOf(seen, chat) : [];
    });
    this.#seen.clear();
    return wrong;
  }

  #problemsOf(seen: Seen, state: ChatState | undefined): string[] {
    const turn = state?.turns.find(({ id }) => id === seen.turnId);
    const what = `call ${seen.toolCallId} of ${seen.turnId} in ${seen.session}`;
    if (!turn) return [`${what} was seen, but its turn is not there`];
    // A person stopped the turn, and every call with it.
    if (turn.state === 'cancelled') return [];
    const calls = turn.responseParts.flatMap((part) => (part.kind === 'toolCall' ? part.toolCall : []));
    const call = calls.find(({ toolCallId }) => toolCallId === seen.toolCallId);
    if (call?.status !== 'completed') {
      const isWrong = seen.isAllowed || seen.texts.size > 0;
      return isWrong ? [`${what} was seen running, but is ${call?.status ?? 'gone'}`] : [];
    }
    this.checked += 1;
    if (call.error?.code === 'INTERRUPTED') this.interrupted += 1;
    return missingIn(call, seen).map((text) => `${what} lost output that was seen: ${JSON.stringify(text)}`);
  }
}

function missingIn(call: Extract<ToolCallState, { status: 'completed' }>, { texts }: Seen): string[] {
  const output = textOf(call.content ?? []);
  return [...texts].map((text) => plainText(text).trimEnd()).filter((text) => !output.includes(text));
}

function textOf(content: readonly { readonly type: string; readonly text?: unknown }[]): string {
  return content.flatMap((block) => (block.type === 'text' ? String(block.text) : [])).join('\n');
}
