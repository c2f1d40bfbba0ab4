/**
 * Tokens that clients provide for agents and MCP servers. A token goes to the agents and servers that asked for it and
 * stays there, in memory only. The host itself remembers only which connection has provided one for which resource.
 */

import { type AgentBackend, AgentError } from '@atrium/core/contracts/agent.js';
import type { Caller } from '@atrium/core/contracts/ports.js';
import { RequestError } from '@atrium/core/contracts/request-error.js';
import type { Service, ServiceRequests } from '@atrium/core/sessions/service.js';
import type { Session } from '@atrium/core/sessions/session.js';
import type { SessionObserver } from '@atrium/core/sessions/session-observer.js';
import type { Clock } from '@atrium/core/util/clock.js';
import type { Logger } from '@atrium/core/util/logger.js';
import { type TokenGrant, tokenTimer } from '@atrium/core/util/token-grant.js';
import { within } from '@atrium/core/util/waiting.js';
import {
  type AuthenticateParams,
  ErrorCode,
  type ErrorInfo,
  type ProtectedResourceMetadata,
  ROOT_CHANNEL,
  type StateAction,
} from '@atrium/protocol/ahp-1';

/** How long an agent may take to check a token. */
export const TOKEN_CHECK_TIMEOUT_MS = 15_000;
export const TOKEN_MAX_CHARACTERS = 16 * 2 ** 10;
/** Scopes of one token. */
export const TOKEN_SCOPES_MAX = 100;
export const TOKEN_SCOPE_MAX_CHARACTERS = 256;

/**
 * Characters that an HTTP header may contain. Any other would break the request, and might appear in an error about it.
 */
const FIT_FOR_HEADER = /^[\x21-\x7e]+$/;

export interface AuthOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly agents: readonly AgentBackend[];
  /** Passes a token to the MCP servers that asked for this resource; false if none did. */
  giveToServers(resource: string, grant: TokenGrant): boolean;
  notify(channel: string, method: string, params: object): void;
}

export class Auth implements Service {
  readonly #options: AuthOptions;
  /** For which resources a connection has provided a token, and the number of that token. */
  readonly #shown = new WeakMap<Caller, Map<string, number>>();
  /** The same for all connections together: what agents hold for later connections. */
  readonly #heldForAgents = new Map<string, number>();
  /** Counts the tokens of a resource that have expired or were revoked; tokens from before no longer count. */
  readonly #ended = new Map<string, number>();
  /** Stops the timers of tokens that will expire. */
  readonly #disarm = new Map<string, () => void>();
  /** Resources for which an agent or server has accepted a token; a later refusal means that it has expired. */
  readonly #everAccepted = new Set<string>();

  readonly requests: ServiceRequests = {
    authenticate: async (connection, params) => {
      await this.#authenticate(connection, params);
      return {};
    },
  };

  constructor(options: AuthOptions) {
    this.#options = options;
  }

  /** Throws when this agent needs a token that this connection has not provided. */
  check(connection: Caller, agent: AgentBackend): void {
    this.#checkShown(agent, this.#shown.get(connection));
  }

  /** Throws when this agent needs a token that no client has provided, or that has ended since. */
  checkStored(agent: AgentBackend): void {
    this.#checkShown(agent, this.#heldForAgents);
  }

  #checkShown({ info }: AgentBackend, shown: ReadonlyMap<string, number> | undefined): void {
    const hasShown = (resource: string) => shown?.get(resource) === this.#endedOf(resource);
    const missing = protectedBy(info).filter(({ resource, required }) => required !== false && !hasShown(resource));
    if (missing.length === 0) return;
    const names = missing.map(({ resource, resource_name }) => resource_name ?? resource).join(', ');
    throw authRequired(
      `${info.displayName} needs you to sign in: send authenticate with a token for ${names}`,
      missing,
    );
  }

  async #authenticate(connection: Caller, params: AuthenticateParams): Promise<void> {
    const { resource, token, expiresIn } = params;
    const problem = problemIn(params);
    if (problem) throw new RequestError(ErrorCode.InvalidParams, problem);
    const agents = this.#agentsFor(resource);
    if (token !== '') await Promise.all(agents.map((agent) => this.#give(agent, resource, token)));
    const wasAccepted = this.#options.giveToServers(resource, params) || agents.length > 0;
    if (!wasAccepted) {
      const message = `no agent or server asks for a token for ${resource}; the agents in root state and auth/required name the resources`;
      throw new RequestError(ErrorCode.InvalidParams, message);
    }
    this.#disarm.get(resource)?.();
    this.#disarm.delete(resource);
    if (token === '') return this.#forget(resource);
    this.#everAccepted.add(resource);
    this.#heldForAgents.set(resource, this.#endedOf(resource));
    const shown = this.#shown.get(connection) ?? new Map<string, number>();
    this.#shown.set(connection, shown.set(resource, this.#endedOf(resource)));
    if (expiresIn !== undefined && agents.length > 0) {
      this.#disarm.set(
        resource,
        tokenTimer(this.#options.clock, expiresIn, () => this.#expire(resource)),
      );
    }
  }

  #agentsFor(resource: string): AgentBackend[] {
    return this.#options.agents.filter(({ info }) => protectedBy(info).some((it) => it.resource === resource));
  }

  #endedOf(resource: string): number {
    return this.#ended.get(resource) ?? 0;
  }

  /** Agents lose their token for this resource until a client sends another. Servers manage their own. */
  #forget(resource: string): void {
    this.#ended.set(resource, this.#endedOf(resource) + 1);
    for (const agent of this.#agentsFor(resource)) agent.revoke?.(resource);
  }

  #expire(resource: string): void {
    this.#disarm.delete(resource);
    this.#forget(resource);
    const metadata = this.#agentsFor(resource).flatMap(({ info }) => protectedBy(info));
    const described = metadata.find((it) => it.resource === resource);
    if (described) this.#options.notify(ROOT_CHANNEL, 'auth/required', { resource: described, reason: 'expired' });
  }

  async #give(agent: AgentBackend, resource: string, token: string): Promise<void> {
    const name = agent.info.displayName;
    const late = (): never => {
      throw new AgentError('auth', `${name} did not answer in time. Try again.`);
    };
    try {
      await within(this.#options.clock, TOKEN_CHECK_TIMEOUT_MS, agent.authenticate?.(resource, token) ?? done, late);
    } catch (error) {
      const hidden = (text: string) => text.replaceAll(token, '[hidden]');
      const isKnown = error instanceof AgentError;
      if (!isKnown)
        this.#options.logger.log('error', 'an agent failed while it checked a token', {
          name,
          error: hidden(String(error)),
        });
      const why = isKnown
        ? hidden(error.message)
        : `${name} failed while it checked the token; see the log of the host`;
      const refused = protectedBy(agent.info).filter((it) => it.resource === resource);
      throw authRequired(`the token was not accepted: ${why}`, refused);
    }
  }

  /** Tells the clients of a session when its agent fails because it needs a token. */
  attach = (session: Pick<Session, 'uri' | 'state'>): SessionObserver => ({
    observe: ({ action }) => {
      if (errorOf(action)?.errorType !== 'auth') return;
      for (const resource of protectedBy(this.#agentOf(session)?.info)) {
        const reason = this.#everAccepted.has(resource.resource) ? 'expired' : 'required';
        this.#options.notify(session.uri, 'auth/required', { resource, reason });
      }
    },
    close: async () => {},
  });

  #agentOf({ state }: Pick<Session, 'state'>): AgentBackend | undefined {
    return this.#options.agents.find(({ info }) => info.provider === state.provider);
  }
}

/** The error that ended a turn, or the creation of a session. */
function errorOf(action: StateAction): ErrorInfo | undefined {
  if (action.type === 'chat/error') return action.part.error;
  return action.type === 'session/creationFailed' ? action.error : undefined;
}

/** Why a token is refused; undefined when it is fine. An empty token revokes the previous one. */
function problemIn({ token, scopes = [] }: AuthenticateParams): string | undefined {
  if (token.length > TOKEN_MAX_CHARACTERS || (token !== '' && !FIT_FOR_HEADER.test(token)))
    return '/token is not a bearer token: visible characters only';
  const isTooMuch =
    scopes.length > TOKEN_SCOPES_MAX || scopes.some((scope) => scope.length > TOKEN_SCOPE_MAX_CHARACTERS);
  return isTooMuch
    ? `/scopes: at most ${TOKEN_SCOPES_MAX} scopes of ${TOKEN_SCOPE_MAX_CHARACTERS} characters`
    : undefined;
}

const done = Promise.resolve();

function protectedBy(info: AgentBackend['info'] | undefined): readonly ProtectedResourceMetadata[] {
  return info?.protectedResources ?? [];
}

function authRequired(message: string, resources: readonly ProtectedResourceMetadata[]): RequestError {
  return new RequestError(ErrorCode.AuthRequired, message, { resources });
}
