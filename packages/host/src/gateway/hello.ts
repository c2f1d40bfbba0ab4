/**
 * Judges a `hello` as a whole (who sent it, which sessions it wants, whether it fits the providers there) and says what
 * becomes of the provider. Changes nothing: the binder does.
 */
import { randomUUID } from 'node:crypto';
import {
  grantOf,
  PROVIDER_PROTOCOL_VERSION,
  type ProviderHelloAckMessage,
  type ProviderHelloMessage,
  type ProviderToolDefinition,
  type TrustLevel,
} from '@atrium/protocol/provider';
import { authorizeHello, cannotDo, degradedFor } from './authorize.js';
import { invalidSession, shown, unauthorized } from './gateway-errors.js';
import type { GatewaySession } from './gateway-session.js';
import { compileRules } from './hooks/pre-tool-rules.js';
import { checkTransforms } from './hooks/transforms.js';
import { duplicate, type Predecessor } from './identities.js';
import { Binding, EMPTY_REGISTRATION, Provider, type Registration } from './provider.js';
import { type Access, isOpenTo } from './provider-auth.js';
import { checkTools } from './tools/registration.js';

/** The sessions that a `hello` is about; `isEverywhere` also covers sessions that come later. */
export interface HelloScope {
  readonly sessions: readonly GatewaySession[];
  readonly isEverywhere: boolean;
}

export interface ArrivalOptions {
  /** Throws when the name is reserved for another provider by the session's folder. */
  readonly listed: { checkName(provider: Provider, session: GatewaySession): void };
  /** Refuses what the session's agent cannot do, instead of only reporting it. */
  readonly isStrict: boolean;
}

export interface ArrivalFacts {
  readonly hello: ProviderHelloMessage;
  readonly access: Access;
  readonly sessions: readonly GatewaySession[];
  /** The provider that the new one replaces, if any; throws when the name is taken. */
  claim(reconnectToken: string | undefined): Predecessor | undefined;
}

export interface Arrival {
  /**
   * The provider as it will be. A provider that comes back keeps its object, which takes over the content of this one.
   */
  readonly provider: Provider;
  readonly scope: HelloScope;
  readonly predecessor: Predecessor | undefined;
}

/** Throws if anything is wrong with the `hello`. */
export function judgeArrival(options: ArrivalOptions, { hello, access, sessions, claim }: ArrivalFacts): Arrival {
  judgeHello(hello, access);
  const predecessor = claim(hello.reconnectToken ?? undefined);
  const before = predecessor?.isBack ? predecessor.provider : undefined;
  const scope = scopeOf(hello, { access, sessions, before });
  const provider = new Provider({
    name: hello.name,
    instance: hello.instance,
    trust: access.trust,
    scope: access.sessionId,
    admission: access.token?.id,
    providerId: before?.providerId ?? `p-${randomUUID()}`,
    isEverywhere: scope.isEverywhere,
    registration: registrationOf(hello, before?.registration),
  });
  for (const session of scope.sessions) {
    const kept = hello.tools ? undefined : before?.bindings.get(session.id)?.tools;
    checkEntry(options, { provider, session, except: predecessor?.provider, ...(kept && { tools: kept.values() }) });
  }
  return { provider, scope, predecessor };
}

export interface Entry {
  readonly provider: Provider;
  readonly session: GatewaySession;
  /** Ignored in the check, because the new provider replaces it. */
  readonly except?: Provider | undefined;
  /** Tools that the provider registered earlier and keeps. */
  readonly tools?: Iterable<ProviderToolDefinition>;
}

/** Throws when a provider cannot enter a session together with the providers there. */
export function checkEntry(options: ArrivalOptions, { provider, session, except, tools }: Entry): void {
  const { name, instance, trust, registration } = provider;
  options.listed.checkName(provider, session);
  for (const { provider: other } of session.group(name).bindings) {
    if (other === except) continue;
    if (other.instance === instance) throw duplicate(provider);
    // Instances share their tools: an external provider must not get calls that are meant for the project's own.
    if (other.trust !== trust)
      throw unauthorized(`the name ${name} is taken by one of another trust: use another name`);
  }
  checkTools(provider, session, tools ?? registration.tools.values());
  const [degraded] = options.isStrict ? degradedFor(new Binding(provider, session)) : [];
  if (degraded !== undefined) throw unauthorized(cannotDo(degraded));
}

/** Checks everything that does not depend on the other providers. */
function judgeHello(hello: ProviderHelloMessage, access: Access): void {
  authorizeHello(access.trust, hello);
  compileRules(hello.hooks?.onPreToolUse ?? []);
  checkTransforms(new Map(Object.entries(hello.hooks?.transforms ?? {})));
  if (access.token?.name !== undefined && access.token.name !== hello.name)
    throw unauthorized(`this token belongs to ${access.token.name}: connect with another one`);
}

/** A provider that comes back and names no session returns to the sessions that it was in. */
function scopeOf(
  { session: named }: ProviderHelloMessage,
  { access, sessions, before }: { access: Access; sessions: readonly GatewaySession[]; before: Provider | undefined },
): HelloScope {
  if (named === 'all' || (named === undefined && before?.isEverywhere)) return { sessions, isEverywhere: true };
  const [earlier] = before?.bindings.keys() ?? [];
  const wanted = named ?? access.sessionId ?? earlier ?? onlyOne(sessions);
  const session = sessions.find(({ id }) => id === wanted);
  if (session && !session.isEnding && isOpenTo(access, session)) return { sessions: [session], isEverywhere: false };
  const which = wanted === undefined ? 'name a session' : `there is no session ${shown(wanted)} for you`;
  throw invalidSession(`${which}: sessions and sessions.updated list them`, wanted);
}

/** A provider in this process that names no session means the only one. */
function onlyOne(sessions: readonly GatewaySession[]): string | undefined {
  return sessions.length === 1 ? sessions[0]?.id : undefined;
}

/** Whatever a `hello` leaves out stays as it was. */
function registrationOf(hello: ProviderHelloMessage, before: Registration = EMPTY_REGISTRATION): Registration {
  const { tools, hooks, subscribe, context, startup_context, concurrency, metadata } = hello;
  return {
    tools: tools ? new Map(tools.map((tool) => [tool.name, tool])) : before.tools,
    rules: hooks?.onPreToolUse ?? before.rules,
    transforms: hooks?.transforms ? new Map(Object.entries(hooks.transforms)) : before.transforms,
    subscribe: subscribe ? new Set(subscribe) : before.subscribe,
    context: context === undefined ? before.context : (context ?? ''),
    startupContext: startup_context ?? before.startupContext,
    concurrency: concurrency ?? before.concurrency,
    metadata: metadata ?? before.metadata,
  };
}

/** Applies the `hello` of a returning provider in a session where its updates may have changed the registration. */
export function renew(binding: Binding, { tools, hooks, context }: ProviderHelloMessage): void {
  const { registration } = binding.provider;
  if (tools) binding.tools = registration.tools;
  if (hooks?.onPreToolUse) binding.rules = registration.rules;
  if (hooks?.transforms) binding.transforms = registration.transforms;
  if (context !== undefined) binding.context = registration.context;
  binding.startupContext = registration.startupContext;
  binding.isAway = false;
}

interface AckFacts {
  readonly providerId: string;
  readonly reconnectToken: string;
  readonly scope: HelloScope;
  readonly trust: TrustLevel;
  readonly persistDir: string | undefined;
  readonly degraded: readonly string[];
}

export function helloAck(facts: AckFacts): ProviderHelloAckMessage {
  const { providerId, reconnectToken, scope, trust, persistDir, degraded } = facts;
  const [session] = scope.sessions;
  return {
    type: 'hello.ack',
    protocolVersion: PROVIDER_PROTOCOL_VERSION,
    providerId,
    reconnectToken,
    ...(!scope.isEverywhere && session && { sessionId: session.id }),
    ...(persistDir !== undefined && grantOf('fileResults', trust) && { persistDir }),
    ...(degraded.length > 0 && { degraded: [...degraded] }),
  };
}
