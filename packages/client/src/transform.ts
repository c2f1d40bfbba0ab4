/**
 * Lets a client rewrite sections of the system prompt: offers it whenever the client joins the active ones of a session,
 * and answers the host. An extension of Atrium: other hosts ignore the offer.
 */
import {
  type AgentInfo,
  type CreateSessionParams,
  ROOT_CHANNEL,
  type RootState,
  type SessionActiveClient,
  type SessionState,
  type StateAction,
  type SystemMessageSection,
} from '@atrium/protocol/ahp-1';
import type { HostRequestHandlers } from './host-requests.js';
import type { Store } from './store.js';

/** Hosts may refuse a larger answer, so the client does not send one. */
export const TRANSFORM_ANSWER_MAX_BYTES = 256 * 2 ** 10;

/** Texts by the id of their section. */
export type SectionTexts = Readonly<Record<string, string>>;

export interface SystemMessageTransform {
  /**
   * The sections to rewrite, as far as the session's agent has them and lets clients rewrite them; all of those by
   * default.
   */
  readonly sections?: readonly string[];
  /**
   * Gets the texts as the model would read them, and returns those that it changes. Their layout may be another one
   * each time. When it throws, nothing is changed.
   */
  handler(sections: SectionTexts, context: TransformContext): Changed | Promise<Changed>;
}

type Changed = SectionTexts | undefined;

export interface TransformContext {
  /** The session's URI. */
  readonly session: string;
}

/** The entry of an active client with the offer to rewrite. One with an offer of its own stays unchanged. */
function withOffer(
  entry: SessionActiveClient,
  { sections }: SystemMessageTransform,
  agents: readonly AgentInfo[],
): SessionActiveClient {
  if (entry.systemMessageTransform) return entry;
  const catalogue = agents.flatMap(({ systemMessageSections }) => systemMessageSections ?? []);
  const offered = open(catalogue).filter((id) => sections?.includes(id) ?? true);
  return offered.length === 0 ? entry : { ...entry, systemMessageTransform: { sections: offered } };
}

function open(catalogue: readonly SystemMessageSection[]): string[] {
  const restricted = new Set(catalogue.filter((section) => section.restricted).map(({ id }) => id));
  return [...new Set(catalogue.map(({ id }) => id))].filter((id) => !restricted.has(id));
}

type TransformHandler = NonNullable<HostRequestHandlers['systemMessageTransform']>;

/** Answers the host with the texts that the user's handler returns, limited to the sections that the host asked for. */
export function transformHandler(transform: SystemMessageTransform): TransformHandler {
  return async ({ channel, sections }) => {
    const texts = Object.entries(sections).map(([id, { content }]) => [id, content] as const);
    const changed = (await transform.handler(Object.fromEntries(texts), { session: channel })) ?? {};
    const answer = Object.entries(changed).filter(([id, text]) => Object.hasOwn(sections, id) && text !== undefined);
    check(answer);
    return { sections: Object.fromEntries(answer.map(([id, content]) => [id, { content }])) };
  };
}

function check(answer: readonly (readonly [id: string, text: unknown])[]): void {
  const wrong = answer.find(([, text]) => typeof text !== 'string');
  if (wrong) throw new TypeError(`the transform must return a text for ${wrong[0]}, not ${typeof wrong[1]}`);
  const encoder = new TextEncoder();
  const bytes = answer.reduce((total, [, text]) => total + encoder.encode(String(text)).length, 0);
  if (bytes > TRANSFORM_ANSWER_MAX_BYTES)
    throw new RangeError(`the transform returned ${bytes} bytes; ${TRANSFORM_ANSWER_MAX_BYTES} are allowed`);
}

/** Adds the offer to rewrite to each entry among the active clients that this client makes for itself. */
export class Claims {
  readonly #store: Store;
  readonly #transform: SystemMessageTransform | undefined;

  constructor(store: Store, transform: SystemMessageTransform | undefined) {
    this.#store = store;
    this.#transform = transform;
  }

  /** The action to send for one that a user asked for. */
  action(uri: string, action: StateAction): StateAction {
    if (!this.#transform || action.type !== 'session/activeClientSet') return action;
    const { activeClient } = action;
    if (activeClient?.clientId !== this.#store.clientId) return action;
    const session = this.#store.find(uri)?.optimistic as SessionState | undefined;
    const agents = this.#agents(session?.provider);
    return { ...action, activeClient: withOffer(activeClient, this.#transform, agents) };
  }

  /** Likewise for a session that begins with an active client. */
  session<P extends Partial<CreateSessionParams>>(params: P): P {
    const { activeClient, provider } = params;
    if (!this.#transform || activeClient?.clientId !== this.#store.clientId) return params;
    const agents = provider === undefined ? this.#agents().slice(0, 1) : this.#agents(provider);
    return { ...params, activeClient: withOffer(activeClient, this.#transform, agents) };
  }

  /**
   * The agent of this name; every agent when the name is unknown. Hosts skip section ids that an agent does not have.
   */
  #agents(provider?: string): readonly AgentInfo[] {
    const root = this.#store.find(ROOT_CHANNEL)?.optimistic as RootState | undefined;
    const agents = root?.agents ?? [];
    return provider === undefined ? agents : agents.filter((agent) => agent.provider === provider);
  }
}
