/**
 * The system prompt of one session. The SDK asks section by section, each time waiting for the answer, so no callback
 * ever sees the whole. Therefore the prompt is built twice before a turn, which takes a few milliseconds: first only to
 * read the text of all sections, then, after the one render, to hand it back. The message is sent to the second one.
 */
import type { AgentTurn } from '../../core/contracts/agent.js';
import { SECTION_IDS } from './catalogue.js';
import { placed } from './placement.js';
import type { SdkSession, SectionOverride } from './sdk.js';

export class CopilotPrompt {
  /** As the runtime wrote them, in the order of the prompt. */
  readonly #pristine = new Map<string, string>();
  #texts: ReadonlyMap<string, string> = new Map();

  /** Every section of the catalogue, whoever wants to change it: that is decided per render. */
  overrides(): Readonly<Record<string, SectionOverride>> {
    return Object.fromEntries(SECTION_IDS.map((id) => [id, { action: (content) => this.#handBack(id, content) }]));
  }

  /** Builds the prompt of a turn. */
  async build(session: SdkSession, turn: AgentTurn): Promise<void> {
    this.#texts = new Map();
    this.#pristine.clear();
    await session.rpc.tools.initializeAndValidate();
    const pristine = new Map(SECTION_IDS.flatMap((id) => entryOf(this.#pristine, id)));
    this.#texts = placed(pristine, await turn.renderPrompt(pristine));
    if (this.#texts.size > 0) await session.rpc.tools.initializeAndValidate();
  }

  #handBack(id: string, content: string): string {
    this.#pristine.set(id, content);
    return this.#texts.get(id) ?? content;
  }
}

function entryOf(map: ReadonlyMap<string, string>, id: string): [string, string][] {
  const text = map.get(id);
  return text === undefined ? [] : [[id, text]];
}
