/** A provider as the gateway knows it: who it is, what it brought, and in which sessions it stands. */

import type { SessionState } from '@atrium/protocol';
import type {
  ProviderConcurrency,
  ProviderHookRule,
  ProviderToolDefinition,
  ProviderTransform,
  ToProviderMessage,
  TrustLevel,
} from '@atrium/protocol/provider';
import { invalidSession, shown } from './errors.js';
import type { GatewaySession } from './gateway-session.js';

/** Everything a `hello` brings, as far as it is the same in every session at the beginning. */
export interface Registration {
  readonly tools: ReadonlyMap<string, ProviderToolDefinition>;
  readonly rules: readonly ProviderHookRule[];
  readonly transforms: ReadonlyMap<string, ProviderTransform>;
  readonly subscribe: ReadonlySet<string>;
  readonly context: string;
  readonly startupContext: string;
  readonly concurrency: ProviderConcurrency;
  readonly metadata: Readonly<Record<string, unknown>>;
}

export const EMPTY_REGISTRATION: Registration = {
  tools: new Map(),
  rules: [],
  transforms: new Map(),
  subscribe: new Set(),
  context: '',
  startupContext: '',
  concurrency: {},
  metadata: {},
};

export interface Identity {
  readonly name: string;
  /** Absent for the only instance of a provider. */
  readonly instance: string | undefined;
}

type ProviderFacts = Identity &
  Pick<Provider, 'trust' | 'providerId' | 'scope' | 'admission' | 'isEverywhere' | 'registration'>;

/** A name and an instance that is bound, or was a moment ago and may come back. */
export class Provider implements Identity {
  readonly name: string;
  readonly instance: string | undefined;
  readonly trust: TrustLevel;
  /** Stable as long as it comes back with its reconnect token. */
  readonly providerId: string;
  /** The one session that it may enter; undefined when it may enter all of them. */
  readonly scope: string | undefined;
  /** The pairing that let it in, or the process that it is now; undefined for those in this process. */
  admission: string | undefined;
  /** Whether it is bound to every session, also to those to come. */
  isEverywhere: boolean;
  registration: Registration;
  readonly bindings = new Map<string, Binding>();
  /** Which of several instances was heard last; a count, not a time. */
  lastHeard = 0;
  /** Sends to its connection; does nothing while there is none. */
  send: (message: ToProviderMessage) => void = () => {};

  constructor(facts: ProviderFacts) {
    this.name = facts.name;
    this.instance = facts.instance;
    this.trust = facts.trust;
    this.providerId = facts.providerId;
    this.scope = facts.scope;
    this.admission = facts.admission;
    this.isEverywhere = facts.isEverywhere;
    this.registration = facts.registration;
  }

  get title(): string {
    return this.instance === undefined ? this.name : `${this.name} (${this.instance})`;
  }
}

/** One provider in one session. What it registered there may change; every change counts its revision up. */
export class Binding {
  readonly provider: Provider;
  readonly session: GatewaySession;
  tools: ReadonlyMap<string, ProviderToolDefinition>;
  rules: readonly ProviderHookRule[];
  transforms: ReadonlyMap<string, ProviderTransform>;
  context: string;
  /** What the model has yet to be told once. */
  startupContext: string;
  revision = 0;
  /** Its connection is lost; for a while it may come back, and its fail-closed gates deny. */
  isAway = false;
  /** The kinds of update that are being put into force. */
  readonly updating = new Set<string>();

  constructor(provider: Provider, session: GatewaySession) {
    const { registration } = provider;
    this.provider = provider;
    this.session = session;
    this.tools = registration.tools;
    this.rules = registration.rules;
    this.transforms = registration.transforms;
    this.context = registration.context;
    this.startupContext = registration.startupContext;
  }

  get sessionId(): string {
    return this.session.id;
  }

  get state(): SessionState {
    return this.session.state;
  }
}

/** Which of a provider's sessions a message is about. */

/** The one that is named; without a name, all of them. */
export function bindingsFor(provider: Provider, sessionId: string | undefined): Binding[] {
  const bindings = [...provider.bindings.values()];
  return sessionId === undefined ? bindings : [bindingIn(provider, sessionId)];
}

/** The one that is named; without a name, the only one there can be. */
export function bindingFor(provider: Provider, sessionId: string | undefined): Binding {
  if (sessionId !== undefined) return bindingIn(provider, sessionId);
  const [only] = provider.bindings.values();
  if (provider.isEverywhere || !only) throw invalidSession('name the session: this provider is bound to all of them');
  return only;
}

function bindingIn(provider: Provider, sessionId: string): Binding {
  const binding = provider.bindings.get(sessionId);
  if (!binding) throw invalidSession(`you are not bound to a session ${shown(sessionId)}`, sessionId);
  return binding;
}

/**
 * How a provider is called among the extensions and the customizations of a session. Clients publish customizations of
 * their own there, under ids of their choice: none of those may be one of these.
 */
export const PROVIDER_ID_PREFIX = 'gateway-provider:/';

export function extensionId(providerName: string): string {
  return PROVIDER_ID_PREFIX + providerName;
}

export function isProviderId(id: string): boolean {
  return id.startsWith(PROVIDER_ID_PREFIX);
}
