/** The one way to a rendered system prompt: the agent's own sections, and then whoever may shape them. */
import type { AgentBackend } from '../agents/agent.js';
import { type Sections, type TransformRequest, transformed } from './transform.js';

export type PromptContext = Omit<TransformRequest, 'sections' | 'restricted'>;

export async function renderPrompt(backend: AgentBackend | undefined, context: PromptContext): Promise<Sections> {
  const sections = new Map(Object.entries(backend?.sections ?? {}));
  const catalogue = backend?.info.systemMessageSections ?? [];
  const restricted = new Set(catalogue.filter((section) => section.restricted).map(({ id }) => id));
  return transformed({ ...context, sections, restricted });
}
