/**
 * Stage 3: extensions that want to see a section before they change it. Sections are worked on at the same time; in each
 * of them one extension follows the other. Whoever does not answer, or too late, has left the text as it is.
 */

import type { Extension, SectionCallback } from '../contracts/extension.js';
import { CALLBACK_TIMEOUT_MS, CALLBACKS_TIMEOUT_MS } from '../limits.js';
import { within } from '../tool-calls/deadline.js';
import type { Clock } from '../util/clock.js';
import { type Journal, taken } from './changes.js';
import type { Sections } from './sections.js';

export interface CallbacksRequest extends Journal {
  readonly extensions: readonly Extension[];
  readonly memory: CallbackMemory;
  readonly clock: Clock;
  /** Fires when the turn is over. */
  readonly signal: AbortSignal;
}

/** A callback, and where its answer is kept. */
interface Link {
  readonly by: string;
  readonly callback: SectionCallback;
  readonly slot: string;
}

/** What was answered in one turn: its later prompts ask again only about a text that has changed meanwhile. */
export class CallbackMemory {
  readonly #answers = new Map<string, { readonly text: string; readonly answer: Promise<string> }>();

  answer(slot: string, text: string, ask: () => Promise<string>): Promise<string> {
    const known = this.#answers.get(slot);
    if (known?.text === text) return known.answer;
    const answer = ask();
    this.#answers.set(slot, { text, answer });
    return answer;
  }
}

export async function withCallbacks(sections: Sections, request: CallbacksRequest): Promise<Sections> {
  const chains = chainsOf(request.extensions);
  const concerned = [...sections].filter(([id]) => chains.has(id));
  if (concerned.length === 0) return sections;
  const overdue = new AbortController();
  const disarm = request.clock.after(CALLBACKS_TIMEOUT_MS, () => overdue.abort());
  const hurried = { ...request, signal: AbortSignal.any([request.signal, overdue.signal]) };
  const result = new Map(sections);
  const work = concerned.map(async ([id, text]) =>
    result.set(id, await throughChain(chains.get(id) ?? [], text, hurried)),
  );
  await Promise.all(work);
  disarm();
  return result;
}

/** Everybody's callbacks by section, in the order in which the extensions came. */
function chainsOf(extensions: readonly Extension[]): ReadonlyMap<string, readonly Link[]> {
  const chains = new Map<string, Link[]>();
  for (const { id: by, prompt } of extensions) {
    for (const [index, callback] of (prompt?.callbacks ?? []).entries()) {
      const chain = chains.get(callback.section) ?? [];
      chain.push({ by, callback, slot: JSON.stringify([by, callback.section, index]) });
      chains.set(callback.section, chain);
    }
  }
  return chains;
}

async function throughChain(links: readonly Link[], first: string, request: CallbacksRequest): Promise<string> {
  let text = first;
  for (const { by, callback, slot } of links) {
    const after = await request.memory.answer(slot, text, () => ask(by, callback, text, request));
    text = taken({ stage: 'callback', by, section: callback.section, before: text, after }, request);
  }
  return text;
}

async function ask(by: string, callback: SectionCallback, text: string, request: CallbacksRequest): Promise<string> {
  const { clock, signal, session, logger } = request;
  try {
    const deadline = { clock, signal, timeoutMs: CALLBACK_TIMEOUT_MS };
    const answer: unknown = await within(deadline, (stopped) => callback.transform(text, stopped));
    return typeof answer === 'string' ? answer : text;
  } catch (error) {
    const { section } = callback;
    logger.log('debug', 'a prompt callback failed; the text stays', { session, by, section, error: String(error) });
    return text;
  }
}
