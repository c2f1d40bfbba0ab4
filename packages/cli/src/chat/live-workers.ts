/** Shows below a call what each of its workers is doing. */
import type { Client, Subscription } from '@atrium/client';
import type { ChatState, SessionState, ToolCallState } from '@atrium/protocol/ahp-1';
import { chatState, chatTree } from '../sessions/chats.js';
import { plain } from '../sessions/turn-text.js';
import { printable } from '../text/printable.js';

/** The chat follows this many workers at once, and only names the others. */
const FOLLOWED_MAX = 8;

export interface WorkerView {
  readonly title: string;
  readonly state: string;
  /** The worker's current text or call. */
  readonly doing: string;
}

/** The chats of the workers that a call started. */
export function workersIn(call: ToolCallState): { readonly chat: string; readonly title: string }[] {
  const content = 'content' in call ? (call.content ?? []) : [];
  return content.flatMap((block) => (block.type === 'subagent' ? [{ chat: block.resource, title: block.title }] : []));
}

export class LiveWorkers {
  readonly #client: Client;
  readonly #session: () => SessionState;
  readonly #onChange: () => void;
  readonly #followed = new Map<string, Subscription<'chat'> | 'opening' | 'gone'>();

  constructor(client: Client, session: () => SessionState, onChange: () => void) {
    this.#client = client;
    this.#session = session;
    this.#onChange = onChange;
  }

  /** The workers of a call, as far as their state has arrived. Follows the running ones. */
  ofCall(call: ToolCallState): WorkerView[] {
    const rows = chatTree(this.#session());
    return workersIn(call).map(({ chat: uri, title }) => {
      const row = rows.find(({ chat }) => chat.resource === uri);
      if (call.status === 'running' && row) this.#follow(uri);
      const known = this.#followed.get(uri);
      const doing = row?.asks ?? (typeof known === 'object' && call.status === 'running' ? lastOf(known.state) : '');
      return { title: printable(row?.chat.title || title), state: row ? chatState(row) : 'gone', doing };
    });
  }

  /** Ends all subscriptions: no worker runs any more. */
  release(): void {
    for (const each of this.#followed.values()) if (typeof each === 'object') each.close();
    this.#followed.clear();
  }

  #follow(uri: string): void {
    if (this.#followed.has(uri) || this.#followed.size >= FOLLOWED_MAX) return;
    this.#followed.set(uri, 'opening');
    this.#client.subscribe(uri, { kind: 'chat', turns: { last: 1 } }).then(
      (chat) => {
        if (!this.#followed.has(uri)) return chat.close();
        this.#followed.set(uri, chat);
        chat.onChange(this.#onChange);
        this.#onChange();
      },
      () => void this.#followed.set(uri, 'gone'),
    );
  }
}

/** The last call, or the last line of text. */
function lastOf({ activeTurn, turns }: ChatState): string {
  const part = (activeTurn ?? turns.at(-1))?.responseParts.findLast(
    ({ kind }) => kind === 'toolCall' || kind === 'markdown',
  );
  if (part?.kind === 'markdown') return printable(part.content.trimEnd().split('\n').at(-1) ?? '');
  if (part?.kind !== 'toolCall') return '';
  const { toolCall } = part;
  return printable(plain('pastTenseMessage' in toolCall ? toolCall.pastTenseMessage : toolCall.invocationMessage));
}
