/**
 * The system prompt of one session. The SDK passes out its sections one by one and waits for each answer, so no
 * callback sees the whole prompt. The prompt is therefore built twice before a turn, which takes a few milliseconds:
 * once to read all sections, and once, after the host has rendered them, to pass them back.
 */

import type { AgentTurn } from '@atrium/core/contracts/agent.js';
import type { SystemMessageSection } from '@atrium/protocol/ahp-1';
import { sectionCatalogue } from '../shared/agent-info.js';
import type { SdkSession, SectionOverride } from './sdk.js';

/** The sections in the order of the prompt, for every model. Text from others belongs before safety. */
const BEFORE_SAFETY = ['preamble', 'tone', 'tool_efficiency', 'code_change_rules', 'guidelines'] as const;
const SAFETY = 'safety';
const AFTER_SAFETY = [
  'environment_context',
  'tool_instructions',
  'custom_instructions',
  'runtime_instructions',
  'last_instructions',
] as const;

const SECTION_IDS: readonly string[] = [...BEFORE_SAFETY, SAFETY, ...AFTER_SAFETY];

/**
 * `identity` is not a section but a group: the preamble, tone and tool efficiency. It is published as restricted and
 * never overridden, because overriding the group would silently drop overrides of its members.
 */
const IDENTITY = 'identity';
const RESTRICTED: ReadonlySet<string> = new Set([IDENTITY, 'preamble', SAFETY]);

export const COPILOT_CATALOGUE: readonly SystemMessageSection[] = sectionCatalogue(
  [IDENTITY, ...SECTION_IDS],
  RESTRICTED,
);

export class CopilotPrompt {
  /** The sections as the runtime wrote them, in the order of the prompt. */
  readonly #pristine = new Map<string, string>();
  #texts: ReadonlyMap<string, string> = new Map();

  /** Overrides for all sections, because only rendering shows which ones change. */
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

type Sections = ReadonlyMap<string, string>;

/**
 * The text to pass back to the runtime, by section; the other sections stay as they are. Copilot puts five sections
 * after safety. If they were changed, they move in front of it, so that safety follows all contributed text, unchanged.
 */
function placed(pristine: Sections, rendered: Sections): Sections {
  const texts = new Map([...rendered].filter(([id, text]) => pristine.has(id) && text !== pristine.get(id)));
  const addition = additionTo(SAFETY, pristine, rendered);
  texts.delete(SAFETY);
  const anchor = BEFORE_SAFETY.findLast((id) => pristine.has(id));
  if (anchor === undefined) return texts;
  const moved = AFTER_SAFETY.flatMap((id) => wrapped(id, texts.get(id)));
  for (const id of AFTER_SAFETY) if (texts.has(id)) texts.set(id, '');
  const inFront = [texts.get(anchor) ?? pristine.get(anchor) ?? '', ...moved, addition].filter((text) => text !== '');
  if (moved.length > 0 || addition !== '') texts.set(anchor, inFront.join('\n\n'));
  return texts;
}

/** The text added in front of a protected section. */
function additionTo(id: string, pristine: Sections, rendered: Sections): string {
  const own = pristine.get(id);
  const text = rendered.get(id);
  return own !== undefined && text?.endsWith(own) ? text.slice(0, text.length - own.length).trim() : '';
}

/** A section in tags of our own; the runtime's own tags stay where they are. */
function wrapped(id: string, text: string | undefined): string[] {
  return text === undefined || text.trim() === '' ? [] : [`<${id}>\n${text}\n</${id}>`];
}
