/** The input of calls that ask. Fetches a long one that the host names by reference before anybody can say yes. */
import type { ContentRef, ToolCallState } from '@atrium/protocol/ahp-1';
import { type ContentSource, contentText } from '../changes/changes-view.js';

/** Without the text the person can only deny the call. */
export type ShownInput =
  | { readonly state: 'here'; readonly text: string }
  | { readonly state: 'loading' }
  | { readonly state: 'missing' };

interface ToolInputsOptions extends ContentSource {
  readonly onReady: () => void;
}

/** The chat shows the whole input. One answer of a host carries no more than this. */
const INPUT_MAX_BYTES = 4 * 2 ** 20;
/** One call asks at a time; earlier ones may still be on the screen. */
const INPUTS_MAX = 4;

/** The input behind a reference; undefined when it cannot be read. */
export function referencedInput(source: ContentSource, ref: ContentRef): Promise<string | undefined> {
  return contentText(source, ref, INPUT_MAX_BYTES);
}

export class ToolInputs {
  readonly #options: ToolInputsOptions;
  /** By call. Until the call is confirmed its input may change, and then the call asks again. */
  readonly #fetched = new Map<string, { readonly call: ToolCallState; readonly input: ShownInput }>();

  constructor(options: ToolInputsOptions) {
    this.#options = options;
  }

  ofCall(call: ToolCallState): ShownInput {
    const input = 'toolInput' in call ? call.toolInput : undefined;
    if (input === undefined || typeof input === 'string') return { state: 'here', text: input ?? '' };
    const known = this.#fetched.get(call.toolCallId);
    if (known?.call === call) return known.input;
    const loading: ShownInput = { state: 'loading' };
    this.#fetched.delete(call.toolCallId);
    this.#fetched.set(call.toolCallId, { call, input: loading });
    if (this.#fetched.size > INPUTS_MAX) this.#fetched.delete([...this.#fetched.keys()][0] ?? '');
    void this.#fetch(call, input);
    return loading;
  }

  async #fetch(call: ToolCallState, ref: ContentRef): Promise<void> {
    const text = await referencedInput(this.#options, ref);
    if (this.#fetched.get(call.toolCallId)?.call !== call) return;
    const input: ShownInput = text === undefined ? { state: 'missing' } : { state: 'here', text };
    this.#fetched.set(call.toolCallId, { call, input });
    this.#options.onReady();
  }
}
