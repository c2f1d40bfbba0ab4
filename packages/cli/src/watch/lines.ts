/** Actions as lines for people. Text that streams is gathered until its line is complete. */
import { type StateAction, steeringIn } from '@atrium/protocol';
import { plain } from '../sessions/turns.js';
import { printable } from '../text/printable.js';

export class Lines {
  readonly #print: (line: string) => void;
  #partial = '';
  /** The names of calls that have begun, by their ids. */
  readonly #names = new Map<string, string>();

  constructor(print: (line: string) => void) {
    this.#print = print;
  }

  add(action: StateAction): void {
    switch (action.type) {
      case 'session/turnStarted':
        return this.#line(`> ${printable(action.userMessage.text)}`);
      case 'session/responsePart':
        if (action.part.kind === 'markdown') this.#text(action.part.content);
        if (steeringIn(action.part)) this.#line(`> ${printable(steeringIn(action.part)?.text ?? '')}`);
        else if (action.part.kind === 'systemNotification')
          this.#line(`note: ${printable(plain(action.part.content))}`);
        return;
      case 'session/delta':
        return this.#text(action.content);
      case 'session/toolCallStart':
        this.#names.set(action.toolCallId, printable(action.displayName));
        return;
      case 'session/toolCallReady':
        return this.#line(
          `${action.confirmed ? 'runs' : 'asks'}: ${this.#name(action)}: ${printable(plain(action.invocationMessage))}`,
        );
      case 'session/toolCallConfirmed':
        return this.#line(`${action.approved ? 'allowed' : 'denied'}: ${this.#name(action)}`);
      case 'session/toolCallComplete':
        return this.#line(
          `${action.result.success ? 'done' : 'failed'}: ${this.#name(action)}: ${printable(plain(action.result.pastTenseMessage))}`,
        );
      case 'session/inputRequested':
        return this.#line(`question: ${printable(action.request.message ?? '')}`);
      case 'session/turnComplete':
        this.#names.clear();
        return this.#line('complete');
      case 'session/turnCancelled':
        return this.#line('stopped');
      case 'session/error':
        return this.#line(`error: ${printable(action.error.message)}`);
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
