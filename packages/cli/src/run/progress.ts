/** What is new in a turn since one last looked. However long the turn is, looking costs only what is new. */
import type { ResponsePart, ToolCallState } from '@atrium/protocol';
import type { AnyTurn } from '../sessions/turns.js';

export type News =
  | { readonly kind: 'text' | 'reasoning'; readonly text: string; readonly isNewPart: boolean }
  /** Calls run beside what the agent says: the news of one may come while a later part is being written. */
  | { readonly kind: 'call'; readonly call: ToolCallState; readonly isNewPart: boolean }
  | { readonly kind: 'note'; readonly text: string; readonly isNewPart: boolean };

export class Progress {
  /** Parts before this one never change again. */
  #settled = 0;
  /** How many characters of a text, or which state of a call, have been told; by the index of the part. */
  readonly #told = new Map<number, number | string>();

  read({ responseParts }: AnyTurn): News[] {
    const news: News[] = [];
    for (let index = this.#settled; index < responseParts.length; index += 1) {
      const part = responseParts[index];
      if (part) news.push(...this.#newsOf(part, index));
    }
    while (this.#settled < responseParts.length - 1 && isSettled(responseParts[this.#settled])) {
      this.#told.delete(this.#settled);
      this.#settled += 1;
    }
    return news;
  }

  #newsOf(part: ResponsePart, index: number): News[] {
    if (part.kind === 'markdown') return this.#text('text', part.content, index);
    if (part.kind === 'reasoning') return this.#text('reasoning', part.content, index);
    if (part.kind === 'toolCall') return this.#call(part.toolCall, index);
    if (part.kind !== 'systemNotification' || this.#told.has(index)) return [];
    this.#told.set(index, '');
    const text = typeof part.content === 'string' ? part.content : part.content.markdown;
    return [{ kind: 'note', text, isNewPart: true }];
  }

  #text(kind: 'text' | 'reasoning', content: string, index: number): News[] {
    const told = Number(this.#told.get(index) ?? 0);
    if (content.length <= told) return [];
    this.#told.set(index, content.length);
    return [{ kind, text: content.slice(told), isNewPart: told === 0 }];
  }

  #call(call: ToolCallState, index: number): News[] {
    const told = this.#told.get(index);
    if (told === call.status) return [];
    this.#told.set(index, call.status);
    return [{ kind: 'call', call, isNewPart: told === undefined }];
  }
}

/** Texts stop growing when another part follows; calls may run side by side. */
function isSettled(part: ResponsePart | undefined): boolean {
  return part?.kind !== 'toolCall' || part.toolCall.status === 'completed' || part.toolCall.status === 'cancelled';
}
