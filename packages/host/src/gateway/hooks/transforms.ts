/** What providers change in the prompt of their sessions: fixed texts, and sections that a provider is asked about. */

import type { PromptContribution, SectionCallback, StaticTransform } from '@atrium/core/contracts/extension.js';
import {
  GatewayErrorCode,
  type ProviderTransform,
  type ToGatewayMessageMap,
  transformContentOf,
} from '@atrium/protocol/provider';
import { tooLong, tooMany } from '../gateway-errors.js';
import type { GatewaySession, ProviderGroup } from '../gateway-session.js';
import { type Binding, type Provider, present } from '../provider.js';
import { OpenQuestions } from './provider-gates.js';

/** Updates add to earlier ones and need a limit. No prompt has as many sections as this. */
export const TRANSFORMS_PER_PROVIDER_MAX = 100;
/** All transforms of a provider together, including the names of their sections; they go into every prompt. */
export const TRANSFORMS_MAX_CHARACTERS = 2 ** 18;

/** An answer names its question, which is always about one section, so it needs no topic. */
const TOPIC = '';

export class Transforms {
  readonly #questions = new OpenQuestions<string | undefined>();

  of(group: ProviderGroup): PromptContribution {
    return { transforms: staticTransforms(group), callbacks: this.#callbacks(group) };
  }

  answered(provider: Provider, message: ToGatewayMessageMap['transform.result']): void {
    this.#questions.answer(provider, { id: message.callId, topic: TOPIC }, transformContentOf(message));
  }

  left(provider: Provider): void {
    this.#questions.left(provider);
  }

  #callbacks(group: ProviderGroup): SectionCallback[] {
    return transformsOf(group).flatMap(({ binding, section, transform }) =>
      transform.action === 'callback'
        ? [{ section, transform: (current, signal) => this.#ask(binding, { section, current, signal }) }]
        : [],
    );
  }

  /** Needs no timeout of its own: the renderer of the prompt has one. */
  async #ask(
    { provider, sessionId, session }: Binding,
    { section, current, signal }: { section: string; current: string; signal: AbortSignal },
  ): Promise<string | undefined> {
    if (session.isEnding) return undefined;
    const send = (callId: string) => provider.send({ type: 'transform.request', callId, sessionId, section, current });
    return this.#questions.ask({ provider, topic: TOPIC, signal, send });
  }
}

/** Equal texts of several instances count once. */
function staticTransforms(group: ProviderGroup): StaticTransform[] {
  const transforms = new Map<string, StaticTransform>();
  for (const { section, transform } of transformsOf(group)) {
    if (transform.action === 'callback') continue;
    const { action, content } = transform;
    transforms.set(JSON.stringify([section, action, content]), { section, action, content });
  }
  return [...transforms.values()];
}

function transformsOf(group: ProviderGroup) {
  return present(group).flatMap((binding) =>
    [...binding.transforms].map(([section, transform]) => ({ binding, section, transform })),
  );
}

/** Throws when a provider has too many, whether they came in one message or several. */
export function checkTransforms(transforms: ReadonlyMap<string, ProviderTransform>): void {
  if (transforms.size > TRANSFORMS_PER_PROVIDER_MAX) throw tooMany('transforms', TRANSFORMS_PER_PROVIDER_MAX);
  let characters = 0;
  for (const [section, transform] of transforms)
    characters += section.length + (transform.action === 'callback' ? 0 : transform.content.length);
  if (characters > TRANSFORMS_MAX_CHARACTERS) throw tooLong('transforms', TRANSFORMS_MAX_CHARACTERS);
}

/** `null` removes a transform. */
export function withTransforms(
  before: ReadonlyMap<string, ProviderTransform>,
  changes: Readonly<Record<string, ProviderTransform | null>>,
): Map<string, ProviderTransform> {
  const after = new Map(before);
  for (const [section, change] of Object.entries(changes)) {
    if (change === null) after.delete(section);
    else after.set(section, change);
  }
  return after;
}

/**
 * Only one text can replace a section: of two providers that replace it, the later one wins. The earlier one is told
 * once, because it would not notice otherwise.
 */
export class Overruled {
  /** For each provider, the sections that it was told it lost, and who won them. */
  readonly #notifiedLosses = new WeakMap<Binding, Map<string, string>>();

  readonly #changed = new Set<GatewaySession>();

  /** A session changed. Of many changes in one tick, only the outcome counts. */
  changed(session: GatewaySession): void {
    if (this.#changed.size === 0) queueMicrotask(() => this.#checkAll());
    this.#changed.add(session);
  }

  #checkAll(): void {
    const sessions = [...this.#changed];
    this.#changed.clear();
    for (const session of sessions) this.#check(session);
  }

  #check(session: GatewaySession): void {
    const winners = new Map<string, Binding>();
    for (const binding of inOrder(session)) {
      for (const [section, { action }] of binding.transforms) {
        if (action === 'replace') winners.set(section, binding);
      }
    }
    for (const binding of session.bindings) this.#notify(binding, winners);
  }

  #notify(binding: Binding, winners: ReadonlyMap<string, Binding>): void {
    const lost = lostSections(binding, winners);
    const notified = this.#notifiedLosses.get(binding);
    this.#notifiedLosses.set(binding, lost);
    const { provider, sessionId } = binding;
    for (const [section, winner] of lost) {
      if (notified?.get(section) === winner) continue;
      const message = `your replacement of the section ${section} is not used: ${winner} replaces it, too`;
      const { providerId } = provider;
      // The protocol has no code for warnings; this one means that another provider has what this one wanted.
      provider.send({ type: 'error', code: GatewayErrorCode.ToolConflict, message, providerId, sessionId });
    }
  }
}

/** The prompt lists providers in the order in which they first came, each with all its instances. */
function inOrder(session: GatewaySession): Binding[] {
  return session
    .groups()
    .filter(({ name }) => session.isEnabled(name))
    .flatMap(({ bindings }) => bindings.filter(({ isAway }) => !isAway));
}

function lostSections(binding: Binding, winners: ReadonlyMap<string, Binding>): Map<string, string> {
  const lost = new Map<string, string>();
  for (const [section, { action }] of binding.transforms) {
    const winner = winners.get(section);
    if (action === 'replace' && winner && winner !== binding) lost.set(section, winner.provider.title);
  }
  return lost;
}
