/**
 * Renders the system prompt, stage by stage: the agent's own text, rules, texts and callbacks of extensions, the active
 * client, and at the end the protected sections as the agent wrote them.
 */
import { PROTECTED_SECTIONS } from '@atrium/protocol/provider';
import type { AgentBackend } from '../contracts/agent.js';
import type { Extension, RenderFacts } from '../contracts/extension.js';
import type { Sections } from '../util/prompt-sections.js';
import { type ClientRequest, withClient } from './client-transform.js';
import {
  additions,
  asidesOf,
  type CallbacksRequest,
  type ChangeLog,
  withCallbacks,
  withRules,
  withSessionSections,
  withStaticTransforms,
} from './contributions.js';
import { assembled, setAside } from './protected-sections.js';
import type { SessionSection } from './session-sections.js';

export interface RenderRequest extends ChangeLog {
  readonly backend: AgentBackend;
  /** The agent's text, when it is known only now. */
  readonly pristine?: Sections | undefined;
  /** What the project asks of agents, where the agent looks for that itself. */
  readonly projectInstructions?: string | undefined;
  /** In the order in which they came. */
  readonly extensions: readonly Extension[];
  readonly facts: RenderFacts;
  /** What the client that created the session added to its prompt. */
  readonly sessionSections?: readonly SessionSection[] | undefined;
  /** Whom this turn may ask. Without a turn, the render uses only what is known already. */
  readonly turn?: TurnAudience;
}

export type TurnAudience = Pick<CallbacksRequest, 'memory' | 'clock' | 'signal'> &
  Pick<ClientRequest, 'activeClients' | 'clients' | 'telemetry'>;

/** Text that the model gets beside a message is no part of this: extensions cannot rewrite it, and safety stands last. */
export async function renderPrompt(request: RenderRequest): Promise<Sections> {
  const { backend, extensions, turn } = request;
  const { render } = backend.abilities;
  if (render === 'none') return new Map();
  const added = request.sessionSections ?? [];
  if (render !== 'sections') return withSessionSections(additions(request), asAdditions(added), request);

  const base = request.pristine ?? new Map(Object.entries(backend.sections));
  const { open, kept } = setAside(base, protectedIds(backend));
  const given = withStaticTransforms(withRules(open, request), extensions, request);
  const told = withSessionSections(given, added, request);
  const asides = asidesOf(kept, extensions, request);
  const shaped = turn ? await withAnswers(told, { ...request, ...turn }) : told;
  return assembled(shaped, { base, kept, asides });
}

/** An agent whose prompt is its own gets everything behind it, in one section. */
function asAdditions(added: readonly SessionSection[]): readonly SessionSection[] {
  return added.map(({ content }) => ({ section: 'custom_instructions', action: 'append', content }));
}

/** The person's own client comes last: it sees what extensions added, and they never see what it changed. */
async function withAnswers(sections: Sections, request: RenderRequest & TurnAudience): Promise<Sections> {
  const called = await withCallbacks(sections, request);
  // The client is not asked about the prompt of a turn that is over.
  return request.signal.aborted ? called : withClient(called, request);
}

function protectedIds({ info }: AgentBackend): ReadonlySet<string> {
  const restricted = (info.systemMessageSections ?? []).filter((section) => section.restricted);
  return new Set([...PROTECTED_SECTIONS, ...restricted.map(({ id }) => id)]);
}
