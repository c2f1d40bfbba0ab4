/** The output of commands that run in a terminal, for calls that do not carry it themselves. */
import type { Client, Subscription } from '@atrium/client';
import type { TerminalState, ToolCallState } from '@atrium/protocol/ahp-1';

/** How much of the end of the output the chat keeps; it shows no more. */
const TAIL_CHARACTERS = 20_000;
/** A turn may run several commands at once; the chat follows at most this many. */
const FOLLOWED_MAX = 8;

export function terminalIn(call: ToolCallState): string | undefined {
  const content = 'content' in call ? (call.content ?? []) : [];
  return content.flatMap((block) => (block.type === 'terminal' ? [block.resource] : [])).at(-1);
}

export class LiveTerminals {
  readonly #client: Client;
  readonly #onChange: () => void;
  readonly #followed = new Map<string, Subscription<'terminal'> | 'opening' | 'gone'>();

  constructor(client: Client, onChange: () => void) {
    this.#client = client;
    this.#onChange = onChange;
  }

  /** The end of the output of a running call's terminal, as far as it has arrived. */
  tail(call: ToolCallState): string {
    const uri = call.status === 'running' ? terminalIn(call) : undefined;
    if (uri === undefined) return '';
    const known = this.#followed.get(uri);
    if (known === undefined) void this.#follow(uri);
    return typeof known === 'object' ? tailOf(known.state) : '';
  }

  /** Ends all subscriptions: no call runs any more. */
  release(): void {
    for (const each of this.#followed.values()) if (typeof each === 'object') each.close();
    this.#followed.clear();
  }

  async #follow(uri: string): Promise<void> {
    if (this.#followed.size >= FOLLOWED_MAX) return;
    this.#followed.set(uri, 'opening');
    try {
      const terminal = await this.#client.subscribe(uri, { kind: 'terminal' });
      if (!this.#followed.has(uri)) return terminal.close();
      this.#followed.set(uri, terminal);
      terminal.onChange(this.#onChange);
      this.#onChange();
    } catch {
      this.#followed.set(uri, 'gone');
    }
  }
}

function tailOf({ content }: TerminalState): string {
  let text = '';
  for (const part of content.toReversed()) {
    text = (part.type === 'command' ? part.output : part.value) + text;
    if (text.length > TAIL_CHARACTERS) break;
  }
  return text.slice(-TAIL_CHARACTERS);
}
