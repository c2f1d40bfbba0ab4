/**
 * Renders the system prompt, stage by stage: the agent's own text, rules, texts and callbacks of extensions, the active
 * client, and finally the protected sections exactly as the agent wrote them.
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
  /** The agent's text, if it becomes known only now. */
  readonly pristine?: Sections | undefined;
  /** The project's instructions, if the agent itself finds them. */
  readonly projectInstructions?: string | undefined;
  /** In the order in which they were added. */
  readonly extensions: readonly Extension[];
  readonly facts: RenderFacts;
  /** Text that the client which created the session added to its prompt. */
  readonly sessionSections?: readonly SessionSection[] | undefined;
  /** The clients and callbacks that may be asked for this turn. Without a turn, only what is already known is used. */
  readonly turn?: TurnAudience;
}

export type TurnAudience = Pick<CallbacksRequest, 'memory' | 'clock' | 'signal'> &
  Pick<ClientRequest, 'activeClients' | 'clients' | 'telemetry'>;

/**
 * Renders a prompt. Text that the model gets beside a message is separate: extensions cannot rewrite it. Safety comes
 * last.
 */
export async function renderPrompt(request: RenderRequest): Promise<Sections> {
  const { backend, extensions, turn } = request;
  const { render } = backend.abilities;
  if (render === 'none') return new Map();
  const added = request.sessionSections ?? [];
  if (render !== 'sections') return withSessionSections(additions(request), asAdditions(added), request);

  const base = request.pristine ?? new Map(Object.entries(backend.sections));
  const { open, kept } = setAside(base, protectedIds(backend));
  const given = withStaticTransforms(withRules(open, request), extensions, request);
  const withSession = withSessionSections(given, added, request);
  const asides = asidesOf(kept, extensions, request);
  const shaped = turn ? await withAnswers(withSession, { ...request, ...turn }) : withSession;
  return assembled(shaped, { base, kept, asides });
}

/** For an agent with a prompt of its own, all texts become one section at the end. */
function asAdditions(added: readonly SessionSection[]): readonly SessionSection[] {
  return added.map(({ content }) => ({ section: 'custom_instructions', action: 'append', content }));
}

/** Asks callbacks, then the person's own client: it sees what extensions added, and they never see what it changed. */
async function withAnswers(sections: Sections, request: RenderRequest & TurnAudience): Promise<Sections> {
  const called = await withCallbacks(sections, request);
  // Do not ask the client about the prompt of a turn that is over.
  return request.signal.aborted ? called : withClient(called, request);
}

function protectedIds({ info }: AgentBackend): ReadonlySet<string> {
  const restricted = (info.systemMessageSections ?? []).filter((section) => section.restricted);
  return new Set([...PROTECTED_SECTIONS, ...restricted.map(({ id }) => id)]);
}
