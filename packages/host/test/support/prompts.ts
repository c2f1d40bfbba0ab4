/** Renders prompts without a session: the pipeline as it is, with extensions and a client in the hands of the test. */

import type { AgentAbilities, AgentBackend } from '@atrium/core/contracts/agent.js';
import type { Extension, PromptContribution, StaticTransform } from '@atrium/core/contracts/extension.js';
import type { Presence } from '@atrium/core/contracts/ports.js';
import { CallbackMemory } from '@atrium/core/prompt/contributions.js';
import { type RenderRequest, renderPrompt, type TurnAudience } from '@atrium/core/prompt/prompt.js';
import { type Clock, systemClock } from '@atrium/core/util/clock.js';
import { type Logger, silentLogger } from '@atrium/core/util/logger.js';
import type { Sections } from '@atrium/core/util/prompt-sections.js';
import type { SessionActiveClient } from '@atrium/protocol/ahp-1';
import { sectionCatalogue } from '../../../agents/src/shared/agent-info.js';

export const PRISTINE = {
  identity: 'I am a mock.',
  tone: 'Be brief.',
  safety: 'Be safe.',
  custom_instructions: 'Rules follow.',
  last_instructions: 'Say goodbye.',
};

export function backendOf(
  sections: Readonly<Record<string, string>> = PRISTINE,
  render: AgentAbilities['render'] = 'sections',
): AgentBackend {
  return {
    info: {
      provider: 'mock',
      displayName: 'Mock',
      description: '',
      models: [],
      systemMessageSections: sectionCatalogue(Object.keys(sections)),
    },
    abilities: { tools: 'live', toolIntent: 'all', render, steer: true, cancelTool: true },
    sections,
    open: () => Promise.reject(new Error('this one only has a prompt')),
  };
}

export function extension(id: string, prompt: PromptContribution): Extension {
  return { id, name: id, prompt };
}

export function transforms(id: string, ...list: [StaticTransform['action'], section: string, content: string][]) {
  return extension(id, { transforms: list.map(([action, section, content]) => ({ action, section, content })) });
}

/** What a client makes of the sections that it is sent. */
export type Rewrite = (sections: Readonly<Record<string, string>>) => Readonly<Record<string, string>>;

export interface RenderOptions extends Partial<Omit<RenderRequest, 'turn'>> {
  readonly clock?: Clock;
  readonly signal?: AbortSignal;
  readonly memory?: CallbackMemory;
  /** The active client; it offers to rewrite these sections. */
  readonly client?: { readonly sections: readonly string[]; readonly rewrite: Rewrite };
  readonly logger?: Logger;
}

/** A render of a turn. */
export function rendered(options: RenderOptions = {}): Promise<Sections> {
  return renderPrompt({ ...requestOf(options), turn: audienceOf(options) });
}

/** A render without a turn, as when a session begins. */
export function renderedAtStart(options: RenderOptions = {}): Promise<Sections> {
  return renderPrompt(requestOf(options));
}

function requestOf(options: RenderOptions): RenderRequest {
  const facts = { agent: undefined, text: 'hello', files: [] };
  const given = { backend: backendOf(), extensions: [], facts, logger: silentLogger, ...options };
  const { backend, pristine, projectInstructions, extensions, logger, sessionSections } = given;
  const texts = { pristine, projectInstructions, sessionSections };
  return { session: 'ahp-session:/1', backend, ...texts, extensions, facts: given.facts, logger };
}

function audienceOf({ client, clock = systemClock, signal, memory }: RenderOptions): TurnAudience {
  const systemMessageTransform = { sections: [...(client?.sections ?? [])] };
  const activeClient: SessionActiveClient = { clientId: 'desk', tools: [], systemMessageTransform };
  return {
    memory: memory ?? new CallbackMemory(),
    clock,
    signal: signal ?? new AbortController().signal,
    activeClients: client ? [activeClient] : [],
    clients: askerOf(client?.rewrite),
  };
}

/** A client that answers every request with what it makes of the sections. */
export function askerOf(rewrite: Rewrite = (sections) => sections): Pick<Presence, 'canAsk' | 'ask'> {
  type Texts = Record<string, { content: string }>;
  const answer = async (_client: string, _method: string, { sections }: { sections: Texts }) => {
    const texts = Object.fromEntries(Object.entries(sections).map(([id, { content }]) => [id, content]));
    const changed = Object.entries(rewrite(texts)).map(([id, content]) => [id, { content }]);
    return { sections: Object.fromEntries(changed) };
  };
  return { canAsk: () => true, ask: answer as unknown as Presence['ask'] };
}
