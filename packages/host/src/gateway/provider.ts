/** A provider as the gateway knows it (`Provider`), and its presence in one session (`Binding`). */

import { PROVIDER_ID_PREFIX } from '@atrium/core/contracts/extension.js';
import type {
  ProviderConcurrency,
  ProviderHookRule,
  ProviderToolDefinition,
  ProviderTransform,
  ToProviderMessage,
  TrustLevel,
} from '@atrium/protocol/provider';
import { invalidSession, shown } from './gateway-errors.js';
import type { GatewaySession } from './gateway-session.js';

/** The content of a `hello`. Every session of the provider begins with it. */
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
  /** Absent if the provider has only one instance. */
  readonly instance: string | undefined;
}

type ProviderFacts = Identity &
  Pick<Provider, 'trust' | 'providerId' | 'scope' | 'admission' | 'isEverywhere' | 'registration'>;

/** A provider that is bound, or was a moment ago and may come back. */
export class Provider implements Identity {
  readonly name: string;
  readonly instance: string | undefined;
  readonly trust: TrustLevel;
  /** Stable as long as the provider comes back with its reconnect token. */
  readonly providerId: string;
  /** The one session that it may enter; undefined for all sessions. */
  readonly scope: string | undefined;
  /** The id of the pairing or of the process that it authenticated with; undefined for providers in this process. */
  admission: string | undefined;
  /** Whether it is bound to every session, including later ones. */
  isEverywhere: boolean;
  registration: Registration;
  readonly bindings = new Map<string, Binding>();
  /** A count, not a time; tells which of several instances was active last. */
  lastHeard = 0;
  /** Sends to the provider's connection; does nothing without one. */
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

/** One provider in one session. Updates may change what it registered there; each of them increments the revision. */
export class Binding {
  readonly provider: Provider;
  readonly session: GatewaySession;
  tools: ReadonlyMap<string, ProviderToolDefinition>;
  rules: readonly ProviderHookRule[];
  transforms: ReadonlyMap<string, ProviderTransform>;
  context: string;
  /** Told to the model once. */
  startupContext: string;
  revision = 0;
  /** The provider lost its connection. For a while it may come back, and its fail-closed gates deny until then. */
  isAway = false;
  /** The types of updates that are not acknowledged yet. */
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
}

/** The bindings whose providers are connected. */
export function present({ bindings }: { readonly bindings: readonly Binding[] }): readonly Binding[] {
  return bindings.filter(({ isAway }) => !isAway);
}

/** The sessions that a message is about: the one that it names, or all of them if it names none. */
export function bindingsFor(provider: Provider, sessionId: string | undefined): Binding[] {
  const bindings = [...provider.bindings.values()];
  return sessionId === undefined ? bindings : [bindingIn(provider, sessionId)];
}

/** The session that a message is about: the one that it names, or the provider's only one if it names none. */
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

export function extensionId(providerName: string): string {
  return PROVIDER_ID_PREFIX + providerName;
}
