/**
 * What a provider may ask for, given its trust, and which part of it the session's agent can honour. A message is
 * judged as a whole: if one part is not allowed, the gateway takes nothing of it.
 */

import type { AgentAbilities } from '@atrium/core/contracts/agent.js';
import {
  grantOf,
  HOOK_RULES_PER_PROVIDER_MAX,
  PROTECTED_SECTION_ACTIONS,
  PROTECTED_SECTIONS,
  type ProviderHelloMessage,
  type ProviderHookRule,
  type ProviderTransform,
  SESSION_EVENT_NAMES,
  type TrustLevel,
} from '@atrium/protocol/provider';
import { PROJECT_FILE } from '../config/config-file.js';
import { tooMany, unauthorized } from './gateway-errors.js';
import type { ProviderGroup } from './gateway-session.js';
import type { Binding } from './provider.js';
import { checkToolCount } from './tools/registration.js';

/** Notes of the host itself appear under these names. */
const OWN_NAMES: ReadonlySet<string> = new Set(['atrium', PROJECT_FILE]);

export function authorizeName(name: string): void {
  if (OWN_NAMES.has(name.toLowerCase())) throw unauthorized(`${name} is a name of the host itself: use another name`);
}

export function authorizeHello(trust: TrustLevel, hello: ProviderHelloMessage): void {
  authorizeName(hello.name);
  authorizeHooks(trust, { rules: hello.hooks?.onPreToolUse, transforms: hello.hooks?.transforms });
  if (hello.context !== undefined || hello.startup_context !== undefined) authorizeContext(trust);
  authorizeEvents(trust, hello.subscribe ?? []);
  if (hello.session === 'all' && grantOf('bind', trust) !== 'any')
    throw unauthorized(`${article(trust)} provider binds to one session: name it, or leave "session" out`);
  checkToolCount(new Set((hello.tools ?? []).map(({ name }) => name)).size);
}

interface HookChanges {
  readonly rules?: readonly ProviderHookRule[] | undefined;
  readonly transforms?: Readonly<Record<string, ProviderTransform | null>> | undefined;
}

export function authorizeHooks(trust: TrustLevel, { rules, transforms = {} }: HookChanges): void {
  if (rules && rules.length > 0 && !grantOf('registerHookRules', trust))
    throw unauthorized(`${article(trust)} provider may not register hook rules`);
  if (rules && rules.length > HOOK_RULES_PER_PROVIDER_MAX) throw tooMany('hook rules', HOOK_RULES_PER_PROVIDER_MAX);
  for (const [section, transform] of Object.entries(transforms)) authorizeTransform(trust, section, transform);
}

function authorizeTransform(trust: TrustLevel, section: string, transform: ProviderTransform | null): void {
  if (!transform) return;
  const { action } = transform;
  const isProtected = PROTECTED_SECTIONS.has(section);
  if (isProtected && (action === 'callback' || !PROTECTED_SECTION_ACTIONS.includes(action)))
    throw unauthorized(`the section ${section} is protected: text can only be appended to it`);
  const isGranted =
    action === 'callback' ? grantOf('callbackTransforms', trust) : grantOf('staticTransforms', trust).includes(action);
  if (!isGranted) throw unauthorized(`${article(trust)} provider may not use the transform "${action}"`);
}

export function authorizeContext(trust: TrustLevel): void {
  if (!grantOf('setContext', trust)) throw unauthorized(`${article(trust)} provider may not give context to the model`);
}

/** An unknown name is harmless: this gateway never sends anything for it. */
function authorizeEvents(trust: TrustLevel, names: readonly string[]): void {
  const granted: readonly string[] = grantOf('subscribe', trust);
  const known: readonly string[] = SESSION_EVENT_NAMES;
  const forbidden = names.find((name) => known.includes(name) && !granted.includes(name));
  if (forbidden !== undefined) throw unauthorized(`${article(trust)} provider may not subscribe to ${forbidden}`);
}

function article(trust: TrustLevel): string {
  return trust === 'project' ? 'a project' : `an ${trust}`;
}

/** What the session's agent cannot honour, in the words of `hello.ack`: `gates:host-run`, `transforms:append`. */
export function degradedFor({
  session,
  rules,
  transforms,
}: Pick<Binding, 'session' | 'rules' | 'transforms'>): string[] {
  const { abilities } = session;
  if (!abilities) return [];
  const gates = rules.length > 0 && abilities.toolIntent !== 'all' ? [`gates:${abilities.toolIntent}`] : [];
  return [...gates, ...(isWithoutSections(abilities, transforms) ? [`transforms:${abilities.render}`] : [])];
}

/** An agent whose prompt has no sections accepts added text at most. */
function isWithoutSections({ render }: AgentAbilities, transforms: Binding['transforms']): boolean {
  if (render === 'sections') return false;
  return [...transforms.values()].some(({ action }) => render === 'none' || action !== 'append');
}

/** The message with which a strict gateway refuses. */
export function cannotDo(fact: string): string {
  return `the agent of this session cannot do this (${fact}): leave it out, or use another agent`;
}

/** Like `degradedFor`, in words for people. */
export function degradedText(group: ProviderGroup): string[] {
  const found = new Set(group.bindings.flatMap(degradedFor));
  return [...found].map((fact) =>
    fact.startsWith('gates:')
      ? 'This agent runs some tools without asking, so the checks of this provider do not see all of them.'
      : 'This agent takes added text only, so not all prompt changes of this provider are used.',
  );
}
